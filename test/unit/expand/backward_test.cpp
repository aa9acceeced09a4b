// The operations of backward attention, one line each, in the order of the data flow that engines recognize.
#include "attention_graphs.h"
#include "support/catch.h"

#include <algorithm>

using namespace test;
using Lines = std::vector<std::string>;

TEST_CASE("Plain backward attention", "[expand]") {
    CHECK(steps(composite(AttentionGraph::backward().scale(0.5f))) ==
          Lines{
              "gradient_times_output = MUL(dO, O)",
              "row_dot = REDUCE_ADD(gradient_times_output)",
              "scores = MATMUL(Q, K^T)",
              "scaled_scores = MUL(scores, scale)",
              "shifted_scores = SUB(scaled_scores, Stats)",
              "probabilities = EXP(shifted_scores)",
              "transposed_probabilities:HALF = RESHAPE(probabilities)",
              "dV:HALF = MATMUL(transposed_probabilities, dO)",
              "probability_gradients = MATMUL(dO, V^T)",
              "centered_gradients = SUB(probability_gradients, row_dot)",
              "score_gradients = MUL(centered_gradients, probabilities)",
              "scaled_score_gradients = MUL(score_gradients, scale)",
              "transposed_score_gradients:HALF = RESHAPE(scaled_score_gradients)",
              "dK:HALF = MATMUL(transposed_score_gradients, Q)",
              "dQ:HALF = MATMUL(scaled_score_gradients, K)",
          });
}

TEST_CASE("Grouped heads, dropout, masks and the gradient of a bias", "[expand]") {
    auto attention = AttentionGraph::backward().heads(2, 1).bias({1, 4, 6, 5}).bias_gradient().padding().dropout(0.25f);
    attention.band(DiagonalAlignment_t::TOP_LEFT, 2, 0);
    CHECK(steps(composite(attention)) ==
          Lines{
              "dropout_mask = RNG(seed, offset)",
              "gradient_times_output = MUL(dO, O)",
              "row_dot = REDUCE_ADD(gradient_times_output)",
              "scores = MATMUL(Q, K^T, seq_len_q, seq_len_kv)",
              "biased_scores = ADD(scores, bias)",
              "padding_row:INT32 = GEN_INDEX(biased_scores)",
              "padding_column:INT32 = GEN_INDEX(biased_scores)",
              "padding_row_inside:BOOLEAN = CMP_LT(padding_row, seq_len_q)",
              "padding_column_inside:BOOLEAN = CMP_LT(padding_column, seq_len_kv)",
              "padding_inside:BOOLEAN = LOGICAL_AND(padding_row_inside, padding_column_inside)",
              "padding_scores = BINARY_SELECT(biased_scores, padding_fill, padding_inside)",
              "right_bound_row:INT32 = GEN_INDEX(padding_scores)",
              "right_bound_column:INT32 = GEN_INDEX(padding_scores)",
              "right_bound_inside:BOOLEAN = CMP_GE(right_bound_row, right_bound_column)",
              "right_bound_scores = BINARY_SELECT(padding_scores, right_bound_fill, right_bound_inside)",
              "left_bound_row:INT32 = GEN_INDEX(right_bound_scores)",
              "left_bound_column:INT32 = GEN_INDEX(right_bound_scores)",
              "left_bound_column_plus_bound:INT32 = ADD(left_bound_column, left_bound)",
              "left_bound_inside:BOOLEAN = CMP_GT(left_bound_column_plus_bound, left_bound_row)",
              "left_bound_scores = BINARY_SELECT(right_bound_scores, left_bound_fill, left_bound_inside)",
              "shifted_scores = SUB(left_bound_scores, Stats)",
              "probabilities = EXP(shifted_scores)",
              "kept_probabilities = MUL(probabilities, dropout_mask)",
              "dropped_probabilities = MUL(kept_probabilities, dropout_scale)",
              "transposed_probabilities:HALF = RESHAPE(dropped_probabilities)",
              "dV_of_query_heads:HALF = MATMUL(transposed_probabilities, dO, seq_len_kv, seq_len_q)",
              "dV:HALF = REDUCE_ADD(dV_of_query_heads)",
              "probability_gradients = MATMUL(dO, V^T, seq_len_q, seq_len_kv)",
              "kept_probability_gradients = MUL(probability_gradients, dropout_mask)",
              "dropped_probability_gradients = MUL(kept_probability_gradients, dropout_scale)",
              "centered_gradients = SUB(dropped_probability_gradients, row_dot)",
              "score_gradients = MUL(centered_gradients, probabilities)",
              "dBias:HALF = REDUCE_ADD(score_gradients)",
              "transposed_score_gradients:HALF = RESHAPE(score_gradients)",
              "dK_of_query_heads:HALF = MATMUL(transposed_score_gradients, Q, seq_len_kv, seq_len_q)",
              "dK:HALF = REDUCE_ADD(dK_of_query_heads)",
              "dQ:HALF = MATMUL(score_gradients, K, seq_len_q, seq_len_kv)",
          });
}

TEST_CASE("Determinism marks the product of dQ and the sums over heads", "[expand]") {
    ir::OpGraph const plain = composite(AttentionGraph::backward().heads(2, 2));
    ir::OpGraph const deterministic = composite(AttentionGraph::backward().heads(2, 2).deterministic());
    auto const marks = [](ir::OpGraph const& graph) {
        std::string text;
        for (ir::Op const& op : graph.ops()) {
            auto const* const reduction = std::get_if<ir::ReductionOp>(&op.body);
            auto const* const product = std::get_if<ir::MatmulOp>(&op.body);
            bool const is_sum = reduction != nullptr && reduction->is_deterministic;
            if (is_sum || (product != nullptr && product->is_deterministic)) text += op.name + " ";
        }
        return text;
    };
    CHECK(marks(plain).empty());
    CHECK(marks(deterministic) == "sdpa::dV sdpa::dK sdpa::dQ ");
    CHECK(steps(plain) == steps(deterministic));
}

TEST_CASE("Backward values have the shapes that engines recognize", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::backward().heads(2, 1));
    ir::Value const& probabilities = find_value(graph, "transposed_probabilities");
    CHECK(probabilities.dim == core::Dims{2, 4, 5, 6});
    CHECK(probabilities.stride == core::Dims{120, 30, 1, 5});
    CHECK(find_value(graph, "dK_of_query_heads").dim == core::Dims{2, 4, 5, 8});
    CHECK(find_value(graph, "dV_of_query_heads").dim == core::Dims{2, 4, 5, 16});
    CHECK(find_value(graph, "V^T").dim == core::Dims{2, 1, 16, 5});
}

TEST_CASE("Dropout scales gradients before the row's sum is subtracted, with no inverse", "[expand]") {
    auto const lines = steps(composite(AttentionGraph::backward().dropout_mask()));
    auto const count = [&](std::string const& line) { return std::count(lines.begin(), lines.end(), line); };
    CHECK(count("kept_probabilities = MUL(probabilities, dropout_mask)") == 1);
    CHECK(count("dropped_probabilities = MUL(kept_probabilities, dropout_scale)") == 1);
    CHECK(count("dropped_probability_gradients = MUL(kept_probability_gradients, dropout_scale)") == 1);
}

TEST_CASE("A modifier gets scaled scores before the bias, and its gradient theirs before the scale", "[expand]") {
    auto const lines =
        steps(composite(with_modifier(PointwiseMode_t::MUL, {1, 4, 1, 1}).scale(0.5f).bias({2, 4, 6, 5})));
    auto const at = [&](std::string const& line) { return std::ranges::find(lines, line) - lines.begin(); };
    auto const count = static_cast<std::ptrdiff_t>(lines.size());
    for (std::string const& line : lines) UNSCOPED_INFO(line);
    std::initializer_list<char const*> const in_order = {
        "score = MUL(scores, scale)",           "score_mod = ADD(score, other)",
        "biased_scores = ADD(score_mod, bias)", "dScore = MUL(centered_gradients, probabilities)",
        "dScore_mod = MUL(dScore, score)",      "scaled_score_gradients = MUL(dScore_mod, scale)",
    };
    std::ptrdiff_t last = -1;
    for (char const* const line : in_order) {
        INFO(line);
        CHECK(at(line) < count);
        CHECK(at(line) > last);
        last = at(line);
    }
}
