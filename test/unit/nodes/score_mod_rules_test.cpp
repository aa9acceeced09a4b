// Rules about score modifiers, through the API that makes their nodes.
#include "support/catch.h"
#include "support/small_graph.h"

#include <cudnn_frontend/score_modifiers.h>

#include <cmath>
#include <functional>

using namespace test;
using cudnn_frontend::PointwiseMode_t;
using cudnn_frontend::graph::Matmul_attributes;
using cudnn_frontend::graph::Pointwise_attributes;
using cudnn_frontend::graph::Reduction_attributes;
using cudnn_frontend::graph::SDPA_backward_attributes;
using cudnn_frontend::graph::Tensor_attributes;
using cudnn_frontend::graph::Transpose_attributes;
namespace ready = cudnn_frontend::graph::attn::score_modifiers;
using GraphPtr = std::shared_ptr<Graph>;

namespace {

std::string report_of(SDPA_attributes options) {
    SmallGraph small = small_graph(options.set_name("attention"));
    return small.graph.check().to_text();
}

bool tells(std::string const& report, std::string const& text) {
    bool const is_told = report.find(text) != report.npos;
    if (!is_told) UNSCOPED_INFO(report);
    return is_told;
}

Tensor_ptr exponential(GraphPtr const& graph, Tensor_ptr const& x) {
    return graph->pointwise(x, Pointwise_attributes().set_name("exp").set_mode(PointwiseMode_t::EXP));
}

void add_backward(SmallGraph& small, SDPA_backward_attributes options) {
    auto const gradients =
        small.graph.sdpa_backward(small.q, small.k, small.v, small.graph.tensor(packed_tensor("o", 4, 6, 8)),
                                  small.graph.tensor(packed_tensor("dO", 4, 6, 8)),
                                  small.graph.tensor(packed_tensor("stats", 4, 6, 1)), options.set_name("backward"));
    for (auto const& gradient : gradients) gradient->set_output(true);
}

std::string backward_report(SDPA_backward_attributes const& options) {
    SmallGraph small = small_graph(SDPA_attributes().set_generate_stats(true));
    add_backward(small, options);
    return small.graph.check().to_text();
}

}  // namespace

TEST_CASE("a modifier's nodes are the graph's, run before attention ends, and keep the user's order") {
    SmallGraph small = small_graph(SDPA_attributes().set_name("attention").set_score_mod(ready::causal_mask));
    CHECK(small.graph.check().to_text() == "");
    CHECK(small.graph.print().find("causal_mask_inside") != std::string::npos);
    CHECK(backward_report(SDPA_backward_attributes().set_score_mod(ready::causal_mask)) == "");
    auto const capped = ready::softcap(2.0f);
    CHECK(backward_report(
              SDPA_backward_attributes().set_score_mod(capped.forward).set_score_mod_bprop(capped.backward)) == "");
}

TEST_CASE("no modifier: a null pointer, an empty function, and scores as they are") {
    CHECK(report_of(SDPA_attributes().set_score_mod(nullptr)) == "");
    CHECK(report_of(SDPA_attributes().set_score_mod(std::function<Tensor_ptr(GraphPtr, Tensor_ptr)>())) == "");
    CHECK(report_of(SDPA_attributes().set_score_mod([](GraphPtr, Tensor_ptr score) { return score; })) == "");
}

TEST_CASE("sdpa_fwd.c43 sdpa_bwd.c46: a modifier that returns nothing") {
    auto const nothing = [](GraphPtr, Tensor_ptr) { return Tensor_ptr(); };
    CHECK(tells(report_of(SDPA_attributes().set_score_mod(nothing)),
                "[sdpa_fwd.c43] node 'attention', tensor 'score_mod': found no tensor from the callable of "
                "set_score_mod(); expected what pointwise operations made of the tensor that it got."));
    CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod(nothing)), "[sdpa_bwd.c46]"));
}

TEST_CASE("sdpa_bwd.c46: softcap's backward without its forward") {
    std::string const wanted =
        "found softcap's backward, whose forward this node has not called, for set_score_mod_bprop(); expected forward "
        "and backward of one softcap() on the same node of a graph.";
    auto const one = ready::softcap(2.0f), other = ready::softcap(2.0f);
    CHECK(tells(
        backward_report(SDPA_backward_attributes().set_score_mod(one.forward).set_score_mod_bprop(other.backward)),
        wanted));
    CHECK(report_of(SDPA_attributes().set_score_mod(other.forward)) == "");  // in another graph
    CHECK(tells(backward_report(
                    SDPA_backward_attributes().set_score_mod(ready::causal_mask).set_score_mod_bprop(other.backward)),
                wanted));
}

TEST_CASE("sdpa_bwd.c46: softcap's backward after its forward in another node") {
    auto const capped = ready::softcap(2.0f);
    SmallGraph small = small_graph(SDPA_attributes().set_generate_stats(true));
    add_backward(small, SDPA_backward_attributes().set_score_mod(capped.forward).set_score_mod_bprop(capped.backward));
    CHECK(small.graph.check().to_text() == "");
    add_backward(small,
                 SDPA_backward_attributes().set_score_mod(ready::causal_mask).set_score_mod_bprop(capped.backward));
    CHECK(tells(small.graph.check().to_text(), "found softcap's backward, whose forward this node has not called"));
}

TEST_CASE("sdpa_fwd.c43: what ready modifiers say of arguments that make no sense") {
    auto const tensor = [](std::vector<std::int64_t> const& dim, DataType_t type) {
        return std::make_shared<Tensor_attributes>(Tensor_attributes().set_dim(dim).set_data_type(type));
    };
    auto const integers = [&](std::vector<std::int64_t> const& dim) { return tensor(dim, DataType_t::INT32); };
    auto const slopes = tensor({1, 4, 1, 1}, DataType_t::FLOAT);
    std::pair<cudnn_frontend::detail::Score_modifier, std::string> const cases[] = {
        {ready::softcap(0.0f).forward, "found softcap() with 0, for set_score_mod(); expected a finite cap above 0."},
        {ready::relative_bias(std::nanf("")), "found relative_bias() with nan, for set_score_mod()"},
        {ready::dilated_window(4, 0), "found dilated_window() with a reach of 4 and a dilation of 0"},
        {ready::alibi(nullptr),
         "found no tensor for alibi()'s slopes, for set_score_mod(); expected a tensor {1, Hq, 1, 1}."},
        {ready::alibi(tensor({1, 1, 1, 4}, DataType_t::FLOAT)), "found alibi()'s slopes with dims [1, 1, 1, 4]"},
        {ready::prefix_lm(nullptr), "found no tensor for prefix_lm()'s lengths"},
        {ready::prefix_lm(tensor({2, 1, 1, 1}, DataType_t::FLOAT)), "found prefix_lm()'s lengths of type FLOAT"},
        {ready::document_mask(integers({2, 1, 6, 1}), integers({2, 1, 6, 1})),
         "found document_mask()'s documents of keys with dims [2, 1, 6, 1], for set_score_mod(); expected INT32 or "
         "INT64 {B, 1, 1, Skv}."},
        {ready::document_mask(integers({2, 1, 1, 6}), integers({2, 1, 1, 6})),
         "found document_mask()'s documents of queries with dims [2, 1, 1, 6]"},
    };
    for (auto const& [modifier, wanted] : cases)
        CHECK(tells(report_of(SDPA_attributes().set_score_mod(modifier)), wanted));
    auto const same = integers({2, 1, 1, 1});
    CHECK(tells(report_of(SDPA_attributes().set_score_mod(ready::document_mask(same, same))),
                "found document_mask() with one tensor for queries and keys"));
    auto const both = report_of(
        SDPA_attributes().set_score_mod(ready::chain(ready::softcap(-1.0f).forward, ready::dilated_window(0, 1))));
    CHECK(tells(both, "softcap() with -1"));
    CHECK(tells(both, "dilated_window() with a reach of 0"));
    CHECK(report_of(SDPA_attributes().set_score_mod(ready::alibi(slopes))).find("c43") == std::string::npos);
}

TEST_CASE("sdpa_fwd.c44 sdpa_bwd.c47: a modifier that returns other dims") {
    auto const sum = [](GraphPtr const& graph, Tensor_ptr const& score) {
        auto const options = Reduction_attributes().set_name("sum").set_mode(cudnn_frontend::ReductionMode_t::ADD);
        auto const result = graph->reduction(score, options);
        result->set_dim({2, 4, 6, 1});
        return result;
    };
    CHECK(tells(report_of(SDPA_attributes().set_score_mod(sum)),
                "[sdpa_fwd.c44] node 'attention', tensor 'sum::Y': found a result of set_score_mod() with dims "
                "[2, 4, 6, 1]; expected dims [2, 4, 6, 10], those of the scores."));
    CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod(sum)), "[sdpa_bwd.c47]"));
}

TEST_CASE("sdpa_bwd.c47 sdpa_bwd.c48 sdpa_bwd.c49: a gradient of a modifier that returns what is none of it") {
    auto const with_gradient = [](auto const& of_modifier) {
        return backward_report(
            SDPA_backward_attributes()
                .set_score_mod([](GraphPtr const& graph, Tensor_ptr const& score) { return exponential(graph, score); })
                .set_score_mod_bprop(of_modifier));
    };
    CHECK(tells(with_gradient([](GraphPtr const& graph, Tensor_ptr const& gradient) {
                    auto const options =
                        Reduction_attributes().set_name("sum").set_mode(cudnn_frontend::ReductionMode_t::ADD);
                    auto const result = graph->reduction(gradient, options);
                    result->set_dim({2, 4, 6, 1});
                    return result;
                }),
                "[sdpa_bwd.c47] node 'backward', tensor 'sum::Y': found a result of set_score_mod_bprop() with dims"));
    CHECK(tells(with_gradient([](GraphPtr const& graph, Tensor_ptr const&) {
                    return exponential(graph, graph->tensor(packed_tensor("other", 4, 6, 10)));
                }),
                "[sdpa_bwd.c48] node 'backward', tensor 'exp::OUT_0"));
    CHECK(tells(with_gradient([](GraphPtr const& graph, Tensor_ptr const& gradient) {
                    auto const result = exponential(graph, gradient);
                    result->set_data_type(DataType_t::HALF);
                    return result;
                }),
                "found a result of set_score_mod_bprop() of type HALF; expected FLOAT"));
    CHECK(
        tells(with_gradient([](GraphPtr const&, Tensor_ptr const&) { return Tensor_ptr(); }), "set_score_mod_bprop()"));
    Graph elsewhere;
    auto const foreign = elsewhere.tensor(packed_tensor("foreign", 4, 6, 10));
    CHECK(tells(with_gradient([&](GraphPtr, Tensor_ptr) { return foreign; }),
                "[graph.c02] tensor 'foreign': found a tensor that another graph registered"));
}

TEST_CASE("sdpa_fwd.c45 sdpa_bwd.c48: a modifier that returns what is not made of the scores") {
    auto const other = [](GraphPtr const& graph, Tensor_ptr const&) {
        return exponential(graph, graph->tensor(packed_tensor("other", 4, 6, 10)));
    };
    CHECK(tells(report_of(SDPA_attributes().set_score_mod(other)),
                "[sdpa_fwd.c45] node 'attention', tensor 'exp::OUT_0': found a result of set_score_mod() that is not "
                "made of the tensor it got"));
    CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod(other)), "[sdpa_bwd.c48]"));
    Graph elsewhere;
    auto const foreign = elsewhere.tensor(packed_tensor("foreign", 4, 6, 10));
    CHECK(tells(report_of(SDPA_attributes().set_score_mod([&](GraphPtr, Tensor_ptr) { return foreign; })),
                "[graph.c02] tensor 'foreign': found a tensor that another graph registered; expected a tensor of this "
                "graph. Try: make one here with tensor_like() and pass that."));
}

TEST_CASE("sdpa_fwd.c46 sdpa_bwd.c49: a modifier that returns another type") {
    auto const halves = [](GraphPtr const& graph, Tensor_ptr const& score) {
        auto const result = exponential(graph, score);
        result->set_data_type(DataType_t::HALF);
        return result;
    };
    CHECK(tells(report_of(SDPA_attributes().set_score_mod(halves)),
                "[sdpa_fwd.c46] node 'attention', tensor 'exp::OUT_0': found a result of set_score_mod() of type HALF; "
                "expected FLOAT"));
    CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod(halves)), "[sdpa_bwd.c49]"));
}

TEST_CASE("sdpa_fwd.c47: a modifier under the implementation UNIFIED") {
    CHECK(tells(report_of(SDPA_attributes()
                              .set_score_mod(ready::causal_mask)
                              .set_implementation(cudnn_frontend::AttentionImplementation_t::UNIFIED)),
                "[sdpa_fwd.c47] node 'attention', tensor 'attention::Score': found a score modifier under the "
                "implementation UNIFIED"));
}

TEST_CASE("sdpa_bwd.c50: the gradient of a modifier alone") {
    CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod_bprop(exponential)),
                "[sdpa_bwd.c50] node 'backward', tensor 'backward::dScore': found set_score_mod_bprop() without "
                "set_score_mod()"));
}

TEST_CASE("graph.c25: a modifier that reads what attention makes at last is a cycle") {
    SmallGraph small = small_graph();
    Tensor_ptr o = small.graph.tensor(packed_tensor("later", 4, 6, 10));
    auto const multiply = [&](GraphPtr const& graph, Tensor_ptr const& score) {
        return graph->pointwise(score, o, Pointwise_attributes().set_name("scaled").set_mode(PointwiseMode_t::MUL));
    };
    auto const results =
        small.graph.sdpa(small.q, small.k, small.v, SDPA_attributes().set_name("modified").set_score_mod(multiply));
    results[0]->set_output(true);
    CHECK(small.graph.check().to_text() == "");
    auto const matrix = small.graph.tensor(packed_tensor("matrix", 4, 8, 10));
    auto const product = small.graph.matmul(results[0], matrix, Matmul_attributes().set_name("later"));
    auto const late = [&](GraphPtr const& graph, Tensor_ptr const& score) {
        return graph->pointwise(score, product,
                                Pointwise_attributes().set_name("scaled").set_mode(PointwiseMode_t::MUL));
    };
    auto const second =
        small.graph.sdpa(small.q, small.k, small.v, SDPA_attributes().set_name("second").set_score_mod(late));
    second[0]->set_output(true);
    CHECK(small.graph.check().to_text() == "");  // one attention feeds the next one's modifier
}

TEST_CASE("sdpa_fwd.c44 sdpa_fwd.c46: a modifier that changes the tensor that it gets") {
    auto const changed = [](GraphPtr const& graph, Tensor_ptr const& score) {
        score->set_data_type(DataType_t::INT32).set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1});
        return ready::causal_mask(graph, score);
    };
    std::string const report = report_of(SDPA_attributes().set_score_mod(changed));
    CHECK(tells(report, "[sdpa_fwd.c44] node 'attention', tensor 'attention::Score'"));
    CHECK(tells(report, "[sdpa_fwd.c46] node 'attention', tensor 'attention::Score': found scores of type INT32"));
}

TEST_CASE("sdpa_bwd.c56: a modifier that multiplies, without its gradient") {
    CHECK(
        tells(backward_report(SDPA_backward_attributes().set_score_mod(ready::softcap(2.0f).forward)),
              "[sdpa_bwd.c56] node 'backward', tensor 'softcap_scores::OUT_0': found a modifier with the operation DIV "
              "in 'softcap_before_tanh', and no gradient for it"));
    auto const turned = [](GraphPtr const& graph, Tensor_ptr const& score) {
        return graph->transpose(score, Transpose_attributes().set_name("turned").set_permutation({0, 1, 2, 3}));
    };
    CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod(turned)),
                "found a modifier with the operation TRANSPOSE in 'turned', and no gradient for it"));
    auto const doubled = [](GraphPtr const& graph, Tensor_ptr const& score) {
        return graph->pointwise(score, score, Pointwise_attributes().set_name("sum").set_mode(PointwiseMode_t::ADD));
    };
    CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod(doubled)), "[sdpa_bwd.c56]"));
    for (auto const& added : {ready::relative_bias(0.5f), ready::dilated_window(3, 2),
                              ready::chain(ready::relative_bias(0.5f), ready::causal_mask)}) {
        CHECK(backward_report(SDPA_backward_attributes().set_score_mod(added)) == "");
    }
}

TEST_CASE("sdpa_bwd.c56: selecting in place of scores, without its gradient, is right where it hides them") {
    auto const selecting = [](float number) {
        return [number](GraphPtr const& graph, Tensor_ptr const& score) {
            auto const mode = [](PointwiseMode_t chosen) { return Pointwise_attributes().set_mode(chosen); };
            Tensor_ptr const zero = graph->tensor(0.0f), other = graph->tensor(number);
            Tensor_ptr const is_positive = graph->pointwise(score, zero, mode(PointwiseMode_t::CMP_GT));
            is_positive->set_data_type(DataType_t::BOOLEAN);
            return graph->pointwise(score, other, is_positive, mode(PointwiseMode_t::BINARY_SELECT).set_name("chosen"));
        };
    };
    for (float const shown : {0.0f, -100.0f, 1e9f}) {  // 0: the rectified score, whose slope is 0 or 1
        CHECK(tells(backward_report(SDPA_backward_attributes().set_score_mod(selecting(shown))),
                    "found a modifier with the operation BINARY_SELECT in 'chosen', and no gradient for it; expected "
                    "set_score_mod_bprop() where a modifier does more than add to scores or select -infinity, or a "
                    "number of -10000 or less, in their place."));
    }
    for (float const hidden : {-INFINITY, -1e4f, -1e9f}) {
        CHECK(backward_report(SDPA_backward_attributes().set_score_mod(selecting(hidden))) == "");
    }
    auto const of_heads = [](GraphPtr const& graph, Tensor_ptr const& score) {  // numbers that the graph does not know
        Tensor_ptr const fill = graph->tensor(Tensor_attributes()
                                                  .set_name("fill")
                                                  .set_dim({1, 4, 1, 1})
                                                  .set_stride({4, 1, 1, 1})
                                                  .set_data_type(DataType_t::FLOAT));
        Tensor_ptr const is_positive =
            graph->pointwise(score, graph->tensor(0.0f), Pointwise_attributes().set_mode(PointwiseMode_t::CMP_GT));
        is_positive->set_data_type(DataType_t::BOOLEAN);
        return graph->pointwise(score, fill, is_positive,
                                Pointwise_attributes().set_mode(PointwiseMode_t::BINARY_SELECT));
    };
    CHECK(backward_report(SDPA_backward_attributes().set_score_mod(of_heads)) == "");
}

TEST_CASE("ready modifiers return none for null tensors, one tensor as two, and numbers that make no sense") {
    Tensor_ptr const documents = std::make_shared<Tensor_attributes>();
    auto const window = [](std::int64_t left, std::int64_t right) {
        return [=](GraphPtr const& graph, Tensor_ptr const& score) {
            return ready::sliding_window_mask(graph, score, cudnn_frontend::DiagonalAlignment_t::TOP_LEFT, left, right,
                                              6, 10, nullptr, nullptr);
        };
    };
    cudnn_frontend::detail::Score_modifier const refused[] = {ready::alibi(nullptr),
                                                              ready::prefix_lm(nullptr),
                                                              ready::document_mask(nullptr, documents),
                                                              ready::document_mask(documents, documents),
                                                              ready::dilated_window(0, 1),
                                                              ready::dilated_window(1, 0),
                                                              ready::softcap(0.0f).forward,
                                                              ready::softcap(-3.0f).forward,
                                                              ready::softcap(std::nanf("")).forward,
                                                              window(0, 0),
                                                              window(1, -1)};
    for (auto const& modifier : refused) {
        CHECK(tells(report_of(SDPA_attributes().set_score_mod(modifier)), "[sdpa_fwd.c43]"));
    }
    // Bounds past all scores mask nothing, whatever their size.
    CHECK(report_of(SDPA_attributes().set_score_mod(window(std::int64_t{1} << 32, INT64_MAX))) == "");
}

TEST_CASE("a modifier may read other attention with a modifier of its own, which may not read the scores") {
    auto const message_of = [](bool reads_scores) {
        SmallGraph small = small_graph();
        auto const nested = [&](GraphPtr const& graph, Tensor_ptr const& score) {
            auto const queries = reads_scores ? score : graph->tensor(packed_tensor("inner Q", 4, 6, 10));
            auto const values = graph->tensor(packed_tensor("inner V", 4, 8, 10));
            auto const keys = graph->tensor(packed_tensor("inner K", 4, 8, 10));
            auto const options = SDPA_attributes().set_name("inner").set_score_mod(ready::causal_mask);
            auto const result = graph->sdpa(queries, keys, values, options)[0];
            return graph->pointwise(score, result,
                                    Pointwise_attributes().set_name("sum").set_mode(PointwiseMode_t::ADD));
        };
        auto const options = SDPA_attributes().set_name("outer").set_score_mod(nested);
        small.graph.sdpa(small.q, small.k, small.v, options)[0]->set_output(true);
        return small.graph.build(cudnn_frontend::Target::cpu()).get_message();
    };
    CHECK(message_of(false) == "");
    CHECK_THAT(message_of(true),
               Catch::Contains(
                   "[graph.c25] node 'inner': found nodes that read each other's results: inner <- outer <- inner") &&
                   Catch::Contains("move attention that reads the scores"));
}
