// The library's own engine among cuDNN's: which of them a graph is offered first.
#include "lowering/attention_engine_graphs.h"
#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace engine_graphs;
using sdpa_test::name_of;
using sdpa_test::names_of;

namespace {

// Whether the library's own engine is the first candidate, and the list says that it is faster for that reason.
bool is_first_since(std::string const& reason, Graph const& graph) {
    std::string const text = candidates_of(graph);
    INFO(text);
    bool const is_ours = text.find("candidates:\n  attention ") == 0;
    CHECK(is_ours == (text.find("come first, which are faster for such graphs: " + reason + "\n") != text.npos));
    return is_ours;
}

}  // namespace

TEST_CASE("a bias that the copy engine moves is run by the library's own engine first, in every pass", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const check_first = [](Graph const& graph) {
        std::string const text = candidates_of(graph);
        INFO(text);
        CHECK(text.find("candidates:\n  attention ") == 0);
        CHECK(text.find("\n  eng") != text.npos);
        CHECK(
            text.find("engines of the backend 'kernels' come first, which are faster for such graphs: the copy engine "
                      "moves the tiles of their bias\n") != text.npos);
    };
    for (Dims const& dims : {Dims{2, 4, 512, 512}, Dims{1, 4, 512, 512}, Dims{2, 1, 512, 512}}) {
        check_first(biased(dims));
        check_first(backward_of({.bias = dims}));
    }
    check_first(backward_of({.gradient = {2, 4, 512, 512}}));
    check_first(backward_of({.gradient = {2, 4, 512, 512}, .deterministic = true}));
    Shape narrow;
    narrow.columns = narrow.value_columns = 64;
    check_first(biased({2, 4, 512, 512}, narrow, DataType_t::HALF));
    Graph by_default = biased({2, 4, 512, 512});
    REQUIRE(by_default.build(Target::offline("h100")).get_message() == "");
    CHECK(name_of(by_default) == "attention");
}

TEST_CASE("cuDNN's engines run other biases, and the refusal says which forms are fast", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const check_refused = [](Graph const& graph, std::string const& rule) {
        std::string const text = candidates_of(graph);
        INFO(text);
        CHECK(text.find("candidates:\n  eng") == 0);
        CHECK(text.find("\n  kernels refused: the engine 'attention' cannot run this graph:\n") != text.npos);
        CHECK(ids_in(text) == rule);
    };
    std::string const form = "kernels.c23";
    check_refused(biased({2, 4, 512, 512}, {}, DataType_t::FLOAT), form);
    check_refused(biased({2, 4, 1, 512}), form);
    check_refused(backward_of({.bias = {2, 4, 1, 512}}), form);
    check_refused(backward_of({.gradient = {1, 4, 512, 512}}), form);
    check_refused(backward_of({.gradient = {1, 4, 512, 512}, .deterministic = true}), "kernels.c17 kernels.c23");
    Shape odd;
    odd.keys = 515;
    check_refused(biased({2, 4, 512, 515}, odd), form);
    Shape wide;
    wide.columns = wide.value_columns = 256;
    check_refused(biased({2, 4, 512, 512}, wide), form);
    Shape decoding;
    decoding.queries = 1;
    check_refused(biased({2, 4, 1, 512}, decoding), form);
    check_refused(graph_of({},
                           [](Graph& graph, SDPA_attributes& options) {
                               options.set_bias(input(graph, "bias", {2, 4, 512, 512}));
                               options.set_dropout(0.1f, input(graph, "seed", {1, 1, 1, 1}, DataType_t::INT64),
                                                   input(graph, "offset", {1, 1, 1, 1}, DataType_t::INT64));
                           }),
                  "kernels.c25");
}

TEST_CASE("a sigmoid of scores is run by the library's own engine first, and a softcap is not", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    using Tensor = std::shared_ptr<graph::Tensor_attributes>;
    using enum PointwiseMode_t;
    auto const is_first = [](Graph const& graph) {
        return is_first_since("the sigmoid of their scores needs less time", graph);
    };
    auto const apply = [](PointwiseMode_t function) {
        return [function](std::shared_ptr<Graph> graph, Tensor score) {
            return graph->pointwise(score, graph::Pointwise_attributes().set_mode(function));
        };
    };
    auto const forward = [&](PointwiseMode_t function, std::int64_t queries, bool has_bias = false) {
        Shape shape;
        shape.queries = queries;
        return graph_of(shape, [&](Graph& graph, SDPA_attributes& options) {
            options.set_score_mod(apply(function));
            if (has_bias) options.set_bias(input(graph, "bias", {2, 4, queries, 512}));
        });
    };
    CHECK(is_first(forward(SIGMOID_FWD, 512)));
    CHECK_FALSE(is_first(forward(SIGMOID_FWD, 1)));
    CHECK_FALSE(is_first(forward(SIGMOID_FWD, 512, true)));
    CHECK_FALSE(is_first(forward(TANH_FWD, 512)));

    auto const backward = [&](PointwiseMode_t function, PointwiseMode_t gradient) {
        auto const score = std::make_shared<Tensor>();
        return backward_of({.bias = {}, .change = [=](graph::SDPA_backward_attributes& options) {
                                options.set_score_mod([=](std::shared_ptr<Graph> graph, Tensor of) {
                                    *score = of;
                                    return apply(function)(graph, of);
                                });
                                options.set_score_mod_bprop([=](std::shared_ptr<Graph> graph, Tensor of) {
                                    return graph->pointwise(of, *score,
                                                            graph::Pointwise_attributes().set_mode(gradient));
                                });
                            }});
    };
    CHECK(is_first(backward(SIGMOID_FWD, SIGMOID_BWD)));
    CHECK_FALSE(is_first(backward(TANH_FWD, TANH_BWD)));
}

TEST_CASE("backward of many rows is run by the library's own engine first where it is faster", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const is_first = [](Shape const& shape, std::optional<int> right = {}, std::optional<int> left = {}) {
        return is_first_since("their gradients need less time where a causal mask is the only option, or there is none",
                              backward_of({.bias = {}, .left = left, .right = right}, shape));
    };
    Shape const many{.batches = 2, .heads = 16, .key_heads = 16, .queries = 2048, .keys = 2048};
    CHECK(is_first(many));
    CHECK(is_first(many, 0));
    CHECK_FALSE(is_first(many, 0, 256));
    Shape grouped = many;
    grouped.key_heads = 4;
    CHECK_FALSE(is_first(grouped));
    CHECK_FALSE(is_first(grouped, 0));  // 128 tiles of keys, and multiprocessors have two from 264 on
    grouped.batches = 5;
    CHECK(is_first(grouped, 0));
    CHECK_FALSE(is_first(grouped));
    grouped.key_heads = 1;
    grouped.batches = 17;
    CHECK_FALSE(is_first(grouped, 0));
    Shape few = many;
    few.queries = 1024;
    CHECK_FALSE(is_first(few));
    CHECK(is_first(few, 0));
    few.queries = 1023;
    CHECK_FALSE(is_first(few, 0));
    Shape padded = many;
    padded.columns = padded.value_columns = 96;
    CHECK_FALSE(is_first(padded));
    Shape wide = many;
    wide.columns = 192;
    CHECK(is_first(wide));
    CHECK_FALSE(is_first(wide, 0));
    wide.columns = wide.value_columns = 256;
    CHECK(is_first(wide));
    CHECK(is_first(wide, 0));
    wide.keys = 2047;
    CHECK_FALSE(is_first(wide, 0));
}

static char const* const kReasonOfForward =
    "they need less time for long sequences where a causal mask is the only option, or there is none";

TEST_CASE("forward of many rows is run by the library's own engine first where it is faster", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    enum class Mask { None, Causal, Window, Ahead };
    auto const is_first = [](
                              Shape const& shape, Mask mask, Change const& change = [](Graph&, SDPA_attributes&) {}) {
        auto const with_mask = [&](Graph& graph, SDPA_attributes& options) {
            if (mask != Mask::None) options.set_diagonal_band_right_bound(mask == Mask::Ahead ? 1 : 0);
            if (mask == Mask::Window) options.set_diagonal_band_left_bound(256);
            change(graph, options);
        };
        return is_first_since(kReasonOfForward, graph_of(shape, with_mask));
    };
    auto const shape_of = [](std::int64_t rows, std::int64_t columns, std::int64_t value_columns) {
        return Shape{.batches = 2,
                     .heads = 16,
                     .queries = rows,
                     .keys = rows,
                     .columns = columns,
                     .value_columns = value_columns};
    };
    Shape const usual = shape_of(2048, 128, 128);
    CHECK(is_first(usual, Mask::Causal));
    CHECK_FALSE(is_first(shape_of(2047, 128, 128), Mask::Causal));
    CHECK_FALSE(is_first(usual, Mask::Window));
    CHECK_FALSE(is_first(usual, Mask::Ahead));
    CHECK(is_first(shape_of(8192, 128, 128), Mask::None));
    CHECK_FALSE(is_first(shape_of(8191, 128, 128), Mask::None));
    Shape few_tiles = shape_of(8192, 128, 128);
    few_tiles.batches = 1;
    few_tiles.heads = 6;  // 384 tiles: fewer than three rounds of 132
    CHECK_FALSE(is_first(few_tiles, Mask::None));
    CHECK_FALSE(is_first(shape_of(2048, 120, 120), Mask::Causal));
    Shape more_keys = usual;
    more_keys.keys = 4096;
    CHECK_FALSE(is_first(more_keys, Mask::Causal));
    CHECK_FALSE(is_first(usual, Mask::Causal, [&](Graph& graph, SDPA_attributes& options) {
        options.set_sink_token(input(graph, "sink", {1, usual.heads, 1, 1}, DataType_t::FLOAT));
    }));
    CHECK_FALSE(is_first(usual, Mask::Causal, [&](Graph& graph, SDPA_attributes& options) {
        Dims const rows{2, usual.heads, 2048, 1};
        options.set_generate_stats(false);
        options.set_logit_max(graph.tensor(input(graph, "max", rows, DataType_t::FLOAT)->set_output(true)));
        options.set_score_sum_exp(graph.tensor(input(graph, "sum", rows, DataType_t::FLOAT)->set_output(true)));
    }));
    CHECK_FALSE(is_first(usual, Mask::Causal, [](Graph& graph, SDPA_attributes& options) {
        options.set_padding_mask(true);
        options.set_seq_len_q(input(graph, "queries", {2, 1, 1, 1}, DataType_t::INT32));
        options.set_seq_len_kv(input(graph, "keys", {2, 1, 1, 1}, DataType_t::INT32));
    }));
    CHECK(is_first(shape_of(3000, 64, 64), Mask::Causal));
    CHECK_FALSE(is_first(shape_of(2999, 64, 64), Mask::Causal));
    CHECK(is_first(shape_of(1024, 192, 128), Mask::Causal));
    CHECK(is_first(shape_of(2048, 256, 256), Mask::Causal));
    CHECK(is_first(shape_of(2048, 256, 256), Mask::None));
}

// Seven rounds of 132 tiles for 64 columns, three for others.
TEST_CASE("forward without a mask is run by the library's own engine first where it has many tiles", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const is_first = [](std::int64_t batches, std::int64_t queries, std::int64_t keys, std::int64_t columns) {
        Shape const shape{.batches = batches,
                          .heads = 16,
                          .queries = queries,
                          .keys = keys,
                          .columns = columns,
                          .value_columns = columns == 64 ? 64 : 128};
        return is_first_since(kReasonOfForward, graph_of(shape));
    };
    CHECK(is_first(6, 2048, 2048, 64));
    CHECK_FALSE(is_first(5, 2048, 2048, 64));
    CHECK(is_first(4, 1024, 1024, 192));
    CHECK_FALSE(is_first(3, 1024, 1024, 192));
    CHECK_FALSE(is_first(4, 1023, 1024, 192));
    // Programs in splits of the keys are faster where tiles are few and keys many.
    CHECK_FALSE(is_first(1, 1024, 16384, 192));
}

TEST_CASE("explain() expects cuDNN's time of cuDNN's first engine, also behind the library's own", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Shape const many{.batches = 2, .heads = 16, .key_heads = 16, .queries = 2048, .keys = 2048};
    auto const all = backward_of({.bias = {}}, many).explain(Target::offline("h100")).candidates.candidates;
    REQUIRE(all.size() >= 2);
    CHECK(all[0].name == "attention");
    CHECK(all[0].estimated_us == 0.0);
    CHECK(all[1].backend == "cuDNN");
    CHECK(all[1].estimated_us > 0.0);
}

TEST_CASE("explain() expects the time of the library's own engine where its tiles were measured", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Shape const large{.batches = 2, .heads = 16, .key_heads = 16, .queries = 8192, .keys = 8192};
    auto const all = backward_of({.bias = {}}, large).explain(Target::offline("h200")).candidates.candidates;
    REQUIRE(all.size() >= 2);
    CHECK(all[0].name == "attention");
    CHECK(all[0].estimated_us == Approx(4436).epsilon(0.02));  // docs/performance.md
    CHECK(all[1].backend == "cuDNN");
    CHECK(all[1].estimated_us > all[0].estimated_us);
}

TEST_CASE("a bias whose tiles do not fill the GPU stays behind cuDNN's engines", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Shape small;
    small.batches = 1;
    small.queries = 256;
    small.keys = 4096;
    std::string const text = candidates_of(biased({1, 4, 256, 4096}, small));
    INFO(text);
    CHECK(text.find("candidates:\n  eng") == 0);
    CHECK(text.find("\n  attention ") != text.npos);
    CHECK(text.find("come first") == text.npos);
}

TEST_CASE("programs that the caller lists come before an engine that is faster for the graph", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph graph = backward_of({.gradient = {2, 4, 512, 512}});
    graph.set_rewrites({Rewrite_t::SLICES});
    std::vector<std::string> const names = names_of(graph);
    CHECK(names.front().starts_with("program slices("));
    auto const is_of_cudnn = [](std::string const& name) { return name.starts_with("eng"); };
    CHECK(std::ranges::find(names, "attention") < std::ranges::find_if(names, is_of_cudnn));
}

TEST_CASE("a program whose attentions run on the library's own engine runs on cuDNN's where that is deselected",
          "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph graph =
        backward_of({.bias = {}}, {.batches = 2, .heads = 16, .key_heads = 16, .queries = 2048, .keys = 2048});
    graph.set_rewrites({Rewrite_t::SLICES});
    REQUIRE(plan(graph, "h200", {HeurMode_t::A}).get_message() == "");
    std::vector<std::string> const all = names_of(graph);
    REQUIRE(all.front() == "program slices(2): attention");
    graph.deselect_engines({"attention"});
    REQUIRE(graph.check_support().get_message() == "");
    Plan_candidates list;
    REQUIRE(graph.get_candidates(list).get_message() == "");
    REQUIRE(list.candidates.size() >= all.size());
    CHECK(list.candidates.front().name.starts_with("program slices(2): eng"));
    CHECK(list.candidates.front().reason == "");
    REQUIRE(graph.build_plans().get_message() == "");
    CHECK(name_of(graph) == list.candidates.front().name);
    std::string name;
    REQUIRE(graph.get_plan_name_at_index(0, name).get_message() == "");
    CHECK(name == name_of(graph));
}

TEST_CASE("filters bar the library's own engine by its notes, its name and its shared memory", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const refusal_by = [](auto const& filter) {
        Graph graph = graph_of();
        REQUIRE(plan(graph, "h200", {HeurMode_t::OPENSOURCE}).get_message() == "");
        filter(graph);
        return graph.check_support().get_message();
    };
    CHECK(refusal_by([](Graph& graph) { graph.deselect_engines({"eng"}); }) == "");
    CHECK(refusal_by([](Graph& graph) { graph.deselect_engines({"attention"}); }).find("the deselected name") !=
          std::string::npos);
    CHECK(refusal_by([](Graph& graph) { graph.deselect_numeric_notes({NumericalNote_t::TENSOR_CORE}); }) != "");
    CHECK(refusal_by([](Graph& graph) { graph.deselect_shared_mem_greater_than(193 << 10); }) == "");
    CHECK(refusal_by([](Graph& graph) {
              graph.deselect_shared_mem_greater_than(192 << 10);
          }).find("197632 bytes of shared memory, more than the limit of 196608") != std::string::npos);
}
