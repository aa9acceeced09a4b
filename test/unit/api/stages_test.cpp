// The staged calls of Graph on the CPU targets: their order, their results, and repeating them.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

using namespace cudnn_frontend;
using test::small_graph;
using test::SmallGraph;

namespace {

struct Buffers {
    std::vector<float> q = std::vector<float>(384), k = std::vector<float>(320), v = std::vector<float>(320);
    std::vector<float> o = std::vector<float>(384, -1.0f);

    Buffers() {
        float value = 0.1f;
        for (auto* const buffer : {&q, &k, &v}) {
            for (float& element : *buffer)
                element = value = value * 1.7f - static_cast<float>(static_cast<int>(value * 1.7f));
        }
    }
    std::unordered_map<std::int64_t, void*> pack() {
        return {{1, q.data()}, {2, k.data()}, {3, v.data()}, {4, o.data()}};
    }
};

std::vector<float> run(SmallGraph const& small) {
    Buffers buffers;
    std::unordered_map<test::Tensor_ptr, void*> const pack = {{small.q, buffers.q.data()},
                                                              {small.k, buffers.k.data()},
                                                              {small.v, buffers.v.data()},
                                                              {small.o, buffers.o.data()}};
    auto workspace = test::workspace_of(small.graph);
    auto const status = small.graph.execute(pack, workspace.data());
    INFO(status.err_msg);
    REQUIRE(status.is_good());
    return buffers.o;
}

}  // namespace

TEST_CASE("pointers in order can be prepared once there is a plan") {
    SmallGraph small = small_graph();
    error_object const early = small.graph.prepare_variant_pack_template();
    CHECK(early.code == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(early.err_msg ==
          "prepare_variant_pack_template needs the result of build_plans; call that first, or build() for all stages");
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    for (int i = 0; i < 2; ++i) CHECK(small.graph.prepare_variant_pack_template().is_good());
}

TEST_CASE("the stages in order end with a plan that runs") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        CAPTURE(to_string(target.kind()));
        SmallGraph small = small_graph();
        REQUIRE(small.graph.validate().is_good());
        REQUIRE(small.graph.build_operation_graph(target).is_good());
        CHECK(small.graph.get_execution_plan_count() == 0);
        REQUIRE(small.graph.create_execution_plans({HeurMode_t::A}).is_good());
        CHECK(small.graph.get_execution_plan_count() == 1);
        REQUIRE(small.graph.check_support().is_good());
        REQUIRE(small.graph.build_plans().is_good());
        std::string name;
        REQUIRE(small.graph.get_plan_name(name).is_good());
        CHECK(name == to_string(target.kind()));
        CHECK(small.graph.get_variant_pack_uids_sorted() == std::vector<std::int64_t>{1, 2, 3, 4});
        for (float const element : run(small)) CHECK(element >= 0.0f);
    }
}

TEST_CASE("a stage without the one before it says which call is missing") {
    SmallGraph small = small_graph();
    auto const plans = small.graph.create_execution_plans({HeurMode_t::A});
    CHECK(plans.code == error_code_t::HEURISTIC_QUERY_FAILED);
    CHECK(plans.err_msg.find("build_operation_graph") != std::string::npos);
    CHECK(small.graph.check_support().code == error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
    CHECK(small.graph.build_plans().code == error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
    std::int64_t bytes = 42;
    CHECK(small.graph.get_workspace_size(bytes).code == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(bytes == 42);
    CHECK(small.graph.get_workspace_size() == 0);
    std::string name;
    CHECK(small.graph.get_plan_name(name).code == error_code_t::GRAPH_EXECUTION_FAILED);
}

TEST_CASE("errors name a graph that has a name, once") {
    SmallGraph small = small_graph();
    small.graph.set_name("decoder");
    auto const begins = [](error_object const& error) { return error.err_msg.rfind("graph 'decoder': ", 0) == 0; };
    std::int64_t bytes = 0;
    int pointers = 0;
    void* none = nullptr;
    std::vector<std::int64_t> const uids{1};
    CHECK(begins(small.graph.create_execution_plans({HeurMode_t::A})));
    CHECK(begins(small.graph.check_support()));
    CHECK(begins(small.graph.get_workspace_size(bytes)));
    CHECK(begins(small.graph.execute(std::unordered_map<std::int64_t, void*>(), nullptr)));
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    CHECK(begins(small.graph.build_plan_at_index(7)));
    CHECK(begins(small.graph.execute(nullptr, &none, pointers, nullptr)));
    for (error_object const& error :
         {small.graph.execute_plan_at_index(nullptr, &none, pointers, nullptr, 0, uids),
          small.graph.execute_plan_at_index(nullptr, std::unordered_map<std::int64_t, void*>(), nullptr, 0, uids)}) {
        CHECK(begins(error));
        CHECK(error.err_msg.rfind("graph 'decoder': ") == 0);
    }
    small.q->set_alignment(3);
    error_object const invalid = small.graph.build(Target::cpu());
    CHECK(begins(invalid));
    CHECK(invalid.err_msg == small.graph.validate().err_msg);
    CHECK(invalid.err_msg == "graph 'decoder': " + small.graph.check().to_error().err_msg);
    small.graph.set_name("");
    CHECK(small.graph.validate().err_msg.rfind("[graph.c12] tensor 'Q': found", 0) == 0);
}

TEST_CASE("building again gives the same numbers, and a change is seen") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    auto const first = run(small);
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    CHECK(run(small) == first);
    auto const [o, stats] = small.graph.sdpa(small.k, small.k, small.v, graph::SDPA_attributes().set_name("second"));
    o->set_output(true);
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    CHECK(small.graph.get_variant_pack_uids_sorted().size() == 5);
}

TEST_CASE("no heuristic modes are an error at once, which leaves earlier candidates") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build_operation_graph(Target::cpu()).is_good());
    auto const none = small.graph.create_execution_plans({});
    CHECK(none.code == error_code_t::INVALID_VALUE);
    CHECK(none.err_msg ==
          "create_execution_plans() was given no heuristic mode to query; pass at least one, such as {HeurMode_t::A, "
          "HeurMode_t::FALLBACK}");
    CHECK(small.graph.get_execution_plan_count() == 0);
    CHECK(small.graph.check_support().code == error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
    REQUIRE(small.graph.create_execution_plans({HeurMode_t::A}).is_good());
    CHECK(small.graph.create_execution_plans({}).is_bad());
    CHECK(small.graph.get_execution_plan_count() == 1);
}

TEST_CASE("filters that bar the CPU's one candidate leave no plan, and say why") {
    using Filter = void (*)(graph::Graph&);
    struct Barred {
        Filter filter;
        char const* reason;
    };
    for (Barred const& barred :
         {Barred{[](graph::Graph& g) { g.deselect_workspace_greater_than(0); },
                 " bytes of workspace, more than the limit of 0"},
          Barred{[](graph::Graph& g) { g.deselect_engines({"cp"}); }, "cpu has the deselected name 'cp'"},
          Barred{[](graph::Graph& g) { g.select_behavior_notes({BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API}); },
                 "cpu lacks the note SUPPORTS_CUDA_GRAPH_NATIVE_API"},
          Barred{[](graph::Graph& g) { g.select_numeric_notes({NumericalNote_t::TENSOR_CORE}); },
                 "cpu lacks the note TENSOR_CORE"}}) {
        SmallGraph small = small_graph();
        REQUIRE(small.graph.build_operation_graph(Target::cpu()).is_good());
        REQUIRE(small.graph.create_execution_plans({HeurMode_t::A}).is_good());
        barred.filter(small.graph);
        auto const support = small.graph.check_support(), plans = small.graph.build_plans();
        CHECK(support.code == error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
        CHECK(plans.err_msg == support.err_msg);
        CAPTURE(plans.err_msg);
        CHECK(plans.err_msg.find("the filters let no engine pass:") != std::string::npos);
        CHECK(plans.err_msg.find(barred.reason) != std::string::npos);
    }
}

TEST_CASE("filters that let the CPU's candidate pass change nothing") {
    SmallGraph small = small_graph();
    small.graph.deselect_workspace_greater_than(std::int64_t{1} << 40).deselect_engines({"eng9"});
    small.graph.deselect_behavior_notes({BehaviorNote_t::RUNTIME_COMPILATION});
    small.graph.deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC});
    CHECK(small.graph.build(Target::cpu()).is_good());
}

TEST_CASE("what is about a GPU is refused on CPU targets, not ignored") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        SmallGraph count = small_graph(), version = small_graph();
        count.graph.set_sm_count(3);
        version.graph.set_sm_version(80);
        auto const no_count = count.graph.build(target), no_version = version.graph.build(target);
        CHECK(no_count.err_msg.find("set_sm_count() is about a GPU, and Target::") != std::string::npos);
        CHECK(no_version.err_msg.find("set_sm_version() is about a GPU, and Target::") != std::string::npos);
        count.graph.set_sm_count(0);
        CHECK(count.graph.build(target).is_good());
    }
}

TEST_CASE("a tensor of another graph in a pack is an error that names it") {
    SmallGraph small = small_graph(), other = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    REQUIRE(other.graph.validate().is_good());
    std::vector<float> memory(384);
    std::unordered_map<test::Tensor_ptr, void*> const pack = {
        {small.q, memory.data()}, {other.k, memory.data()}, {small.v, memory.data()}, {small.o, memory.data()}};
    auto const status = small.graph.execute(pack, nullptr);
    CHECK(status.code == error_code_t::INVALID_VARIANT_PACK);
    CHECK(status.err_msg.find("tensor 'K': found a key of the pack that belongs to another graph") !=
          std::string::npos);
}

TEST_CASE("a build that fails leaves no plan behind") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    small.q->set_dim({2, 4, 6, 9});
    REQUIRE(small.graph.build(Target::cpu()).is_bad());
    CHECK(small.graph.get_execution_plan_count() == 0);
    CHECK(small.graph.execute(std::unordered_map<std::int64_t, void*>(), nullptr).code ==
          error_code_t::GRAPH_EXECUTION_FAILED);
}

TEST_CASE("a build for cuDNN names what is missing and what runs instead, after the graph's own faults") {
    SmallGraph small = small_graph();
    if (auto const error = small.graph.build(nullptr, {HeurMode_t::A}); error.is_bad()) {  // it would run on a GPU
        CHECK(error.err_msg.find("Target::cpu()") != std::string::npos);
    }
    small.q->set_dim({2, 4, 6, 9});
    CHECK(small.graph.build({HeurMode_t::A}).err_msg.find("sdpa_fwd.") != std::string::npos);
}

TEST_CASE("an empty graph is valid, and its operations print as nothing") {
    graph::Graph graph;
    CHECK(graph.validate().is_good());
    std::string text = "old";
    REQUIRE(graph.print_operations(text).is_good());
    CHECK(text.find("MATMUL") == std::string::npos);
}

TEST_CASE("a graph without a node has no plan") {
    for (Target const& target : {Target::cpu(), Target::reference(), Target::offline("h200")}) {
        graph::Graph graph;
        auto const error = graph.build(target);
        CHECK(error.code == error_code_t::ATTRIBUTE_NOT_SET);
        CHECK(error.err_msg ==
              "the graph has no node, so there is nothing to plan; call sdpa() or another call that adds one");
    }
}

TEST_CASE("a negative number of threads is an error, 0 and many are not") {
    SmallGraph small = small_graph();
    auto const check_negative = [&] {
        auto const error = small.graph.build(Target::cpu(-3));
        CHECK(error.code == error_code_t::INVALID_VALUE);
        CHECK(error.err_msg == "Target::cpu(): found -3 threads; expected at least 1, or 0 for one on each CPU.");
    };
    check_negative();
    CHECK(small.graph.build(Target::cpu(0)).is_good());
    CHECK(small.graph.build(Target::cpu(100000)).is_good());
    check_negative();  // also for a graph that is known
}

TEST_CASE("a missing result of a node without a name is named after the node's kind") {
    SmallGraph small = small_graph(graph::SDPA_attributes());
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Buffers buffers;
    std::unordered_map<test::Tensor_ptr, void*> const pack = {
        {small.q, buffers.q.data()}, {small.k, buffers.k.data()}, {small.v, buffers.v.data()}};
    auto const error = small.graph.execute(pack, nullptr);
    CHECK(error.err_msg.find("'sdpa_forward::O'") != std::string::npos);
}

TEST_CASE("the operations of a graph print as text and as Graphviz") {
    SmallGraph small = small_graph();
    std::string text, dot;
    REQUIRE(small.graph.print_operations(text).is_good());
    REQUIRE(small.graph.print_operations(dot, graph::OperationsFormat::DOT).is_good());
    CHECK(text.find("MATMUL") != std::string::npos);
    CHECK(dot.find("digraph") != std::string::npos);
}

TEST_CASE("a plan is run by its index, with pointers in order too") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Buffers buffers;
    std::unordered_map<test::Tensor_ptr, void*> const pack = {{small.q, buffers.q.data()},
                                                              {small.k, buffers.k.data()},
                                                              {small.v, buffers.v.data()},
                                                              {small.o, buffers.o.data()}};
    std::vector<void*> pointers = {buffers.q.data(), buffers.k.data(), buffers.v.data(), buffers.o.data()};
    auto workspace = test::workspace_of(small.graph);
    auto const expected = run(small);
    CHECK(small.graph.execute_plan_at_index(nullptr, pack, workspace.data(), 0).is_good());
    CHECK(buffers.o == expected);
    buffers.o.assign(buffers.o.size(), -1.0f);
    CHECK(small.graph.execute_plan_at_index(nullptr, pointers.data(), 4, workspace.data(), 0, {}).is_good());
    CHECK(buffers.o == expected);
    for (std::int64_t const index : {-1, 1}) {
        auto const by_tensor = small.graph.execute_plan_at_index(nullptr, pack, workspace.data(), index);
        auto const in_order = small.graph.execute_plan_at_index(nullptr, pointers.data(), 4, workspace.data(), index);
        CHECK(by_tensor.code == error_code_t::GRAPH_EXECUTION_FAILED);
        CHECK(by_tensor.err_msg.find("there is no plan " + std::to_string(index)) != std::string::npos);
        CHECK(in_order.err_msg == by_tensor.err_msg);
    }
}

TEST_CASE("pointers in order are as many as the graph's tensors") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Buffers buffers;
    std::vector<void*> pointers = {buffers.q.data(), buffers.k.data(), buffers.v.data(), buffers.o.data()};
    auto const refusal = [&](void** from, int count) {
        auto const error = small.graph.execute(nullptr, from, count, nullptr);
        CHECK(error.code == error_code_t::INVALID_VARIANT_PACK);
        CHECK(error.where.rule == "run.r06");
        return error.err_msg;
    };
    std::string const expected = "; expected 4 in the order of get_variant_pack_uids_sorted().";
    CHECK(refusal(pointers.data(), 3) == "[run.r06]: found 3 pointers" + expected);
    CHECK(refusal(pointers.data(), -1) == "[run.r06]: found -1 pointers" + expected);
    CHECK(refusal(nullptr, 4) == "[run.r06]: found a null array of pointers" + expected);
    CHECK(buffers.o == Buffers().o);
}

TEST_CASE("overridden shapes that need more workspace than the graph's own are refused") {
    SmallGraph small = small_graph();
    small.graph.set_override_shape_enabled(true);
    REQUIRE(small.graph.build(Target::reference()).is_good());
    Buffers buffers;
    auto const pack = buffers.pack();
    auto workspace = test::workspace_of(small.graph);
    std::vector<std::vector<std::int64_t>> const dims(2, {2, 4, 600, 8}), strides(2, {19200, 4800, 8, 1});
    auto const error = small.graph.execute(nullptr, pack, workspace.data(), {{1, 4}}, dims, strides);
    CHECK(error.where.rule == "run.r09");
    CHECK(error.err_msg.find("build the graph with the largest shapes") != std::string::npos);
    CHECK(buffers.o == Buffers().o);
}

// The CPU's kernels for few queries add up in another order.
static bool is_close(float a, float b) { return std::abs(a - b) <= 1e-6f * std::abs(b); }

TEST_CASE("shapes are overridden for one call") {
    SmallGraph small = small_graph();
    small.graph.set_override_shape_enabled(true);
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Buffers buffers;
    auto const pack = buffers.pack();
    auto workspace = test::workspace_of(small.graph);
    auto const whole = run(small);
    // The first of the 6 query rows alone, in the memory of all.
    std::vector<std::int64_t> const uids = {1, 4};
    std::vector<std::vector<std::int64_t>> const dims(2, {2, 4, 1, 8}), strides(2, {192, 48, 8, 1});
    CHECK(small.graph.execute(nullptr, pack, workspace.data(), uids, dims, strides).is_good());
    for (std::size_t i = 0; i < whole.size(); ++i) CHECK(is_close(buffers.o[i], i % 48 < 8 ? whole[i] : -1.0f));
    buffers.o.assign(buffers.o.size(), -1.0f);
    CHECK(small.graph.execute_plan_at_index(nullptr, pack, workspace.data(), 0, uids, dims, strides).is_good());
    CHECK(is_close(buffers.o[7], whole[7]));
    CHECK(buffers.o[8] == -1.0f);
    auto const unequal = small.graph.execute(nullptr, pack, workspace.data(), uids, {}, strides);
    CHECK(unequal.code == error_code_t::INVALID_VALUE);
    CHECK(unequal.err_msg.find("2 uids, 0 dims and 2 strides; expected one of each for every tensor") !=
          std::string::npos);
    buffers.o.assign(buffers.o.size(), -1.0f);
    auto const bad_dims =
        small.graph.execute(nullptr, pack, workspace.data(), uids, {{2, 4, 0, 8}, {2, 4, 0, 8}}, strides);
    CHECK(bad_dims.err_msg.find("[graph.c08] tensors '") != std::string::npos);
    auto const bad_strides =
        small.graph.execute(nullptr, pack, workspace.data(), {{1}}, {{2, 4, 6, 8}}, {{384, 96, 16, 2}});
    CHECK(bad_strides.err_msg.find("[sdpa_fwd.c02]") != std::string::npos);
    auto const unknown =
        small.graph.execute(nullptr, pack, workspace.data(), {{99}}, {{2, 4, 1, 8}}, {{192, 48, 8, 1}});
    CHECK(unknown.err_msg.find("the uid 99, which no tensor has") != std::string::npos);
    CHECK(buffers.o == std::vector<float>(buffers.o.size(), -1.0f));
    SmallGraph fixed = small_graph();
    REQUIRE(fixed.graph.build(Target::cpu()).is_good());
    auto const refused = fixed.graph.execute(nullptr, pack, workspace.data(), uids, dims, strides);
    CHECK(refused.code == error_code_t::INVALID_VALUE);
    CHECK(refused.err_msg.find("set_override_shape_enabled(true) or set_dynamic_shape_enabled(true)") !=
          std::string::npos);
}

TEST_CASE("a graph with dynamic shapes runs with overridden ones") {
    SmallGraph small = small_graph();
    small.graph.set_dynamic_shape_enabled(true);
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Buffers buffers;
    auto const pack = buffers.pack();
    auto workspace = test::workspace_of(small.graph);
    std::vector<std::vector<std::int64_t>> const dims(2, {2, 4, 1, 8}), strides(2, {192, 48, 8, 1});
    REQUIRE(small.graph.execute(nullptr, pack, workspace.data(), {{1, 4}}, dims, strides).get_message() == "");
    CHECK(buffers.o[7] != -1.0f);
    CHECK(buffers.o[8] == -1.0f);
}

namespace {

// A graph of one length that runs with others, and the memory of its tensors.
struct OverriddenGraph {
    SmallGraph small;
    Buffers buffers;
    std::unordered_map<std::int64_t, void*> pack = {
        {1, buffers.q.data()}, {2, buffers.k.data()}, {3, buffers.v.data()}, {4, buffers.o.data()}};
    std::vector<double> workspace;

    explicit OverriddenGraph(SmallGraph graph, Target const& target) : small(std::move(graph)) {
        small.graph.set_override_shape_enabled(true);
        REQUIRE(small.graph.build(target).is_good());
        workspace = test::workspace_of(small.graph);
    }
    cudnn_frontend::error_t run(std::vector<std::int64_t> const& uids,
                                std::vector<std::vector<std::int64_t>> const& dims,
                                std::vector<std::vector<std::int64_t>> const& strides) {
        return small.graph.execute(nullptr, pack, workspace.data(), uids, dims, strides);
    }
};

std::vector<std::vector<std::int64_t>> const kOneQuery = {{2, 4, 1, 8}}, kFirstOfEach = {{192, 48, 8, 1}};

}  // namespace

TEST_CASE("what was inferred follows from the overridden shapes") {
    auto const modified = [] {
        return small_graph(
            graph::SDPA_attributes().set_name("attention").set_score_mod(graph::attn::score_modifiers::causal_mask));
    };
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        for (bool const is_modified : {false, true}) {
            CAPTURE(to_string(target.kind()), is_modified);
            OverriddenGraph rig(is_modified ? modified() : small_graph(), target);
            auto const whole = run(rig.small);
            auto const status = rig.run({1}, kOneQuery, kFirstOfEach);
            INFO(status.err_msg);
            REQUIRE(status.is_good());
            // O's single rows follow each other: the user did not set where they lie.
            for (std::size_t i = 0; i < whole.size(); ++i) {
                CHECK(is_close(rig.buffers.o[i], i < 64 ? whole[i / 8 * 48 + i % 8] : -1.0f));
            }
        }
    }
}

TEST_CASE("what was set keeps its shape under an override, whose errors say so") {
    SmallGraph fixed = small_graph();
    fixed.o->set_dim({2, 4, 6, 8}).set_stride({192, 48, 8, 1});
    OverriddenGraph rig(std::move(fixed), Target::cpu());
    auto const error = rig.run({1}, kOneQuery, kFirstOfEach);
    CHECK(error.code == error_code_t::INVALID_VALUE);
    CHECK(error.where.rule == "sdpa_fwd.c07");
    CHECK(error.err_msg.find("with the shapes that this call gives for the uids [1], where other tensors keep the dims "
                             "and strides that were set on them (name such a tensor's uid too, instead of calling a "
                             "setter):\n[sdpa_fwd.c07] node 'attention', tensor 'attention::O'") == 0);
    CHECK(rig.run({1, 4}, {kOneQuery[0], kOneQuery[0]}, {kFirstOfEach[0], kFirstOfEach[0]}).is_good());
}

TEST_CASE("a uid that an override names twice is an error, told with the others") {
    OverriddenGraph rig(small_graph(), Target::cpu());
    auto const error = rig.run({1, 99, 1}, {kOneQuery[0], kOneQuery[0], {2, 4, 2, 8}},
                               {kFirstOfEach[0], kFirstOfEach[0], kFirstOfEach[0]});
    CHECK(error.code == error_code_t::INVALID_VALUE);
    CHECK(error.err_msg ==
          "a shape is overridden for the uid 99, which no tensor has; get_uid() returns them\n"
          "a shape is overridden for the uid 1 more than once; name each uid once");
}

TEST_CASE("candidates are printed with what is against them") {
    SmallGraph small = small_graph();
    std::string text;
    CHECK(small.graph.print_candidates(text).err_msg ==
          "print_candidates needs the result of create_execution_plans; call that first, or build() for all stages");
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    CHECK(small.graph.print_candidates(text).is_good());
    CHECK(text == "candidates:\n  cpu runs\n");
    small.graph.deselect_engines({"cpu"});
    CHECK(small.graph.print_candidates(text).is_good());
    CHECK(text == "candidates:\n  cpu has the deselected name 'cpu'\n");
}

TEST_CASE("an index without a plan is named in the error of each call that takes one") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build_operation_graph(Target::cpu()).is_good());
    REQUIRE(small.graph.create_execution_plans({HeurMode_t::A}).is_good());
    std::string name;
    std::vector<BehaviorNote_t> notes;
    std::int64_t bytes = 0;
    std::unordered_map<std::int64_t, void*> const pack;
    auto const unbuilt = small.graph.execute_plan_at_index(nullptr, pack, nullptr, 0);
    CHECK(unbuilt.code == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(unbuilt.err_msg == "plan 0 is not built; call build_plan_at_index(0) first");
    CHECK(small.graph.get_workspace_size_plan_at_index(0, bytes).err_msg == unbuilt.err_msg);
    CHECK(small.graph.get_plan_name_at_index(0, name).is_good());
    for (auto const& error : {small.graph.build_plan_at_index(1), small.graph.get_plan_name_at_index(1, name),
                              small.graph.get_behavior_notes_for_plan_at_index(1, notes),
                              small.graph.get_workspace_size_plan_at_index(1, bytes),
                              small.graph.execute_plan_at_index(nullptr, pack, nullptr, 1)}) {
        CHECK(error.code == error_code_t::GRAPH_EXECUTION_FAILED);
        CHECK(error.err_msg == "there is no plan 1; get_execution_plan_count() is 1");
    }
}

TEST_CASE("a stream as target runs graphs of one attention, and no other graphs") {
    Target const target = Target::cuda(Cuda_stream(nullptr));
    CHECK(target.kind() == Target::Kind::STREAM);
    CHECK(std::string(to_string(target.kind())) == "stream");
    for (bool const has_attention : {false, true}) {
        graph::Graph graph;
        graph.set_io_data_type(DataType_t::HALF).set_compute_data_type(DataType_t::FLOAT);
        graph.set_intermediate_data_type(DataType_t::HALF);
        auto x = graph.tensor(test::packed_tensor("x", 4, 6, 8));
        if (has_attention) x = graph.sdpa(x, x, x, graph::SDPA_attributes().set_generate_stats(false))[0];
        graph.pointwise(x, graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD))->set_output(true);
        error_object const refusal = graph.build(target);
        CHECK(refusal.code == error_code_t::GRAPH_NOT_SUPPORTED);
        CHECK(refusal.err_msg ==
              "a stream as target runs graphs of one attention or of one neighborhood attention; "
              "Target::cuda(handle) runs other graphs, with cuDNN");
    }
}

TEST_CASE("hosts take a stream in place of a handle, and ignore it") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Buffers buffers;
    auto workspace = test::workspace_of(small.graph);
    CHECK(small.graph.warmup(Cuda_stream(nullptr)).is_good());
    CHECK(small.graph.execute(Cuda_stream(nullptr), buffers.pack(), workspace.data()).is_good());
    CHECK(buffers.o == run(small));
}
