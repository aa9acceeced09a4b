// Each pass computes the same as its graph: the interpreter runs both, over the graphs of the sweep.
#include "cudnn/passes/passes.h"
#include "api/graph/graph_impl.h"
#include "core/data_type.h"
#include "cpu/cpu_program.h"
#include "cudnn/planning/lowering.h"
#include "cudnn/quirks/quirk_rows.h"
#include "expand/expand.h"
#include "ir/builder.h"
#include "lowering/block_scale_graphs.h"
#include "reference/cases/random_case.h"
#include "reference/checks/session.h"

#include "support/catch.h"
#include "support/small_graph.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

using namespace cudnn_frontend;
using namespace sdpa_test;
using cudnn::LegalGraph;
using cudnn::passes::Pass;

namespace {

constexpr std::uint64_t kCases = 2000;
constexpr int kRunsOfEach = 12;  // graphs of each pass that are interpreted, the first that it changes

// These multiply in another order, so that fp64 rounds elsewhere.
std::set<std::string> const kReordering = {"scale before given mask", "scale drawn gradients late"};
constexpr double kRoundings = 1e-12;  // of the greatest number: thousands of fp64's

// The graph with all numbers that it computes in fp64, so that no narrow type rounds.
ir::OpGraph widened(ir::OpGraph const& graph) {
    ir::Builder builder;
    for (ir::Value value : graph.values()) {
        bool const is_computed = value.role == ir::Role::Output || value.role == ir::Role::Virtual;
        if (is_computed && core::is_floating_point(value.type)) value.type = DataType_t::DOUBLE;
        builder.add(std::move(value));
    }
    for (ir::Op const& op : graph.ops()) builder.add(op);
    auto wide = std::move(builder).finish();
    REQUIRE(wide.error().get_message() == "");
    return std::move(wide).value();
}

nodes::ValidatedGraph validated(graph::Graph const& graph) {
    nodes::Validation validation = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(graph).spec);
    REQUIRE(validation.graph);
    return std::move(*validation.graph);
}

void interpret(ir::OpGraph const& graph, std::vector<void*> const& pointers) {
    auto const program = cpu::CpuProgram::plan(graph, 1);
    REQUIRE(program.error().get_message() == "");
    std::vector<std::byte> workspace(static_cast<std::size_t>(program.value()->workspace_size()));
    REQUIRE(program.value()->run(pointers, workspace.data()).get_message() == "");
}

// One direction of a case as a user's program, with its memory as it is before a run.
class Subject {
   public:
    Subject(AttentionCase const& c, bool is_backward) : in_(make_inputs(c)), out_(make_forward_outputs(c)) {
        if (is_backward) {
            AttentionCase undropped = c;  // a generator's mask is not known before a run, and does not matter
            if (c.dropout == Dropout::Probability) undropped.dropout = Dropout::None;
            more_ = make_backward_inputs(c, oracle::forward(to_problem(undropped, in_, {})));
            gradients_ = make_backward_outputs(c);
            session_ = std::make_unique<Session>(c, in_, more_, gradients_);
        } else {
            session_ = std::make_unique<Session>(c, in_, out_);
        }
        for (Session::Entry const& entry : session_->entries()) keep(*entry.memory.memory);
    }

    graph::Graph const& graph() const { return session_->graph(); }

    // The content of the program's memory after a run: every element that one can write.
    std::vector<std::vector<std::byte>> bytes_of(ir::OpGraph const& graph) const {
        restore();
        auto const pack = session_->pack_by_uid();
        std::vector<void*> pointers;
        for (ir::Binding const& binding : graph.bindings()) pointers.push_back(pack.at(binding.uid));
        interpret(graph, pointers);
        std::vector<std::vector<std::byte>> all;
        for (auto const& [memory, bytes] : before_) all.emplace_back(memory->data(), memory->data() + memory->size());
        return all;
    }

    // The results of a widened graph, in memory of their own.
    std::vector<std::vector<double>> numbers_of(ir::OpGraph const& wide) const {
        restore();
        auto const pack = session_->pack_by_uid();
        std::vector<std::vector<double>> results(wide.bindings().size());
        std::vector<void*> pointers;
        for (ir::Binding const& binding : wide.bindings()) {
            ir::Value const& value = wide.value(binding.value);
            bool const is_result = value.role == ir::Role::Output && value.type == DataType_t::DOUBLE;
            std::vector<double>& result = results[pointers.size()];
            if (is_result) result.resize(static_cast<std::size_t>(*core::span_of(value.dim, value.stride)));
            pointers.push_back(is_result ? result.data() : pack.at(binding.uid));
        }
        interpret(wide, pointers);
        return results;
    }

   private:
    void restore() const {
        for (auto const& [memory, bytes] : before_) std::memcpy(memory->data(), bytes.data(), bytes.size());
    }
    void keep(HostMemory& memory) {
        for (auto const& [known, bytes] : before_) {
            if (known == &memory) return;
        }
        before_.emplace_back(&memory, std::vector<std::byte>(memory.data(), memory.data() + memory.size()));
    }

    Inputs in_;
    ForwardOutputs out_;
    BackwardInputs more_;
    BackwardOutputs gradients_;
    std::unique_ptr<Session> session_;
    std::vector<std::pair<HostMemory*, std::vector<std::byte>>> before_;
};

// Whether all are equal up to roundings of fp64, relative to the greatest finite number.
bool is_near(std::vector<double> const& a, std::vector<double> const& b) {
    double greatest = 0.0;
    for (double const x : a) greatest = std::isfinite(x) ? std::max(greatest, std::abs(x)) : greatest;
    return std::ranges::equal(a, b, [&](double x, double y) {
        return x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= kRoundings * greatest;
    });
}

void check_same_results(Subject const& subject, Pass const& pass, LegalGraph const& before, LegalGraph const& after) {
    if (kReordering.contains(pass.name)) {
        auto const a = subject.numbers_of(widened(before.graph)), b = subject.numbers_of(widened(after.graph));
        CHECK(std::ranges::equal(a, b, is_near));
    } else {
        CHECK((subject.bytes_of(before.graph) == subject.bytes_of(after.graph)));
    }
}

// How many graphs each pass has changed.
using Changes = std::map<std::string, int>;

// Calls check(pass, before, after) for the first graphs that each pass changes.
template <class Check>
void try_passes(nodes::ValidatedGraph const& validated, Changes& changes, Check const& check) {
    auto op_graph = expand::expand(validated, cudnn::expansion_for_cudnn());
    REQUIRE(op_graph.error().get_message() == "");
    LegalGraph graph{std::move(op_graph).value()};
    for (Pass const& pass : cudnn::passes::all()) {
        CAPTURE(pass.name);
        auto after = cudnn::passes::run(pass, graph);
        REQUIRE(after.error().get_message() == "");
        bool const has_changed = !same_work(graph, after.value());
        if (has_changed && ++changes[pass.name] <= kRunsOfEach) check(pass, graph, after.value());
        graph = std::move(after).value();
    }
}

void try_case(AttentionCase const& c, bool is_backward, Changes& changes) {
    Subject const subject(c, is_backward);
    auto const check = [&](Pass const& pass, LegalGraph const& before, LegalGraph const& after) {
        check_same_results(subject, pass, before, after);
    };
    try_passes(validated(subject.graph()), changes, check);
}

// The content of a graph's memory after a run on any data.
std::vector<std::vector<std::byte>> results_of_any_data(ir::OpGraph const& graph) {
    std::vector<std::vector<std::byte>> memory;
    std::vector<void*> pointers;
    for (ir::Binding const& binding : graph.bindings()) {
        ir::Value const& value = graph.value(binding.value);
        std::int64_t const elements = *core::span_of(value.dim, value.stride);
        memory.emplace_back(static_cast<std::size_t>(elements * core::size_of(value.type)));
        for (std::int64_t i = 0; i < elements; ++i) {
            bool const is_scale = value.type == DataType_t::FP8_E8M0;
            double const number = is_scale ? 1.0 / static_cast<double>(1 + i % 2) : static_cast<double>(i % 13 - 6) / 4;
            core::store(value.type, memory.back().data(), i, number);
        }
        pointers.push_back(memory.back().data());
    }
    interpret(graph, pointers);
    return memory;
}

// Block scales are not among the sweep's cases.
void try_block_scales(std::int64_t rows, bool is_causal, Changes& changes) {
    BlockScaleGraph::Dims const dim{2, 2, rows, 32};
    auto const check = [](Pass const&, LegalGraph const& before, LegalGraph const& after) {
        CHECK((results_of_any_data(before.graph) == results_of_any_data(after.graph)));
    };
    try_passes(validated(BlockScaleGraph::forward(dim, is_causal)), changes, check);
    try_passes(validated(BlockScaleGraph::backward(dim, is_causal)), changes, check);
}

// Predicates of INT32 are not among them either: here one that compares, one that is computed, and one in memory.
void try_integer_predicates(std::int64_t queries, Changes& changes) {
    using enum PointwiseMode_t;
    using graph::Graph;
    using graph::Pointwise_attributes;
    using test::Tensor_ptr;
    auto const step = [](PointwiseMode_t mode) { return Pointwise_attributes().set_mode(mode); };
    auto const integer = [](Tensor_ptr const& tensor) {
        tensor->set_data_type(DataType_t::INT32);
        return tensor;
    };
    auto const modifier = [&](std::shared_ptr<Graph> const& graph, Tensor_ptr const& scores) {
        auto const row = integer(graph->pointwise(scores, step(GEN_INDEX).set_axis(2)));
        auto const column = integer(graph->pointwise(scores, step(GEN_INDEX).set_axis(3)));
        auto const sees = integer(graph->pointwise(row, column, step(CMP_GE)));
        auto const is_odd = integer(graph->pointwise(column, graph->tensor(std::int32_t{2}), step(MOD)));
        auto const both = integer(graph->pointwise(sees, is_odd, step(LOGICAL_AND)));
        auto const bits = integer(graph->tensor(
            graph::Tensor_attributes().set_dim({1, 1, queries, 10}).set_stride({10 * queries, 10 * queries, 10, 1})));
        auto const masked = graph->tensor(-std::numeric_limits<float>::infinity());
        auto const some = graph->pointwise(scores, masked, both, step(BINARY_SELECT));
        return graph->pointwise(some, masked, bits, step(BINARY_SELECT));
    };
    auto const small = test::small_graph(graph::SDPA_attributes().set_score_mod(modifier), queries);
    try_passes(validated(small.graph), changes, [](Pass const&, LegalGraph const& before, LegalGraph const& after) {
        CHECK((results_of_any_data(before.graph) == results_of_any_data(after.graph)));
    });
}

}  // namespace

TEST_CASE("every pass changes graphs of the sweep, and none changes what they compute") {
    Changes changes;
    for (std::int64_t const rows : {1, 31, 32, 33, 64, 130}) {
        for (bool const is_causal : {false, true}) try_block_scales(rows, is_causal, changes);
    }
    for (std::int64_t queries = 1; queries <= kRunsOfEach; ++queries) try_integer_predicates(queries, changes);
    for (std::uint64_t index = 0; index < kCases; ++index) {
        CAPTURE(index);
        AttentionCase c = random_case(index);
        c.explicit_uids = true;
        c.dropout_probability = 0.5f;  // both its scale and the inverse of that are exact
        try_case(c, false, changes);
        if (c.has_backward()) try_case(c, true, changes);
    }
    for (Pass const& pass : cudnn::passes::all()) {
        CAPTURE(pass.name);
        CHECK(changes[pass.name] >= kRunsOfEach);
    }
}

TEST_CASE("passes have names of their own, and rows in the table of quirks") {
    std::set<std::string> names, passes, rows;
    for (Pass const& pass : cudnn::passes::all()) {
        CHECK(names.insert(pass.name).second);
        passes.insert(std::string(pass.quirk) + " " + pass.name);
    }
    for (quirks::Quirk const& quirk : quirks::rewrites()) rows.insert(std::string(quirk.id) + " " + quirk.pass);
    CHECK(passes == rows);
}
