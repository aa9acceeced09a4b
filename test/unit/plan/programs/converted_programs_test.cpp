// Graphs with lengths of 64 bits and Stats of 16 are planned on a backend that takes neither, as cuDNN takes neither.
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "core/data_type.h"
#include "cpu/cpu_backend.h"
#include "plan/planner.h"
#include "support/catch.h"

#include <cmath>
#include <map>
#include <span>

using namespace cudnn_frontend;
using Error = cudnn_frontend::error_t;
using graph::Graph;
using graph::SDPA_attributes;
using graph::SDPA_backward_attributes;
using graph::Tensor_attributes;
using plan::Planner;
using Tensor = std::shared_ptr<Tensor_attributes>;

namespace {

plan::Backends const kCpuAlone{&cpu::backend()};

Error refusal(char const* text) { return {error_code_t::GRAPH_NOT_SUPPORTED, text}; }

// The CPU's backend without these types, and on request without joints.
class StrictBackend final : public plan::Backend {
   public:
    bool has_joints = true;
    plan::Backends const alone{this};  // planners refer to it

    char const* name() const override { return "strict"; }
    bool serves(Target const&) const override { return true; }
    bool joins(Target const&) const override { return has_joints; }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
        for (nodes::TensorSpec const& tensor : input.graph.spec().tensors) {
            if (tensor.data_type == DataType_t::INT64) return refusal("no INT64");
            if (tensor.name == "attention::Stats" && tensor.data_type != DataType_t::FLOAT) return refusal("no Stats");
        }
        return cpu::backend().propose(input);
    }
    Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, Target const& target,
                                                         plan::Settings const& settings,
                                                         std::optional<std::string_view> stored) const override {
        return cpu::backend().join(joint, target, settings, stored);
    }
};

constexpr std::int64_t kBatches = 3, kHeads = 2, kQueries = 5, kKeys = 7, kColumns = 8;

// A graph over memory of its own.
class Problem {
   public:
    explicit Problem(bool is_backward, DataType_t type_of_lengths = DataType_t::INT64,
                     DataType_t type_of_stats = DataType_t::BFLOAT16) {
        graph_.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
        graph_.set_compute_data_type(DataType_t::FLOAT);
        Tensor const q = input({kBatches, kHeads, kQueries, kColumns}), k = input({kBatches, kHeads, kKeys, kColumns}),
                     v = input({kBatches, kHeads, kKeys, kColumns});
        Tensor const len_q = lengths(type_of_lengths, {5, 0, 2}), len_kv = lengths(type_of_lengths, {7, 3, 1});
        if (is_backward) {
            Tensor const o = input(q->get_dim()), d_o = input(q->get_dim()),
                         stats = input({kBatches, kHeads, kQueries, 1});
            auto options = SDPA_backward_attributes().set_name("attention").set_padding_mask(true);
            options.set_seq_len_q(len_q).set_seq_len_kv(len_kv);
            for (Tensor const& gradient : graph_.sdpa_backward(q, k, v, o, d_o, stats, options)) {
                output(gradient, DataType_t::FLOAT);
            }
            return;
        }
        auto options = SDPA_attributes().set_name("attention").set_generate_stats(true).set_padding_mask(true);
        auto const [o, stats] = graph_.sdpa(q, k, v, options.set_seq_len_q(len_q).set_seq_len_kv(len_kv));
        output(o, DataType_t::FLOAT);
        stats->set_dim({kBatches, kHeads, kQueries, 1}).set_stride({40, 20, 3, 1});  // with gaps
        output(stats, type_of_stats);
    }

    nodes::ValidatedGraph validated() {
        REQUIRE(graph_.validate().get_message() == "");
        return *nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(graph_).spec).graph;
    }

    // The memory of the results after a run.
    std::vector<std::vector<std::byte>> run(Planner const& planner) {
        std::map<std::int64_t, void*> pack;
        for (Bound& each : bound_) pack[each.tensor->get_uid()] = each.memory.data();
        std::vector<double> workspace(static_cast<std::size_t>(planner.plan()->workspace_size()) / sizeof(double) + 2);
        CHECK(planner.plan()
                  ->execute({nullptr, api::UserPack(Variant_pack::of(pack), 0), workspace.data()})
                  .get_message() == "");
        std::vector<std::vector<std::byte>> results;
        for (Bound const& each : bound_) {
            if (each.is_output) results.push_back(each.memory);
        }
        return results;
    }

   private:
    Tensor input(std::vector<std::int64_t> const& dim) {
        Tensor const tensor = graph_.tensor(
            Tensor_attributes().set_dim(dim).set_stride({dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1}));
        std::vector<float> numbers(static_cast<std::size_t>(dim[0] * dim[1] * dim[2] * dim[3]));
        for (float& number : numbers) number = std::sin(static_cast<float>(++count_));
        keep(tensor, numbers);
        return tensor;
    }
    Tensor lengths(DataType_t type, std::vector<std::int64_t> const& all) {
        Tensor const tensor = graph_.tensor(
            Tensor_attributes().set_dim({kBatches, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_data_type(type));
        if (type == DataType_t::INT64) keep(tensor, all);
        else keep(tensor, std::vector<std::int32_t>(all.begin(), all.end()));
        return tensor;
    }
    void output(Tensor const& tensor, DataType_t type) {
        tensor->set_output(true).set_data_type(type);
        bound_.push_back({tensor, std::vector<std::byte>(2048), true});
    }
    template <class Number>
    void keep(Tensor const& tensor, std::vector<Number> const& numbers) {
        auto const bytes = std::as_bytes(std::span(numbers));
        bound_.push_back({tensor, std::vector<std::byte>(bytes.begin(), bytes.end()), false});
    }

    struct Bound {
        Tensor tensor;
        std::vector<std::byte> memory;
        bool is_output;
    };

    Graph graph_;
    std::vector<Bound> bound_;
    int count_ = 0;
};

std::shared_ptr<Planner> planned(nodes::ValidatedGraph const& graph, plan::Backends const& backends) {
    Target const target = Target::cpu();
    plan::Settings const settings;
    auto const proposed = Planner::propose({graph, target, settings}, backends);
    REQUIRE(proposed.error().get_message() == "");
    auto planner = proposed.value()->with_candidates({HeurMode_t::A});
    REQUIRE(planner.error().get_message() == "");
    REQUIRE(planner.value()->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}).get_message() == "");
    return std::move(planner).value();
}

}  // namespace

TEST_CASE("what a backend does not take is converted, and computes what the backend that takes it does") {
    StrictBackend const strict;
    for (bool const is_backward : {false, true}) {
        Problem problem(is_backward), again(is_backward);
        auto const graph = problem.validated(), same = again.validated();
        auto const converted = planned(graph, strict.alone), plain = planned(same, kCpuAlone);
        CHECK(converted->plan()->info().name == "program converted: cpu");
        CHECK(plain->plan()->info().name == "cpu");
        CHECK(problem.run(*converted) == again.run(*plain));
    }
}

TEST_CASE("one of the two is converted alone") {
    StrictBackend const strict;
    for (auto const& [lengths, stats] :
         {std::pair(DataType_t::INT32, DataType_t::HALF), std::pair(DataType_t::INT64, DataType_t::FLOAT)}) {
        Problem problem(false, lengths, stats), again(false, lengths, stats);
        auto const graph = problem.validated(), same = again.validated();
        auto const converted = planned(graph, strict.alone), plain = planned(same, kCpuAlone);
        CHECK(converted->plan()->info().name == "program converted: cpu");
        CHECK(problem.run(*converted) == again.run(*plain));
    }
}

TEST_CASE("a converted graph loads from what was stored") {
    StrictBackend const strict;
    Problem problem(false);
    auto const graph = problem.validated();
    plan::Backends const& backends = strict.alone;
    auto const planner = planned(graph, backends);
    auto const stored = planner->plan()->serialize();
    REQUIRE(stored.error().get_message() == "");
    Target const target = Target::cpu();
    plan::Settings const settings;
    auto const loaded = Planner::load({graph, target, settings}, backends, stored.value());
    REQUIRE(loaded.error().get_message() == "");
    CHECK(problem.run(*planner) == problem.run(*loaded.value()));
}

TEST_CASE("a graph that is not converted is refused as it was given") {
    StrictBackend strict;
    strict.has_joints = false;
    Problem problem(true);
    auto const graph = problem.validated();
    Target const target = Target::cpu();
    plan::Settings const settings;
    plan::Backends const& backends = strict.alone;
    CHECK(Planner::propose({graph, target, settings}, backends).error().get_message() == "no INT64");
}
