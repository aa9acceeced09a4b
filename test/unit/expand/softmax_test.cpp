// A sink in the softmax, its gradient, and the outputs that softmax has besides the log-sum-exp.
#include "attention_graphs.h"
#include "support/catch.h"

#include <algorithm>

using namespace test;
using Lines = std::vector<std::string>;

namespace {

AttentionGraph with_sink(AttentionGraph graph) {
    return graph.connect(Port::SinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
}

AttentionGraph asking_for(std::initializer_list<int> ports) {
    auto graph = AttentionGraph::forward();
    for (int const port : ports) graph.connect(port, DataType_t::FLOAT, {2, 4, 6, 1});
    return graph;
}

bool has(Lines const& lines, std::string const& part) {
    return std::any_of(lines.begin(), lines.end(), [&](auto const& line) { return line.find(part) != line.npos; });
}

}  // namespace

TEST_CASE("A sink joins the maximum and the sum of each row", "[expand]") {
    ir::OpGraph const graph = composite(with_sink(AttentionGraph::forward().stats()));
    CHECK(steps(graph) == Lines{
                              "scores = MATMUL(Q, K^T)",
                              "key_max = REDUCE_MAX(scores)",
                              "softmax_max = MAX(key_max, sink_token)",
                              "shifted_scores = SUB(scores, softmax_max)",
                              "exponentials = EXP(shifted_scores)",
                              "key_sum = REDUCE_ADD(exponentials)",
                              "shifted_sink = SUB(sink_token, softmax_max)",
                              "sink_exponential = EXP(shifted_sink)",
                              "softmax_sum = ADD(key_sum, sink_exponential)",
                              "softmax_log_sum = LOG(softmax_sum)",
                              "Stats = ADD(softmax_log_sum, softmax_max)",
                              "probabilities:HALF = DIV(exponentials, softmax_sum)",
                              "O:HALF = MATMUL(probabilities, V)",
                          });
}

TEST_CASE("The gradient of a sink branches off where the row products are summed", "[expand]") {
    auto attention = with_sink(AttentionGraph::backward());
    attention.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    ir::OpGraph const graph = composite(attention);
    Lines const lines = steps(graph);
    CHECK(Lines(lines.begin(), lines.begin() + 7) == Lines{
                                                         "gradient_times_output = MUL(dO, O)",
                                                         "row_dot = REDUCE_ADD(gradient_times_output)",
                                                         "shifted_sink = SUB(sink_token, Stats)",
                                                         "sink_probability = EXP(shifted_sink)",
                                                         "sink_probability_times_dot = MUL(sink_probability, row_dot)",
                                                         "sink_weight = REDUCE_ADD(sink_probability_times_dot)",
                                                         "dSink_token = NEG(sink_weight)",
                                                     });
    auto const sums = bodies<ir::ReductionOp>(graph);
    REQUIRE(sums.size() == 2);
    CHECK(sums[1].rows == ir::kNoValue);
}

TEST_CASE("The gradient of a sink is a sum over the rows of each sequence", "[expand]") {
    auto attention = with_sink(AttentionGraph::backward().padding());
    attention.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    ir::OpGraph const graph = composite(attention);
    auto const sums = bodies<ir::ReductionOp>(graph);
    REQUIRE(sums.size() == 2);
    CHECK(sums[0].rows == ir::kNoValue);
    CHECK(graph.value(sums[1].rows).name == "seq_len_q");
}

TEST_CASE("Backward with a sink but without its gradient is as without a sink", "[expand]") {
    CHECK(steps(composite(with_sink(AttentionGraph::backward()))) == steps(composite(AttentionGraph::backward())));
}

TEST_CASE("The logarithm is there for Stats alone", "[expand]") {
    Lines const both = steps(composite(asking_for({Port::Max, Port::SumExp})));
    CHECK(both == Lines{
                      "scores = MATMUL(Q, K^T)",
                      "Max = REDUCE_MAX(scores)",
                      "shifted_scores = SUB(scores, Max)",
                      "exponentials = EXP(shifted_scores)",
                      "Sum_exp = REDUCE_ADD(exponentials)",
                      "probabilities:HALF = DIV(exponentials, Sum_exp)",
                      "O:HALF = MATMUL(probabilities, V)",
                  });
    CHECK(has(steps(composite(asking_for({Port::Max}))), "softmax_sum = REDUCE_ADD"));
    CHECK_FALSE(has(steps(composite(asking_for({Port::Max}))), "LOG"));
    Lines const all = steps(composite(asking_for({Port::Max, Port::SumExp}).stats()));
    CHECK(has(all, "softmax_log_sum = LOG(Sum_exp)"));
    CHECK(has(all, "Stats = ADD(softmax_log_sum, Max)"));
}

TEST_CASE("Fused attention has a place for each of them", "[expand]") {
    auto forward = with_sink(asking_for({Port::Max, Port::SumExp}));
    ir::OpGraph const graph = fused(forward);
    auto const ops = bodies<ir::SdpaForwardOp>(graph);
    REQUIRE(ops.size() == 1);
    CHECK(graph.value(ops[0].operands[Port::SinkToken]).name == "sink_token");
    CHECK(graph.value(ops[0].operands[Port::Max]).name == "Max");
    CHECK(graph.value(ops[0].operands[Port::SumExp]).name == "Sum_exp");
    auto backward = with_sink(AttentionGraph::backward());
    CHECK(bodies<ir::SdpaBackwardOp>(fused(backward))[0].operands[Port::SinkToken] == ir::kNoValue);
    backward.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    ir::OpGraph const back = fused(backward);
    auto const gradients = bodies<ir::SdpaBackwardOp>(back);
    REQUIRE(gradients.size() == 1);
    CHECK(back.value(gradients[0].operands[Port::SinkToken]).name == "sink_token");
    CHECK(back.value(gradients[0].operands[Port::DSinkToken]).name == "dSink_token");
}

TEST_CASE("Stats in base 2 are natural ones times a number, and become natural ones again", "[expand]") {
    auto forward = AttentionGraph::forward().stats();
    auto backward = with_sink(AttentionGraph::backward());
    backward.connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    forward.fields().stats_use_log2 = backward.fields().stats_use_log2 = true;
    Lines const of_forward = steps(composite(forward)), of_backward = steps(composite(backward));
    CHECK(has(of_forward, "stats = ADD(softmax_log_sum, softmax_max)"));
    CHECK(has(of_forward, "Stats = MUL(stats, per_ln_2)"));
    CHECK(has(of_backward, "shifted_sink = SUB(sink_token, natural_stats)"));
    CHECK(has(of_backward, "shifted_scores = SUB(scores, natural_stats)"));
    CHECK(std::count(of_backward.begin(), of_backward.end(), "natural_stats = MUL(Stats, ln_2)") == 1);
    CHECK(std::get<ir::SdpaForwardOp>(fused(forward).ops()[0].body).options.stats_in_base_2);
    CHECK(std::get<ir::SdpaBackwardOp>(fused(backward).ops()[0].body).options.stats_in_base_2);
}

TEST_CASE("Without Stats their base changes nothing", "[expand]") {
    auto plain = AttentionGraph::forward(), in_base_2 = plain;
    in_base_2.fields().stats_use_log2 = true;
    CHECK(ir::same_work(composite(plain), composite(in_base_2)));
    CHECK(ir::same_work(fused(plain), fused(in_base_2)));
}
