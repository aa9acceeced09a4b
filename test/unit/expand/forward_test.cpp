// The operations of forward attention, one line each, in the order of data flow.
#include "attention_graphs.h"
#include "nodes/attention/attention_node.h"
#include "support/catch.h"

#include <algorithm>

using namespace test;
using Lines = std::vector<std::string>;

TEST_CASE("Plain forward attention is two products around a softmax", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::forward());
    CHECK(steps(graph) == Lines{
                              "scores = MATMUL(Q, K^T)",
                              "softmax_max = REDUCE_MAX(scores)",
                              "shifted_scores = SUB(scores, softmax_max)",
                              "exponentials = EXP(shifted_scores)",
                              "softmax_sum = REDUCE_ADD(exponentials)",
                              "probabilities:HALF = DIV(exponentials, softmax_sum)",
                              "O:HALF = MATMUL(probabilities, V)",
                          });
}

TEST_CASE("Causality, lengths and grouped heads", "[expand]") {
    auto attention = AttentionGraph::forward().heads(2, 1).scale(0.5f).stats().padding();
    attention.band(DiagonalAlignment_t::TOP_LEFT, {}, 0);
    CHECK(steps(composite(attention)) ==
          Lines{
              "scores = MATMUL(Q, K^T, seq_len_q, seq_len_kv)",
              "scaled_scores = MUL(scores, scale)",
              "padding_row:INT32 = GEN_INDEX(scaled_scores)",
              "padding_column:INT32 = GEN_INDEX(scaled_scores)",
              "padding_row_inside:BOOLEAN = CMP_LT(padding_row, seq_len_q)",
              "padding_column_inside:BOOLEAN = CMP_LT(padding_column, seq_len_kv)",
              "padding_inside:BOOLEAN = LOGICAL_AND(padding_row_inside, padding_column_inside)",
              "padding_scores = BINARY_SELECT(scaled_scores, padding_fill, padding_inside)",
              "right_bound_row:INT32 = GEN_INDEX(padding_scores)",
              "right_bound_column:INT32 = GEN_INDEX(padding_scores)",
              "right_bound_inside:BOOLEAN = CMP_GE(right_bound_row, right_bound_column)",
              "right_bound_scores = BINARY_SELECT(padding_scores, right_bound_fill, right_bound_inside)",
              "softmax_max = REDUCE_MAX(right_bound_scores)",
              "shifted_scores = SUB(right_bound_scores, softmax_max)",
              "exponentials = EXP(shifted_scores)",
              "softmax_sum = REDUCE_ADD(exponentials)",
              "softmax_log_sum = LOG(softmax_sum)",
              "Stats = ADD(softmax_log_sum, softmax_max)",
              "probabilities:HALF = DIV(exponentials, softmax_sum)",
              "O:HALF = MATMUL(probabilities, V, seq_len_q, seq_len_kv)",
          });
}

TEST_CASE("Every option of forward attention at once", "[expand]") {
    auto attention = AttentionGraph::forward().scale(0.5f).stats().bias({1, 4, 6, 5}).padding().dropout(0.25f).dump();
    attention.band(DiagonalAlignment_t::BOTTOM_RIGHT, 3, 1).fields().alibi_mask = true;
    CHECK(steps(composite(attention)) ==
          Lines{
              "scores = MATMUL(Q, K^T, seq_len_q, seq_len_kv)",
              "scaled_scores = MUL(scores, scale)",
              "biased_scores = ADD(scaled_scores, bias)",
              "alibi_row:INT32 = GEN_INDEX(biased_scores)",
              "alibi_column:INT32 = GEN_INDEX(biased_scores)",
              "alibi_distance:INT32 = SUB(alibi_column, alibi_row)",
              "alibi_bias = MUL(alibi_distance, alibi_slopes)",
              "alibi_scores = ADD(biased_scores, alibi_bias)",
              "padding_row:INT32 = GEN_INDEX(alibi_scores)",
              "padding_column:INT32 = GEN_INDEX(alibi_scores)",
              "padding_row_inside:BOOLEAN = CMP_LT(padding_row, seq_len_q)",
              "padding_column_inside:BOOLEAN = CMP_LT(padding_column, seq_len_kv)",
              "padding_inside:BOOLEAN = LOGICAL_AND(padding_row_inside, padding_column_inside)",
              "padding_scores = BINARY_SELECT(alibi_scores, padding_fill, padding_inside)",
              "right_bound_row:INT32 = GEN_INDEX(padding_scores)",
              "right_bound_column:INT32 = GEN_INDEX(padding_scores)",
              "right_bound_row_plus_keys:INT32 = ADD(right_bound_row, seq_len_kv)",
              "right_bound_shifted_row:INT32 = SUB(right_bound_row_plus_keys, seq_len_q)",
              "right_bound_last_column:INT32 = ADD(right_bound_shifted_row, right_bound)",
              "right_bound_inside:BOOLEAN = CMP_GE(right_bound_last_column, right_bound_column)",
              "right_bound_scores = BINARY_SELECT(padding_scores, right_bound_fill, right_bound_inside)",
              "left_bound_row:INT32 = GEN_INDEX(right_bound_scores)",
              "left_bound_column:INT32 = GEN_INDEX(right_bound_scores)",
              "left_bound_column_plus_bound:INT32 = ADD(left_bound_column, left_bound)",
              "left_bound_column_minus_keys:INT32 = SUB(left_bound_column_plus_bound, seq_len_kv)",
              "left_bound_shifted_column:INT32 = ADD(left_bound_column_minus_keys, seq_len_q)",
              "left_bound_inside:BOOLEAN = CMP_GT(left_bound_shifted_column, left_bound_row)",
              "left_bound_scores = BINARY_SELECT(right_bound_scores, left_bound_fill, left_bound_inside)",
              "softmax_max = REDUCE_MAX(left_bound_scores)",
              "shifted_scores = SUB(left_bound_scores, softmax_max)",
              "exponentials = EXP(shifted_scores)",
              "softmax_sum = REDUCE_ADD(exponentials)",
              "softmax_log_sum = LOG(softmax_sum)",
              "Stats = ADD(softmax_log_sum, softmax_max)",
              "probabilities = DIV(exponentials, softmax_sum)",
              "rng_dump = RNG(seed, offset)",
              "kept_probabilities = MUL(probabilities, rng_dump)",
              "dropped_probabilities:HALF = MUL(kept_probabilities, dropout_scale)",
              "O:HALF = MATMUL(dropped_probabilities, V, seq_len_q, seq_len_kv)",
          });
}

TEST_CASE("A block mask hides tiles after the other masks, or is told to fused attention", "[expand]") {
    auto attention = AttentionGraph::forward().band(DiagonalAlignment_t::TOP_LEFT, std::nullopt, 0);
    attention.connect(Port::BlockMask, DataType_t::UINT8, {2, 4, 1, 1});
    auto const all = steps(composite(attention));
    auto const at = std::find(all.begin(), all.end(), "block_inside:BOOLEAN = BLOCK_MASK(block_mask)");
    REQUIRE(at != all.end());
    CHECK(at[-1] == "right_bound_scores = BINARY_SELECT(scores, right_bound_fill, right_bound_inside)");
    CHECK(at[1] == "block_scores = BINARY_SELECT(right_bound_scores, block_fill, block_inside)");
    CHECK(at[2] == "softmax_max = REDUCE_MAX(block_scores)");
    ir::OpGraph const whole = fused(attention);
    CHECK(whole.value(std::get<ir::SdpaForwardOp>(whole.ops().front().body).operands[Port::BlockMask]).name ==
          "block_mask");
}

TEST_CASE("Where attention is one operation on request alone, a block mask or a sum of lengths is such a request",
          "[expand]") {
    auto const first_op = [](AttentionGraph const& attention) {
        auto const graph = expand::expand(
            validated(attention.spec),
            {.fused_attention = expand::TargetAbilities::Fused::OnRequest, .needs_fused = nodes::needs_unified});
        REQUIRE(graph.is_good());
        return std::string(ir::kind_name(graph.value().ops().front()));
    };
    auto attention = AttentionGraph::forward();
    CHECK(first_op(attention) == "MATMUL");
    attention.connect(Port::BlockMask, DataType_t::UINT8, {2, 4, 1, 1});
    CHECK(first_op(attention) == "SDPA_FORWARD");
    CHECK(first_op(attention.implementation(AttentionImplementation_t::COMPOSITE)) == "MATMUL");
    auto counted = AttentionGraph::forward().padding();
    CHECK(first_op(counted) == "MATMUL");
    counted.node().ports[Port::SeqLenQ] = nodes::kNoTensor;
    counted.connect(Port::CuSeqLenQ, DataType_t::INT32, {3, 1, 1, 1});
    CHECK(first_op(counted) == "SDPA_FORWARD");
}

TEST_CASE("Sums of lengths are lengths to the operations, by their steps", "[expand]") {
    auto attention = AttentionGraph::forward().padding();
    attention.node().ports[Port::SeqLenQ] = nodes::kNoTensor;
    attention.connect(Port::CuSeqLenQ, DataType_t::INT64, {3, 1, 1, 1});
    ir::OpGraph const graph = composite(attention);
    CHECK(steps(graph).back() == "O:HALF = MATMUL(probabilities, V, cu_seq_len_q::steps, seq_len_kv)");
    ir::Value const& lengths = find_value(graph, "cu_seq_len_q::steps");
    CHECK(graph.value(lengths.steps_of).name == "cu_seq_len_q");
    CHECK(lengths.dim == core::Dims{2, 1, 1, 1});
}

TEST_CASE("Paged keys are loaded before the first product and read transposed, values before the second", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::forward().padding().pages());
    CHECK(steps(graph).front() == "loaded_keys:HALF = PAGED_LOAD(K, page_table_k, seq_len_kv)");
    CHECK(steps(graph)[1] == "scores = MATMUL(Q, loaded_keys^T, seq_len_q, seq_len_kv)");
    CHECK(steps(graph).end()[-2] == "loaded_values:HALF = PAGED_LOAD(V, page_table_v, seq_len_kv)");
    CHECK(steps(graph).back() == "O:HALF = MATMUL(probabilities, loaded_values, seq_len_q, seq_len_kv)");
    CHECK(find_value(graph, "loaded_keys").dim == core::Dims{2, 4, 5, 8});
    CHECK(find_value(graph, "loaded_keys^T").dim == core::Dims{2, 4, 8, 5});
    CHECK(find_value(graph, "loaded_keys^T").stride == core::Dims{160, 40, 1, 8});
    CHECK(find_value(graph, "loaded_values").dim == core::Dims{2, 4, 5, 16});
}

TEST_CASE("Fused attention over pages knows how many keys there are", "[expand]") {
    ir::OpGraph const graph = fused(AttentionGraph::forward().padding().pages());
    auto const& op = std::get<ir::SdpaForwardOp>(graph.ops().front().body);
    CHECK(op.keys == 5);
    CHECK(graph.value(op.operands[Port::PageTableK]).name == "page_table_k");
    CHECK(graph.value(op.operands[Port::PageTableV]).name == "page_table_v");
    CHECK_FALSE(std::get<ir::SdpaForwardOp>(fused(AttentionGraph::forward()).ops().front().body).keys.has_value());
}

TEST_CASE("A packed page table has an entry for each page of a sequence", "[expand]") {
    auto attention = AttentionGraph::forward().padding().pages();
    attention.tensor(Port::PageTableK).ragged_offset = attention.add_tensor("offset", DataType_t::INT32, {3, 1, 1, 1});
    ir::OpGraph const graph = composite(attention);
    ir::Value const& table = find_value(graph, "page_table_k");
    CHECK(table.ragged.rows_together == 2);
}

TEST_CASE("The products are overridden where their rows, columns and terms end", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::forward().padding());
    auto const products = bodies<ir::MatmulOp>(graph);
    REQUIRE(products.size() == 2);
    auto const uid = [&](ir::ValueId id) { return id == ir::kNoValue ? -1 : graph.value(id).uid; };
    std::int64_t const queries = find_value(graph, "seq_len_q").uid, keys = find_value(graph, "seq_len_kv").uid;
    CHECK(uid(products[0].m_override) == queries);
    CHECK(uid(products[0].n_override) == keys);
    CHECK(uid(products[0].k_override) == -1);
    CHECK(uid(products[1].m_override) == queries);
    CHECK(uid(products[1].n_override) == -1);
    CHECK(uid(products[1].k_override) == keys);
}

TEST_CASE("Forward values have the shapes that engines recognize", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::forward());
    ir::Value const& scores = find_value(graph, "scores");
    CHECK(scores.dim == core::Dims{2, 4, 6, 5});
    CHECK(scores.stride == core::Dims{120, 30, 5, 1});
    ir::Value const& max = find_value(graph, "softmax_max");
    CHECK(max.dim == core::Dims{2, 4, 6, 1});
    CHECK(max.stride == core::Dims{24, 6, 1, 1});
    ir::Value const& keys = find_value(graph, "K^T");
    CHECK(keys.dim == core::Dims{2, 4, 8, 5});
    CHECK(keys.stride == core::Dims{160, 40, 1, 8});
    CHECK(&graph.value(keys.view_of) == &find_value(graph, "K"));
}

TEST_CASE("What is masked goes through the steps from scores to O as such", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::forward());
    std::string masked;
    for (ir::Op const& op : graph.ops()) {
        auto const* const pointwise = std::get_if<ir::PointwiseOp>(&op.body);
        if (pointwise != nullptr && pointwise->masked_by != ir::MaskedBy::Neither) masked += op.name + " ";
        auto const* const matmul = std::get_if<ir::MatmulOp>(&op.body);
        if (matmul != nullptr && matmul->a_masks) masked += op.name + " ";
    }
    CHECK(masked == "sdpa::shifted_scores sdpa::probabilities sdpa::O ");
}
