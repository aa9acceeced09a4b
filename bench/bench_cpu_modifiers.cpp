// Attention with score modifiers on the CPU, compared with attention without one and with the reference, which runs
// each operation of a modifier over all scores.
//
//     bench_cpu_modifiers [threads] [--cpu-time]
//
// --cpu-time measures processor time instead of elapsed time, for machines that are busy with other work.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>

#include "process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
namespace ready = fe::graph::attn::score_modifiers;

constexpr std::int64_t kHeads = 8, kWidth = 64, kDocuments = 8;

struct Options {
    int threads = 1;
    bool cpu_time = false;

    double now() const { return cpu_time ? bench::processor_seconds() : bench::elapsed_seconds(); }
};

void require(fe::error_t const& status) {
    if (status.is_good()) return;
    std::fprintf(stderr, "%s\n", status.get_message().c_str());
    std::exit(1);
}

enum Uid : std::int64_t { Q = 1, K, V, O, Stats, DO, DQ, DK, DV, DocumentsOfQueries, DocumentsOfKeys, Prefix };

char const* const kModifiers[] = {"none",      "causal", "softcap",       "relative bias",
                                  "documents", "prefix", "dilated window"};

// Graphs and memory of one length.
class Problem {
   public:
    explicit Problem(std::int64_t length) : length_(length) {
        std::mt19937 random(7);
        std::normal_distribution<float> normal;
        for (std::int64_t uid = Uid::Q; uid <= Uid::DV; ++uid) {
            auto& numbers = floats_[uid];
            numbers.resize(static_cast<std::size_t>(kHeads * length * kWidth));
            for (float& number : numbers) number = normal(random);
            pack_[uid] = numbers.data();
        }
        for (std::int64_t token = 0; token < length; ++token)
            documents_.push_back(static_cast<std::int32_t>(token * kDocuments / length));
        prefix_ = static_cast<std::int32_t>(length / kDocuments);
        pack_[Uid::DocumentsOfQueries] = pack_[Uid::DocumentsOfKeys] = documents_.data();
        pack_[Uid::Prefix] = &prefix_;
    }

    fe::graph::Graph forward(std::string const& modifier, fe::Target const& target) const {
        fe::graph::Graph graph = empty_graph();
        auto const q = graph.tensor(rows(Uid::Q)), k = graph.tensor(rows(Uid::K)), v = graph.tensor(rows(Uid::V));
        auto options = fe::graph::SDPA_attributes().set_generate_stats(true).set_attn_scale(0.125f);
        modify(graph, modifier, options);
        auto const [o, stats] = graph.sdpa(q, k, v, options);
        o->set_output(true).set_uid(Uid::O);
        stats->set_output(true).set_uid(Uid::Stats).set_data_type(fe::DataType_t::FLOAT);
        require(graph.build(target));
        return graph;
    }

    fe::graph::Graph backward(std::string const& modifier, fe::Target const& target) const {
        fe::graph::Graph graph = empty_graph();
        auto const q = graph.tensor(rows(Uid::Q)), k = graph.tensor(rows(Uid::K)), v = graph.tensor(rows(Uid::V));
        auto const o = graph.tensor(rows(Uid::O)), d_o = graph.tensor(rows(Uid::DO));
        auto const stats = graph.tensor(
            rows(Uid::Stats).set_dim({1, kHeads, length_, 1}).set_stride({kHeads * length_, length_, 1, 1}));
        auto options = fe::graph::SDPA_backward_attributes().set_attn_scale(0.125f);
        modify(graph, modifier, options);
        auto const [d_q, d_k, d_v] = graph.sdpa_backward(q, k, v, o, d_o, stats, options);
        d_q->set_output(true).set_uid(Uid::DQ);
        d_k->set_output(true).set_uid(Uid::DK);
        d_v->set_output(true).set_uid(Uid::DV);
        require(graph.build(target));
        return graph;
    }

    std::map<std::int64_t, void*> const& pack() const { return pack_; }

   private:
    static fe::graph::Graph empty_graph() {
        fe::graph::Graph graph;
        graph.set_io_data_type(fe::DataType_t::FLOAT)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        return graph;
    }
    fe::graph::Tensor_attributes rows(Uid uid) const {
        return fe::graph::Tensor_attributes()
            .set_uid(uid)
            .set_dim({1, kHeads, length_, kWidth})
            .set_stride({kHeads * length_ * kWidth, length_ * kWidth, kWidth, 1});
    }
    auto integers(fe::graph::Graph& graph, Uid uid, std::int64_t queries, std::int64_t keys) const {
        return graph.tensor(fe::graph::Tensor_attributes()
                                .set_uid(uid)
                                .set_data_type(fe::DataType_t::INT32)
                                .set_dim({1, 1, queries, keys})
                                .set_stride({queries * keys, queries * keys, keys, 1}));
    }

    template <class Attributes>
    void modify(fe::graph::Graph& graph, std::string const& modifier, Attributes& options) const {
        if (modifier == "causal") options.set_score_mod(ready::causal_mask);
        if (modifier == "softcap") {
            auto const capped = ready::softcap(30.0f);
            options.set_score_mod(capped.forward);
            if constexpr (std::is_same_v<Attributes, fe::graph::SDPA_backward_attributes>)
                options.set_score_mod_bprop(capped.backward);
        }
        if (modifier == "relative bias") options.set_score_mod(ready::relative_bias(0.01f));
        if (modifier == "documents")
            options.set_score_mod(ready::document_mask(integers(graph, Uid::DocumentsOfQueries, length_, 1),
                                                       integers(graph, Uid::DocumentsOfKeys, 1, length_)));
        if (modifier == "prefix") options.set_score_mod(ready::prefix_lm(integers(graph, Uid::Prefix, 1, 1)));
        if (modifier == "dilated window") options.set_score_mod(ready::dilated_window(256, 2));
    }

    std::int64_t length_;
    std::map<std::int64_t, std::vector<float>> floats_;
    std::vector<std::int32_t> documents_;
    std::int32_t prefix_ = 0;
    std::map<std::int64_t, void*> pack_;
};

// The fastest of some runs, after one for warm-up.
double seconds_of(Options const& options, fe::graph::Graph const& graph, Problem const& problem, int runs) {
    std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1);
    double best = 1e30;
    for (int run = 0; run <= runs; ++run) {
        double const start = options.now();
        require(graph.execute(problem.pack(), workspace.data()));
        if (run > 0) best = std::min(best, options.now() - start);
    }
    return best;
}

struct Row {
    double forward, backward;
};

Row measure(Options const& options, Problem const& problem, char const* modifier, fe::Target const& target, int runs) {
    return {seconds_of(options, problem.forward(modifier, target), problem, runs),
            seconds_of(options, problem.backward(modifier, target), problem, runs)};
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--cpu-time") == 0) options.cpu_time = true;
        else options.threads = std::atoi(arguments[i]);
    }
    fe::Target const cpu = fe::Target::cpu(options.threads);
    Problem const short_problem(1024), long_problem(4096);
    std::printf("fp32, b=1 h=%lld d=%lld, ms forward / backward; share: of the time without a modifier\n",
                static_cast<long long>(kHeads), static_cast<long long>(kWidth));
    std::printf("%-15s %20s %20s %20s %15s\n", "modifier", "s=1024, reference", "s=1024", "s=4096", "share at 4096");
    Row plain{};
    for (char const* const modifier : kModifiers) {
        Row const slow = measure(options, short_problem, modifier, fe::Target::reference(), 1);
        Row const fast = measure(options, short_problem, modifier, cpu, 5);
        Row const large = measure(options, long_problem, modifier, cpu, 3);
        if (plain.forward == 0.0) plain = large;
        std::printf("%-15s %9.1f / %8.1f %9.1f / %8.1f %9.1f / %8.1f %6.2f / %6.2f\n", modifier, slow.forward * 1e3,
                    slow.backward * 1e3, fast.forward * 1e3, fast.backward * 1e3, large.forward * 1e3,
                    large.backward * 1e3, large.forward / plain.forward, large.backward / plain.backward);
    }
    return 0;
}
