// Attention by the library's own engine, planned for described GPUs on machines without one.
#include "lowering/attention_engine_graphs.h"
#include "lowering/has_cudnn.h"
#include "support/catch.h"
#include "support/dynamic_shapes.h"
#include "support/modifiers/modifier_problem.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>
#include <cudnn_frontend/stored_plan.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

using namespace engine_graphs;
using cudnn_frontend::graph::Tensor_attributes;
using sdpa_test::name_of;
using sdpa_test::names_of;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

namespace {

// The graph with a plan of the engine alone.
Graph built(Graph graph, char const* device = "h200") {
    REQUIRE(plan(graph, device, {HeurMode_t::OPENSOURCE}).get_message() == "");
    REQUIRE(graph.build_plans().get_message() == "");
    return graph;
}

// The ids of the rules by which the engine refuses a graph that no other engine runs.
std::string refused_by(Graph graph, char const* device = "h200") {
    std::string const text = plan(graph, device, {HeurMode_t::OPENSOURCE}).get_message();
    bool const is_refusal = text.find("the engine 'attention' cannot run this graph:\n") != text.npos;
    return is_refusal ? ids_in(text) : "no refusal: " + text;
}

std::string refused_by(Change const& change) { return refused_by(graph_of({}, change)); }

std::vector<std::uint8_t> bytes_of(Graph const& graph) {
    std::vector<std::uint8_t> bytes;
    REQUIRE(graph.serialize(bytes).get_message() == "");
    return bytes;
}

std::string loaded_from(std::vector<std::uint8_t> const& bytes, char const* device, Graph& loaded) {
    loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named(device)));
    return loaded.deserialize(nullptr, bytes).get_message();
}

}  // namespace

TEST_CASE("the library's own engine is behind cuDNN's on Hopper, and OPENSOURCE asks for it alone", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    std::vector<std::string> const all = names_of(graph_of(), {HeurMode_t::A});
    REQUIRE(all.size() > 1);
    CHECK(all.front().starts_with("eng"));
    CHECK(std::ranges::count(all, "attention") == 1);
    CHECK(all.back() == "attention");
    CHECK(names_of(graph_of(), {HeurMode_t::OPENSOURCE}) == std::vector<std::string>{"attention"});
    Graph by_default = graph_of();
    REQUIRE(by_default.build(Target::offline("h200")).get_message() == "");
    CHECK(name_of(by_default).starts_with("eng"));
}

// The error of a run with so many tokens, offline, where a plan for them is made and does not run.
static std::string error_with_tokens(Graph const& graph, std::int64_t tokens) {
    std::vector<std::int64_t> uids;
    std::vector<Dims> dims, strides;
    for (std::int64_t const uid : graph.get_variant_pack_uids_sorted()) {
        Tensor_attributes tensor;
        REQUIRE(graph.query_tensor_attributes_of_uid(uid, tensor).get_message() == "");
        if (tensor.get_name().find("::") != std::string::npos) continue;  // results, whose shapes follow
        Dims d = tensor.get_dim();
        d[2] = tokens;
        if (tensor.get_name() == "bias") d[3] = tokens;
        uids.push_back(uid);
        strides.push_back({d[1] * d[2] * d[3], d[2] * d[3], d[3], 1});
        dims.push_back(d);
    }
    REQUIRE(uids.size() == 4);
    return graph.execute(nullptr, std::unordered_map<std::int64_t, void*>(), nullptr, uids, dims, strides)
        .get_message();
}

TEST_CASE("overridden shapes are planned in the modes of the graph", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    constexpr std::int64_t kOdd = 509;  // so that the engine leaves the bias to cuDNN's
    for (HeurMode_t const mode : {HeurMode_t::A, HeurMode_t::OPENSOURCE}) {
        for (bool const is_dynamic : {false, true}) {
            if (is_dynamic && !test::takes_dynamic_shapes()) continue;
            INFO(to_string(mode) << (is_dynamic ? ", dynamic shapes" : ""));
            Graph graph = biased({1, 1, 512, 512});
            graph.set_override_shape_enabled(!is_dynamic).set_dynamic_shape_enabled(is_dynamic);
            REQUIRE(plan(graph, "h200", {mode}).get_message() == "");
            REQUIRE(graph.build_plans().get_message() == "");
            std::string const error = error_with_tokens(graph, kOdd);
            INFO(error);
            bool const is_of_mode = error.find("HeurMode_t::OPENSOURCE asks for engines") != error.npos;
            CHECK(is_of_mode == (mode == HeurMode_t::OPENSOURCE));
            CHECK(error_with_tokens(graph, 504).find("kernels.c23") == error.npos);
        }
    }
}

TEST_CASE("batch invariance leaves the library's own engine alone, or no engine", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const refusal = [](Change const& change, Target const& target) {
        Graph graph = graph_of({}, change);
        return graph.set_batch_invariant(true).build(target).get_message();
    };
    Change const nothing = [](Graph&, SDPA_attributes&) {};
    Graph graph = graph_of();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    CHECK(name_of(graph).starts_with("eng"));
    REQUIRE(graph.set_batch_invariant(true).build(Target::offline("h200")).get_message() == "");
    CHECK(name_of(graph) == "attention");
    CHECK(refusal(nothing, Target::offline("b200")).find("[kernels.c03]") != std::string::npos);
    CHECK(
        refusal(nothing, Target::cpu()) ==
        "no engine of the backend 'CPU' keeps a row's bits the same in every batch, as set_batch_invariant(true) asks");
    auto const drop = [](Graph& all, SDPA_attributes& options) {
        options.set_dropout(0.1f, input(all, "seed", {1, 1, 1, 1}, DataType_t::INT64),
                            input(all, "offset", {1, 1, 1, 1}, DataType_t::INT64));
    };
    CHECK(refusal(drop, Target::offline("h200")).find("[kernels.c27]") != std::string::npos);
}

TEST_CASE("the policy ALL_SHAPES plans by an engine whose code serves all shapes, or says why there is none",
          "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph graph = graph_of();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    CHECK(name_of(graph).starts_with("eng"));
    REQUIRE(graph.set_shape_policy(ShapePolicy_t::ALL_SHAPES).build(Target::offline("h200")).get_message() == "");
    CHECK(names_of(graph) == std::vector<std::string>{"attention"});
    CHECK(name_of(graph) == "attention");
    REQUIRE(graph.build(Target::cpu()).get_message() == "");
    auto const refusal = graph.build(Target::offline("b200"));
    CHECK(refusal.get_code() == error_code_t::GRAPH_NOT_SUPPORTED);
    for (char const* const part :
         {"as the shape policy ALL_SHAPES asks:\n", "the code of the backend 'cuDNN' depends on the shape",
          "[kernels.c03]", "set_shape_policy(ShapePolicy_t::CLASSES) plans such a graph for its class"})
        CHECK(refusal.get_message().find(part) != std::string::npos);
    graph.deselect_engines({"attention"});
    CHECK(graph.build(Target::offline("h200")).get_message().find("the filters bar its engines") != std::string::npos);
}

TEST_CASE("with the policy ALL_SHAPES a graph with too few tiles is refused as one that would run badly", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph graph = graph_of({.batches = 1, .heads = 1, .key_heads = 1, .queries = 2048, .keys = 2048});
    auto const refusal = graph.set_shape_policy(ShapePolicy_t::ALL_SHAPES).build(Target::offline("h200"));
    CHECK(refusal.get_code() == error_code_t::HEURISTIC_QUERY_FAILED);
    CHECK(refusal.get_message().find("too few tiles") != std::string::npos);
}

TEST_CASE("explain() of a batch-invariant graph has the refusals of batch-invariant engines", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Shape odd;  // cuDNN has a limit for such heads, which says nothing here
    odd.columns = odd.value_columns = 12;
    for (Shape const& shape : {Shape(), odd}) {
        Graph graph = graph_of(shape);
        Explanation const explanation = graph.set_batch_invariant(true).explain(Target::offline("b200"));
        CHECK(explanation.limits.ok());
        auto const& candidates = explanation.candidates.candidates;
        REQUIRE(candidates.size() == 2);
        for (Plan_candidate const& each : candidates) {
            INFO(each.backend << ": " << each.reason);
            CHECK(each.state == CandidateState::REFUSED);
            bool const is_ours = each.backend == "kernels";
            CHECK(each.reason.starts_with(is_ours ? "the engine 'attention' cannot run this graph:\n"
                                                  : "no engine of the backend 'cuDNN' keeps a row's bits the same"));
        }
    }
}

TEST_CASE("a batch-invariant plan's remarks say which settings have no effect", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph plain = graph_of();
    CHECK(candidates_of(plain.set_batch_invariant(true)).find("no effect") == std::string::npos);
    Graph graph = graph_of();
    graph.set_batch_invariant(true).set_shape_policy(ShapePolicy_t::CLASSES).set_rewrites({Rewrite_t::FEW_QUERIES});
    std::string const text = candidates_of(graph);
    for (char const* const what : {"classes of shapes have", "the list of rewrites has"}) {
        CHECK(text.find(std::string(what) + " no effect: with set_batch_invariant(true) the graph is planned for its "
                                            "exact shape, as it is given\n") != std::string::npos);
    }
}

TEST_CASE("a batch-invariant plan with a modifier is stored and loaded, and other plans are refused", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const capped = [](bool is_invariant) {
        Graph graph = graph_of({}, [](Graph&, SDPA_attributes& options) {
            options.set_score_mod(graph::attn::score_modifiers::softcap(30.0f).forward);
        });
        graph.set_batch_invariant(is_invariant);
        REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
        return bytes_of(graph);
    };
    Graph loaded;
    loaded.set_batch_invariant(true);
    CHECK(loaded_from(capped(true), "h200", loaded) == "");
    CHECK(name_of(loaded) == "attention");
    Graph refused;
    refused.set_batch_invariant(true);
    CHECK(loaded_from(capped(false), "h200", refused).find("does not keep a row's bits") != std::string::npos);
}

TEST_CASE("the library's own engine plans every class of columns, masks and lengths", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (auto const& [columns, value_columns] : {std::pair{64, 64}, {40, 64}, {128, 128}, {192, 128}, {256, 256}}) {
        for (DataType_t const type : {DataType_t::BFLOAT16, DataType_t::HALF}) {
            Shape shape;
            shape.columns = columns;
            shape.value_columns = value_columns;
            shape.type = type;
            Graph const graph = built(graph_of(shape));
            CHECK(name_of(graph) == "attention");
            CHECK(graph.get_workspace_size() == 0);
        }
    }
    CHECK(name_of(built(graph_of({}, [](Graph&, SDPA_attributes& options) { options.set_causal_mask(true); }))) ==
          "attention");
    CHECK(name_of(built(graph_of({}, [](Graph&, SDPA_attributes& options) {
              options.set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT)
                  .set_diagonal_band_left_bound(100)
                  .set_diagonal_band_right_bound(0);
          }))) == "attention");
    CHECK(name_of(built(graph_of({}, [](Graph& graph, SDPA_attributes& options) {
              auto const lengths = [&](char const* name) {
                  Tensor_ptr const tensor = input(graph, name, {2, 1, 1, 1});
                  tensor->set_data_type(DataType_t::INT32);
                  return tensor;
              };
              options.set_padding_mask(true).set_seq_len_q(lengths("queries")).set_seq_len_kv(lengths("keys"));
          }))) == "attention");
}

TEST_CASE("a refusal by the library's own engine names every rule", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    CHECK(refused_by(graph_of(), "a100") == "kernels.c03");
    CHECK(refused_by(graph_of(), "b200") == "kernels.c03");
    Shape shape;
    shape.type = DataType_t::FLOAT;
    shape.columns = 100;
    CHECK(refused_by(graph_of(shape), "a100") ==
          "kernels.c03 kernels.c04 kernels.c05 kernels.c06 kernels.c06");  // Q and K
    CHECK(refused_by([](Graph& graph, SDPA_attributes& options) {
              options.set_bias(input(graph, "bias", {1, 1, 512, 512}));
              options.set_attn_scale(-0.5f).set_alibi_mask(true).set_causal_mask(true);
          }) == "kernels.c09");
    CHECK(refused_by([](Graph&, SDPA_attributes& options) { options.set_alibi_mask(true).set_causal_mask(true); }) ==
          "kernels.c22");
    CHECK(refused_by([](Graph& graph, SDPA_attributes& options) {
              Tensor_ptr const seed = input(graph, "seed", {1, 1, 1, 1}), offset = input(graph, "offset", {1, 1, 1, 1});
              for (Tensor_ptr const& number : {seed, offset}) number->set_data_type(DataType_t::INT64);
              options.set_dropout(0.1f, seed, offset);
          }) == "kernels.c25");
    CHECK(refused_by([](Graph&, SDPA_attributes& options) {
              options.set_implementation(AttentionImplementation_t::COMPOSITE);
          }) == "kernels.c01");
    CHECK(refused_by([](Graph&, SDPA_attributes& options) {
              options.set_score_mod([](std::shared_ptr<Graph> graph, Tensor_ptr score) {
                  return graph->pointwise(score, graph::Pointwise_attributes().set_mode(PointwiseMode_t::GELU_FWD));
              });
          }) == "kernels.c18");
}

TEST_CASE("a limit of shared memory bars the engine's classes of columns that need more", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    constexpr std::int64_t kKibibytes = 1 << 10, kLimit = 150 * kKibibytes;
    Shape narrow;
    narrow.columns = narrow.value_columns = 64;
    for (Shape const& shape : {Shape(), narrow}) {
        Graph graph = graph_of(shape);
        graph.deselect_shared_mem_greater_than(kLimit);
        REQUIRE(plan(graph, "h200", {HeurMode_t::OPENSOURCE}).get_message() == "");
        std::string const error = graph.build_plans().get_message();
        INFO(error);
        CHECK(error.empty() == (shape.columns == 64));
        bool const is_named = error.find("attention needs ") != error.npos &&
                              error.find(" bytes of shared memory, more than the limit of 153600") != error.npos;
        CHECK(is_named == (shape.columns == 128));
    }
}

TEST_CASE("a plan of the engine is deterministic where the graph asks for it", "[offline]") {
    for (bool const is_deterministic : {false, true}) {
        Graph graph = built(backward_of({.deterministic = is_deterministic}));
        CHECK(name_of(graph) == "attention");
        bool answer = !is_deterministic;
        REQUIRE(graph.get_is_deterministic(answer).get_message() == "");
        CHECK(answer == is_deterministic);
    }
    Graph without_note = backward_of({.deterministic = true});
    without_note.deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC});
    CHECK(name_of(built(without_note)) == "attention");
}

TEST_CASE("NVRTC compiles the functions of score modifiers", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    using enum PointwiseMode_t;
    Graph const compiled = built(graph_of({}, [](Graph&, SDPA_attributes& options) {
        options.set_score_mod([](std::shared_ptr<Graph> graph, Tensor_ptr score) {
            auto const mode = [](PointwiseMode_t each) { return graph::Pointwise_attributes().set_mode(each); };
            for (PointwiseMode_t const each : {SIN, COS, ABS, SQRT, LOG, EXP, ERF, TANH_FWD, SIGMOID_FWD, RSQRT, FLOOR})
                score = graph->pointwise(score, mode(each));
            for (PointwiseMode_t const each : {MAX, MIN, POW, MOD})
                score = graph->pointwise(score, graph->tensor(2.0f), mode(each));
            return score;
        });
    }));
    CHECK(name_of(compiled) == "attention");
}

TEST_CASE("NVRTC compiles a short tanh next to other steps", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    using enum PointwiseMode_t;
    auto const mode = [](PointwiseMode_t each) { return graph::Pointwise_attributes().set_mode(each); };
    for (PointwiseMode_t const last : {NEG, SIN, ADD, SUB, MAX, POW}) {
        INFO(static_cast<int>(last));
        Graph const compiled = built(graph_of({}, [&](Graph&, SDPA_attributes& options) {
            options.set_score_mod([&](std::shared_ptr<Graph> graph, Tensor_ptr score) {
                Tensor_ptr const half = graph->pointwise(score, graph->tensor(0.5f), mode(MUL));
                Tensor_ptr const bent = graph->pointwise(half, mode(TANH_FWD));
                if (last == NEG || last == SIN) return graph->pointwise(bent, mode(last));
                return graph->pointwise(bent, score, mode(last));
            });
        }));
        CHECK(name_of(compiled) == "attention");
    }
}

TEST_CASE("a score modifier of which cuDNN has no engine is run by the library's own engine", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    using graph::attn::score_modifiers::softcap;
    auto const with = [](detail::Score_modifier const& modifier) {
        return candidates_of(graph_of({}, [&](Graph&, SDPA_attributes& options) { options.set_score_mod(modifier); }));
    };
    // A choice between two numbers that are added to scores.
    std::string const chosen = with([](std::shared_ptr<Graph> graph, Tensor_ptr score) {
        auto const mode = [](PointwiseMode_t each) { return graph::Pointwise_attributes().set_mode(each); };
        Tensor_ptr const head = graph->pointwise(score, mode(PointwiseMode_t::GEN_INDEX).set_axis(1));
        head->set_data_type(DataType_t::INT32);
        Tensor_ptr const is_first = graph->pointwise(head, graph->tensor(1), mode(PointwiseMode_t::CMP_LT));
        is_first->set_data_type(DataType_t::BOOLEAN);
        Tensor_ptr const term =
            graph->pointwise(graph->tensor(1.0f), graph->tensor(2.0f), is_first, mode(PointwiseMode_t::BINARY_SELECT));
        return graph->pointwise(score, term, mode(PointwiseMode_t::ADD));
    });
    INFO(chosen);
    CHECK(chosen.find("candidates:\n  attention ") == 0);
    CHECK(chosen.find("cuDNN refused: ") != chosen.npos);
    std::string const capped = with(softcap(30.0f).forward);
    CHECK(capped.find("candidates:\n  eng") == 0);
    CHECK(capped.find("\n  attention ") != capped.npos);
}

TEST_CASE(
    "modifiers that hide blocks, and gradients of those that read numbers of keys, run on the library's own engine",
    "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    struct Expected {
        char const* name;
        bool is_first_forward, is_first_backward;
    };
    constexpr Expected kExpected[] = {
        {"documents", true, true},           {"documents, capped", true, true},
        {"ALiBi in a window", true, true},   {"penalties of keys", false, true},
        {"noise from a table", false, true}, {"temperature of each head", false, false},
        {"softcap", false, false},
    };
    for (auto const& [name, is_first_forward, is_first_backward] : kExpected) {
        INFO(name);
        auto const* const modifier =
            &*std::ranges::find(sdpa_test::named_modifiers(), std::string(name), &sdpa_test::NamedModifier::name);
        sdpa_test::ModifierProblem problem(modifier, DataType_t::BFLOAT16,
                                           {.heads = 8, .queries = 256, .keys = 256, .columns = 64});
        auto const is_first = [](Graph graph) { return candidates_of(graph).find("candidates:\n  attention ") == 0; };
        CHECK(is_first(problem.forward()) == is_first_forward);
        CHECK(is_first(problem.backward()) == is_first_backward);
    }
}

TEST_CASE("a plan of the library's own engine is stored with its code, and refused for another GPU", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const has_code = [](std::vector<std::uint8_t> const& stored) {
        return std::string(stored.begin(), stored.end()).find(" sm_90a ") != std::string::npos;
    };
    std::vector<std::uint8_t> const bytes = bytes_of(built(graph_of()));
    CHECK(has_code(bytes));
    Graph loaded;
    REQUIRE(loaded_from(bytes, "h200", loaded) == "");
    CHECK(name_of(loaded) == "attention");
    CHECK(has_code(bytes_of(loaded)));
    Stored_plan stored;
    REQUIRE(read_stored_plan(bytes, stored).get_message() == "");
    CHECK(stored.name == "attention");
    CHECK(stored.device == "NVIDIA H200");
    CHECK(stored.kernels == std::vector<std::string>{"attention_forward"});
    Graph elsewhere;
    std::string const refusal = loaded_from(bytes, "a100", elsewhere);
    INFO(refusal);
    CHECK(refusal.find("[kernels.c03]") != refusal.npos);
}

TEST_CASE("a new shape costs the library's own engine no compile", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    constexpr int kShapes = 100;
    static_cast<void>(built(graph_of()));
    std::clock_t const begin = std::clock();  // of this process's own time
    for (int i = 0; i < kShapes; ++i) {
        Shape shape;
        shape.queries = 513 + i;
        shape.keys = 2000 - i;
        shape.batches = 1 + i % 3;
        CHECK(name_of(built(graph_of(shape))) == "attention");
    }
    // A compile takes most of a second.
    CHECK(static_cast<double>(std::clock() - begin) < 5.0 * CLOCKS_PER_SEC);
}
