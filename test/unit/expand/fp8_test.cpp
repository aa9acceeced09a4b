// The operations of 8-bit attention: where numbers are multiplied, and where they become narrow.
#include "attention_graphs.h"

#include "core/data_type.h"
#include "support/catch.h"

#include <algorithm>

using namespace test;
using Lines = std::vector<std::string>;

TEST_CASE("8-bit forward attention", "[expand]") {
    CHECK(steps(composite(
              AttentionGraph::forward().fp8().scale(0.5f).stats().band(DiagonalAlignment_t::TOP_LEFT, {}, 0))) ==
          Lines{
              "scores = MATMUL(Q, K^T)",
              "scaled_scores = MUL(scores, scale)",
              "scores_by_descale_q = MUL(scaled_scores, descale_q)",
              "scores_by_descale_k = MUL(scores_by_descale_q, descale_k)",
              "right_bound_row:INT32 = GEN_INDEX(scores_by_descale_k)",
              "right_bound_column:INT32 = GEN_INDEX(scores_by_descale_k)",
              "right_bound_inside:BOOLEAN = CMP_GE(right_bound_row, right_bound_column)",
              "right_bound_scores = BINARY_SELECT(scores_by_descale_k, right_bound_fill, right_bound_inside)",
              "softmax_max = REDUCE_MAX(right_bound_scores)",
              "shifted_scores = SUB(right_bound_scores, softmax_max)",
              "exponentials = EXP(shifted_scores)",
              "softmax_sum = REDUCE_ADD(exponentials)",
              "softmax_log_sum = LOG(softmax_sum)",
              "Stats = ADD(softmax_log_sum, softmax_max)",
              "probabilities = DIV(exponentials, softmax_sum)",
              "amax_s = REDUCE_AMAX(probabilities)",
              "narrow_probabilities:FP8_E4M3 = MUL(probabilities, scale_s)",
              "weighed_values = MATMUL(narrow_probabilities, V)",
              "weighed_values_by_descale_s = MUL(weighed_values, descale_s)",
              "weighed_values_by_descale_v = MUL(weighed_values_by_descale_s, descale_v)",
              "amax_o = REDUCE_AMAX(weighed_values_by_descale_v)",
              "O:FP8_E4M3 = MUL(weighed_values_by_descale_v, scale_o)",
          });
}

TEST_CASE("8-bit attention drops wide probabilities, and knows its factors", "[expand]") {
    auto const lines = steps(composite(AttentionGraph::forward().fp8().dropout(0.25f)));
    auto const count = [&](std::string const& line) { return std::count(lines.begin(), lines.end(), line); };
    CHECK(count("dropped_probabilities = MUL(kept_probabilities, dropout_scale)") == 1);
    CHECK(count("amax_s = REDUCE_AMAX(dropped_probabilities)") == 1);
    CHECK(count("narrow_probabilities:FP8_E4M3 = MUL(dropped_probabilities, scale_s)") == 1);
    ir::OpGraph const graph = composite(AttentionGraph::forward().fp8().scale(0.5f));
    for (char const* const factor : {"descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o"}) {
        CHECK(find_value(graph, factor).is_factor);
    }
    CHECK_FALSE(find_value(graph, "amax_s").is_factor);
    CHECK_FALSE(find_value(graph, "scale").is_factor);
}

TEST_CASE("8-bit backward attention, with grouped heads and lengths", "[expand]") {
    auto attention = AttentionGraph::backward().heads(2, 4).fp8().scale(0.5f);
    CHECK(steps(composite(attention)) ==
          Lines{
              "gradient_times_output = MUL(dO, O)",
              "row_dot = REDUCE_ADD(gradient_times_output)",
              "row_dot_by_descale_dO = MUL(row_dot, descale_dO)",
              "row_dot_by_descale_o = MUL(row_dot_by_descale_dO, descale_o)",
              "scores = MATMUL(Q, K^T)",
              "scaled_scores = MUL(scores, scale)",
              "scores_by_descale_q = MUL(scaled_scores, descale_q)",
              "scores_by_descale_k = MUL(scores_by_descale_q, descale_k)",
              "shifted_scores = SUB(scores_by_descale_k, Stats)",
              "probabilities = EXP(shifted_scores)",
              "narrow_probabilities:FP8_E4M3 = MUL(probabilities, scale_s)",
              "transposed_probabilities:FP8_E4M3 = RESHAPE(narrow_probabilities)",
              "wide_dV = MATMUL(transposed_probabilities, dO)",
              "wide_dV_by_descale_s = MUL(wide_dV, descale_s)",
              "wide_dV_by_descale_dO = MUL(wide_dV_by_descale_s, descale_dO)",
              "amax_dV = REDUCE_AMAX(wide_dV_by_descale_dO)",
              "dV:FP8_E4M3 = MUL(wide_dV_by_descale_dO, scale_dV)",
              "probability_gradients = MATMUL(dO, V^T)",
              "probability_gradients_by_descale_dO = MUL(probability_gradients, descale_dO)",
              "probability_gradients_by_descale_v = MUL(probability_gradients_by_descale_dO, descale_v)",
              "centered_gradients = SUB(probability_gradients_by_descale_v, row_dot_by_descale_o)",
              "score_gradients = MUL(centered_gradients, probabilities)",
              "scaled_score_gradients = MUL(score_gradients, scale)",
              "amax_dP = REDUCE_AMAX(scaled_score_gradients)",
              "narrow_score_gradients:FP8_E5M2 = MUL(scaled_score_gradients, scale_dP)",
              "transposed_score_gradients:FP8_E5M2 = RESHAPE(narrow_score_gradients)",
              "dK_of_query_heads = MATMUL(transposed_score_gradients, Q)",
              "wide_dK = REDUCE_ADD(dK_of_query_heads)",
              "wide_dK_by_descale_dP = MUL(wide_dK, descale_dP)",
              "wide_dK_by_descale_q = MUL(wide_dK_by_descale_dP, descale_q)",
              "amax_dK = REDUCE_AMAX(wide_dK_by_descale_q)",
              "dK:FP8_E4M3 = MUL(wide_dK_by_descale_q, scale_dK)",
              "wide_dQ = MATMUL(narrow_score_gradients, K)",
              "wide_dQ_by_descale_dP = MUL(wide_dQ, descale_dP)",
              "wide_dQ_by_descale_k = MUL(wide_dQ_by_descale_dP, descale_k)",
              "amax_dQ = REDUCE_AMAX(wide_dQ_by_descale_k)",
              "dQ:FP8_E4M3 = MUL(wide_dQ_by_descale_k, scale_dQ)",
          });
}

TEST_CASE("Targets with a fused operation interpret 8-bit attention too", "[expand]") {
    for (AttentionGraph graph : {AttentionGraph::forward().fp8(), AttentionGraph::backward().fp8()}) {
        CHECK(steps(fused(graph)) == steps(composite(graph)));
    }
}

TEST_CASE("block-scaled forward attention multiplies by scales before products, and rounds scaled probabilities",
          "[expand]") {
    auto attention = AttentionGraph::forward().block_scaled().scale(0.5f).stats();
    ir::OpGraph const graph = composite(attention);
    CHECK(steps(graph) == Lines{
                              "wide_K^T = BLOCK_DEQUANTIZE(K^T, descale_k^T)",
                              "wide_Q = BLOCK_DEQUANTIZE(Q, descale_q)",
                              "scores = MATMUL(wide_Q, wide_K^T)",
                              "scaled_scores = MUL(scores, scale)",
                              "softmax_max = REDUCE_MAX(scaled_scores)",
                              "shifted_scores = SUB(scaled_scores, softmax_max)",
                              "exponentials = EXP(shifted_scores)",
                              "softmax_sum = REDUCE_ADD(exponentials)",
                              "softmax_log_sum = LOG(softmax_sum)",
                              "Stats = ADD(softmax_log_sum, softmax_max)",
                              "probabilities = DIV(exponentials, softmax_sum)",
                              "narrow_probabilities:FP8_E4M3 = MUL(probabilities, probability_scale)",
                              "wide_V = BLOCK_DEQUANTIZE(V, descale_v)",
                              "weighed_values = MATMUL(narrow_probabilities, wide_V)",
                              "O:HALF = MUL(weighed_values, probability_descale)",
                              "amax_o = REDUCE_AMAX(O)",
                          });
    CHECK(core::to_double(find_value(graph, "probability_scale").constant) == 256.0);
    CHECK(core::to_double(find_value(graph, "probability_descale").constant) == 1.0 / 256.0);
    CHECK(find_value(graph, "descale_q").reordering == TensorReordering_t::F8_128x4);
    CHECK_FALSE(find_value(graph, "descale_q").is_factor);
}

TEST_CASE("block-scaled backward attention quantizes between products, each time along the axis that they sum over",
          "[expand]") {
    auto attention = AttentionGraph::backward().block_scaled().scale(0.5f);
    CHECK(steps(composite(attention)) ==
          Lines{
              "gradient_times_output = MUL(dO_f16, O)",
              "row_dot = REDUCE_ADD(gradient_times_output)",
              "wide_K^T = BLOCK_DEQUANTIZE(K^T, descale_k^T)",
              "wide_V^T = BLOCK_DEQUANTIZE(V^T, descale_v^T)",
              "wide_Q = BLOCK_DEQUANTIZE(Q, descale_q)",
              "scores = MATMUL(wide_Q, wide_K^T)",
              "scaled_scores = MUL(scores, scale)",
              "shifted_scores = SUB(scaled_scores, Stats)",
              "probabilities = EXP(shifted_scores)",
              "transposed_probabilities = RESHAPE(probabilities)",
              "wide_dO_T = BLOCK_DEQUANTIZE(dO_T, descale_dO_T)",
              "narrow_probabilities:FP8_E4M3 = BLOCK_QUANTIZE(transposed_probabilities)",
              "wide_probabilities = BLOCK_DEQUANTIZE(narrow_probabilities, scales_of_probabilities)",
              "dV:HALF = MATMUL(wide_probabilities, wide_dO_T)",
              "amax_dV = REDUCE_AMAX(dV)",
              "wide_dO = BLOCK_DEQUANTIZE(dO, descale_dO)",
              "probability_gradients = MATMUL(wide_dO, wide_V^T)",
              "centered_gradients = SUB(probability_gradients, row_dot)",
              "score_gradients = MUL(centered_gradients, probabilities)",
              "scaled_score_gradients = MUL(score_gradients, scale)",
              "transposed_score_gradients = RESHAPE(scaled_score_gradients)",
              "wide_Q_T = BLOCK_DEQUANTIZE(Q_T, descale_q_T)",
              "narrow_transposed_score_gradients:FP8_E4M3 = BLOCK_QUANTIZE(transposed_score_gradients)",
              "wide_transposed_score_gradients = BLOCK_DEQUANTIZE(narrow_transposed_score_gradients, "
              "scales_of_transposed_score_gradients)",
              "dK:HALF = MATMUL(wide_transposed_score_gradients, wide_Q_T)",
              "amax_dK = REDUCE_AMAX(dK)",
              "narrow_score_gradients:FP8_E4M3 = BLOCK_QUANTIZE(scaled_score_gradients)",
              "wide_score_gradients = BLOCK_DEQUANTIZE(narrow_score_gradients, scales_of_score_gradients)",
              "wide_K_T = BLOCK_DEQUANTIZE(K_T, descale_k_T)",
              "dQ:HALF = MATMUL(wide_score_gradients, wide_K_T)",
              "amax_dQ = REDUCE_AMAX(dQ)",
          });
}
