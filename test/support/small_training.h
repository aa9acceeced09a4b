// A training step of small attention graphs, for tests of one option: its effects on the results and on the gradients.
#pragma once

#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace test::training {

namespace fe = cudnn_frontend;
using Numbers = std::vector<float>;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t kHeads = 2, kRows = 4, kDepth = 8;
constexpr auto kCount = static_cast<std::size_t>(kHeads * kRows * kDepth);

enum Uid : std::int64_t { Q = 1, K, V, Extra, O, Stats, DO, DQ, DK, DV };

inline Numbers some_numbers(std::size_t seed) {
    Numbers numbers(kCount);
    for (std::size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<float>((i * seed) % 31) / 16.0f - 1.0f;
    return numbers;
}

class Step {
   public:
    // `extra` is the content of the option's tensor.
    Step(fe::Target const& target, Numbers extra) : target_(target) {
        for (Uid const uid : {Q, K, V, DO}) memory_[uid] = some_numbers(5 + 2 * static_cast<std::size_t>(uid));
        for (Uid const uid : {O, Stats, DQ, DK, DV}) memory_[uid] = Numbers(kCount);
        memory_[Extra] = std::move(extra);
        for (fe::graph::Graph* const graph : {&forward_, &backward_}) {
            graph->set_io_data_type(fe::DataType_t::FLOAT).set_intermediate_data_type(fe::DataType_t::FLOAT);
            graph->set_compute_data_type(fe::DataType_t::FLOAT);
        }
    }

    Numbers& operator[](Uid uid) { return memory_[uid]; }

    // configure(options, tensor) sets the option in forward and in backward; tensor(rows) is {1, 1, rows, kRows}.
    template <class Configure>
    void run(Configure const& configure) {
        fe::graph::SDPA_attributes options;
        configure(options.set_generate_stats(true), [&](std::int64_t rows) { return extra(forward_, rows); });
        auto const [o, stats] = forward_.sdpa(rows(forward_, Q), rows(forward_, K), rows(forward_, V), options);
        o->set_output(true).set_uid(O);
        stats->set_output(true).set_uid(Stats);
        execute(forward_);

        fe::graph::SDPA_backward_attributes more;
        configure(more, [&](std::int64_t rows) { return extra(backward_, rows); });
        Tensor const of_forward = tensor(backward_, Stats, kHeads, kRows, 1);
        auto const gradients = backward_.sdpa_backward(rows(backward_, Q), rows(backward_, K), rows(backward_, V),
                                                       rows(backward_, O), rows(backward_, DO), of_forward, more);
        for (std::size_t i = 0; i < 3; ++i) gradients[i]->set_output(true).set_uid(DQ + static_cast<std::int64_t>(i));
        execute(backward_);
    }

   private:
    static Tensor tensor(fe::graph::Graph& graph, Uid uid, std::int64_t heads, std::int64_t rows,
                         std::int64_t columns) {
        return graph.tensor(fe::graph::Tensor_attributes()
                                .set_uid(uid)
                                .set_dim({1, heads, rows, columns})
                                .set_stride({heads * rows * columns, rows * columns, columns, 1}));
    }
    static Tensor rows(fe::graph::Graph& graph, Uid uid) { return tensor(graph, uid, kHeads, kRows, kDepth); }
    static Tensor extra(fe::graph::Graph& graph, std::int64_t rows) { return tensor(graph, Extra, 1, rows, kRows); }

    void execute(fe::graph::Graph& graph) {
        REQUIRE(graph.build(target_).get_message() == "");
        std::map<std::int64_t, void*> pack;
        for (auto& [uid, numbers] : memory_) pack[uid] = numbers.data();
        std::vector<std::byte> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
        REQUIRE(graph.execute(nullptr, pack, workspace.data()).get_message() == "");
    }

    fe::Target target_;
    std::map<Uid, Numbers> memory_;
    fe::graph::Graph forward_, backward_;
};

// O, Stats, dQ, dK and dV.
template <class Configure>
std::vector<Numbers> train(fe::Target const& target, Numbers const& extra, Configure const& configure) {
    Step step(target, extra);
    step.run(configure);
    return {step[O], step[Stats], step[DQ], step[DK], step[DV]};
}

inline float largest_difference(Numbers const& a, Numbers const& b) {
    float largest = 0.0f;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

}  // namespace test::training
