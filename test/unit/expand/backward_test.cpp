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
              "scaled_row_dot = MUL(row_dot, row_dot_factor)",
              "scores = MATMUL(Q, K^T)",
              "scaled_scores = MUL(scores, scale)",
              "shifted_scores = SUB(scaled_scores, Stats)",
              "probabilities = EXP(shifted_scores)",
              "transposed_probabilities:HALF = RESHAPE(probabilities)",
              "dV:HALF = MATMUL(transposed_probabilities, dO)",
              "probability_gradients = MATMUL(dO, V^T)",
              "centered_gradients = SUB(probability_gradients, scaled_row_dot)",
              "score_gradients = MUL(centered_gradients, probabilities)",
              "scaled_score_gradients = MUL(score_gradients, scale)",
              "transposed_score_gradients:HALF = RESHAPE(scaled_score_gradients)",
              "dK:HALF = MATMUL(transposed_score_gradients, Q)",
              "keys:HALF = RESHAPE(K^T)",
              "dQ_accumulator = MATMUL(scaled_score_gradients, keys)",
              "dQ:HALF = IDENTITY(dQ_accumulator)",
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
              "scaled_row_dot = MUL(row_dot, row_dot_factor)",
              "scores = MATMUL(Q, K^T, seq_len_q, seq_len_kv)",
              "biased_scores = ADD(scores, bias)",
              "padding_row:INT32 = GEN_INDEX(biased_scores)",
              "padding_column:INT32 = GEN_INDEX(biased_scores)",
              "padding_row_inside:BOOLEAN = CMP_LT(padding_row, seq_len_q)",
              "padding_column_inside:BOOLEAN = CMP_LT(padding_column, seq_len_kv)",
              "padding_inside:BOOLEAN = LOGICAL_AND(padding_row_inside, padding_column_inside)",
              "padding_scores = BINARY_SELECT(biased_scores, padding_fill, padding_inside)",
              "shifted_scores = SUB(padding_scores, Stats)",
              "right_bound_row:INT32 = GEN_INDEX(shifted_scores)",
              "right_bound_column:INT32 = GEN_INDEX(shifted_scores)",
              "right_bound_inside:BOOLEAN = CMP_GE(right_bound_row, right_bound_column)",
              "right_bound_scores = BINARY_SELECT(shifted_scores, right_bound_fill, right_bound_inside)",
              "left_bound_row:INT32 = GEN_INDEX(right_bound_scores)",
              "left_bound_column:INT32 = GEN_INDEX(right_bound_scores)",
              "left_bound_shifted_column = ADD(left_bound_column, left_bound)",
              "left_bound_inside:BOOLEAN = CMP_GT(left_bound_shifted_column, left_bound_row)",
              "left_bound_scores = BINARY_SELECT(right_bound_scores, left_bound_fill, left_bound_inside)",
              "probabilities = EXP(left_bound_scores)",
              "kept_probabilities = MUL(probabilities, dropout_mask)",
              "dropped_probabilities = MUL(kept_probabilities, dropout_scale)",
              "transposed_probabilities:HALF = RESHAPE(dropped_probabilities)",
              "dV_of_query_heads:HALF = MATMUL(transposed_probabilities, dO, seq_len_kv, seq_len_q)",
              "dV:HALF = REDUCE_ADD(dV_of_query_heads)",
              "probability_gradients = MATMUL(dO, V^T, seq_len_q, seq_len_kv)",
              "kept_probability_gradients = MUL(probability_gradients, dropout_mask)",
              "centered_gradients = SUB(kept_probability_gradients, scaled_row_dot)",
              "score_gradients = MUL(centered_gradients, probabilities)",
              "dropped_score_gradients = MUL(score_gradients, dropout_scale)",
              "dBias:HALF = REDUCE_ADD(dropped_score_gradients)",
              "transposed_score_gradients:HALF = RESHAPE(dropped_score_gradients)",
              "dK_of_query_heads:HALF = MATMUL(transposed_score_gradients, Q, seq_len_kv, seq_len_q)",
              "dK:HALF = REDUCE_ADD(dK_of_query_heads)",
              "keys:HALF = RESHAPE(K^T)",
              "dQ:HALF = MATMUL(dropped_score_gradients, keys, seq_len_q, seq_len_kv)",
          });
}

TEST_CASE("Backward masks padding with the full lengths where the last tile of keys is not full", "[expand]") {
    auto const expanded = [](AttentionGraph const& attention) {
        auto graph = expand::expand(validated(attention.spec), {.full_lengths_in_backward = true});
        REQUIRE(graph.is_good());
        return std::move(graph).value();
    };
    auto const resized = [](std::int64_t queries, std::int64_t keys) {
        AttentionGraph attention = AttentionGraph::backward();
        auto const resize = [&](std::initializer_list<int> ports, std::int64_t rows) {
            for (int const port : ports) {
                attention.tensor(port).dim[2] = rows;
                attention.tensor(port).stride = core::packed_strides(attention.tensor(port).dim);
            }
        };
        resize({Port::Q, Port::O, Port::dO, Port::Stats, Port::dQ}, queries);
        resize({Port::K, Port::V, Port::dK, Port::dV}, keys);
        return attention;
    };
    ir::OpGraph const graph = expanded(resized(6, 192));
    ir::Value const& keys = find_value(graph, "full_seq_len_kv");
    CHECK(keys.type == DataType_t::INT32);
    CHECK(keys.table == std::vector<double>{192, 192});
    CHECK(find_value(graph, "full_seq_len_q").table == std::vector<double>{6, 6});
    auto const lines = steps(graph);
    CHECK(std::ranges::count(lines, "padding_column_inside:BOOLEAN = CMP_LT(padding_column, full_seq_len_kv)") == 1);
    for (auto const& product : bodies<ir::MatmulOp>(graph)) CHECK(product.m_override != ir::kNoValue);
    CHECK(kinds(expanded(resized(1, 128))).find("BINARY_SELECT") != std::string::npos);
    CHECK(kinds(expanded(resized(6, 128))).find("BINARY_SELECT") == std::string::npos);
    CHECK(kinds(composite(resized(6, 192))).find("BINARY_SELECT") == std::string::npos);
    auto const forward = expand::expand(validated(AttentionGraph::forward().spec), {.full_lengths_in_backward = true});
    CHECK(kinds(forward.value()).find("BINARY_SELECT") == std::string::npos);
}

TEST_CASE("Backward beside a dropout mask does without the full lengths where engines mask the last tile", "[expand]") {
    auto const has_lengths = [](std::int64_t queries, std::int64_t keys, bool is_masked, bool masks_last_tile) {
        auto attention = AttentionGraph::backward();
        resize(attention, {Port::Q, Port::O, Port::dO, Port::Stats, Port::dQ}, 2, queries);
        resize(attention, {Port::K, Port::V, Port::dK, Port::dV}, 2, keys);
        if (is_masked) attention.dropout_mask();
        auto const graph = expand::expand(validated(attention.spec),
                                          {.full_lengths_in_backward = true, .masks_last_tile = masks_last_tile});
        return kinds(graph.value()).find("BINARY_SELECT") != std::string::npos;
    };
    CHECK(has_lengths(6, 200, true, false));
    CHECK_FALSE(has_lengths(6, 200, true, true));
    CHECK(has_lengths(6, 192, true, true));  // half a tile is left
    CHECK(has_lengths(1, 200, true, true));
    CHECK(has_lengths(6, 200, false, true));
    CHECK_FALSE(has_lengths(6, 128, true, false));
}

TEST_CASE("Determinism takes the direct form of dQ and marks the sums over heads", "[expand]") {
    ir::OpGraph const plain = composite(AttentionGraph::backward().heads(2, 2));
    ir::OpGraph const deterministic = composite(AttentionGraph::backward().heads(2, 2).deterministic());
    auto const marks = [](ir::OpGraph const& graph) {
        std::string text;
        for (ir::Op const& op : graph.ops()) {
            auto const* const reduction = std::get_if<ir::ReductionOp>(&op.body);
            if (reduction != nullptr && reduction->is_deterministic) text += op.name + " ";
        }
        return text;
    };
    CHECK(marks(plain).empty());
    CHECK(marks(deterministic) == "sdpa::dV sdpa::dK ");
    CHECK(steps(plain).back() == "dQ:HALF = IDENTITY(dQ_accumulator)");
    CHECK(steps(deterministic).back() == "dQ:HALF = MATMUL(score_gradients, keys)");
}

TEST_CASE("Backward values have the shapes that engines recognize", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::backward().heads(2, 1));
    ir::Value const& probabilities = find_value(graph, "transposed_probabilities");
    CHECK(probabilities.dim == core::Dims{2, 4, 5, 6});
    CHECK(probabilities.stride == core::Dims{120, 30, 1, 5});
    CHECK(find_value(graph, "dK_of_query_heads").dim == core::Dims{2, 4, 5, 8});
    CHECK(find_value(graph, "dV_of_query_heads").dim == core::Dims{2, 4, 5, 16});
    CHECK(find_value(graph, "keys").dim == find_value(graph, "K").dim);
    CHECK(find_value(graph, "keys").stride == find_value(graph, "K").stride);
    CHECK(find_value(graph, "V^T").dim == core::Dims{2, 1, 16, 5});
    CHECK(find_value(graph, "dQ_accumulator").dim == core::Dims{2, 4, 6, 8});
}

TEST_CASE("The sums that engines want in memory are marked", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::backward());
    std::string marked;
    for (ir::Value const& value : graph.values()) {
        if (!value.owned_scratch) continue;
        CHECK(value.role == ir::Role::Virtual);
        marked += value.name + " ";
    }
    CHECK(marked == "sdpa::scaled_row_dot sdpa::dQ_accumulator ");
}

TEST_CASE("The user's dropout mask scales gradients before the row's sum is subtracted, with no inverse", "[expand]") {
    auto const lines = steps(composite(AttentionGraph::backward().dropout_mask()));
    auto const count = [&](std::string const& line) { return std::count(lines.begin(), lines.end(), line); };
    CHECK(count("scaled_row_dot = MUL(row_dot, row_dot_factor)") == 1);
    CHECK(count("kept_probabilities = MUL(probabilities, dropout_mask@2)") == 1);
    CHECK(count("dropped_probabilities = MUL(kept_probabilities, dropout_scale)") == 1);
    CHECK(count("dropped_probability_gradients = MUL(kept_probability_gradients, dropout_scale)") == 1);
    CHECK(count("dropped_score_gradients = MUL(score_gradients, dropout_scale)") == 0);
}

TEST_CASE("Sums of packed sequences are packed like the results, where the user bounds their rows", "[expand]") {
    ir::OpGraph const graph = composite(packed_backward());
    auto const packed_like = [&](char const* name) {
        ir::Value const& value = find_value(graph, name);
        CHECK(value.owned_scratch);
        REQUIRE(value.packed_like != ir::kNoValue);
        return graph.value(value.packed_like);
    };
    CHECK(packed_like("scaled_row_dot").name == "Stats");
    CHECK(packed_like("dQ_accumulator").name == "dQ");
    CHECK(packed_like("dQ_accumulator").ragged.most_rows == 8);
    CHECK(packed_like("dK_of_query_heads").name == "dK");
    CHECK(packed_like("dV_of_query_heads").ragged.most_rows == 7);
    // Rows of 4 heads where dK has 2; the first stride is the interpreter's.
    CHECK(find_value(graph, "dK_of_query_heads").stride == core::Dims{320, 16, 64, 1});
    CHECK(find_value(graph, "dQ_accumulator").stride == core::Dims{384, 16, 64, 1});
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

// The values with packed rows.
static std::string packed_names(AttentionGraph const& attention, bool takes_packed_scratch = true) {
    ir::OpGraph const graph =
        expand::expand(validated(attention.spec), {.packed_scratch = takes_packed_scratch}).value();
    std::string text;
    for (ir::Value const& value : graph.values()) {
        if (value.packed_like != ir::kNoValue) text += value.name.substr(6) + " ";
    }
    return text;
}

static nodes::AttentionFields& bounds(AttentionGraph& attention) { return attention.fields(); }

TEST_CASE("Sums have room for the longest sequence in each batch entry where packed ones are wrong, or no less",
          "[expand]") {
    AttentionGraph attention = packed_backward();
    CHECK(packed_names(attention) == "scaled_row_dot dV_of_query_heads dK_of_query_heads dQ_accumulator ");
    SECTION("without bounds") {
        bounds(attention).max_total_seq_len_q.reset();
        CHECK(packed_names(attention) == "dV_of_query_heads dK_of_query_heads ");
        bounds(attention).max_total_seq_len_kv.reset();
        CHECK(packed_names(attention).empty());
    }
    SECTION("with bounds that save nothing") {
        bounds(attention).max_total_seq_len_q = 12;
        bounds(attention).max_total_seq_len_kv = std::int64_t{1} << 62;
        CHECK(packed_names(attention).empty());
    }
    SECTION("of heads that are no multiple of 16") {
        AttentionGraph narrow = AttentionGraph::backward().heads(2, 2).padding();
        pack_rows(narrow, {Port::Q, Port::K, Port::V, Port::O, Port::dO, Port::Stats, Port::dQ, Port::dK, Port::dV});
        bounds(narrow) = bounds(attention);
        CHECK(packed_names(narrow).empty());
    }
    SECTION("where dQ lies otherwise than Q") {
        attention.tensor(Port::dQ).ragged_offset = attention.add_tensor("other", DataType_t::INT32, {3, 1, 1, 1});
        CHECK(packed_names(attention) == "scaled_row_dot dV_of_query_heads dK_of_query_heads ");
    }
    SECTION("where the heads of Stats lie apart") {
        attention.tensor(Port::Stats).stride = {24, 6, 1, 1};
        CHECK(packed_names(attention) == "dV_of_query_heads dK_of_query_heads dQ_accumulator ");
    }
    SECTION("for targets that do not take it") { CHECK(packed_names(attention, false).empty()); }
    SECTION("where nothing is added up") {
        CHECK(packed_names(attention.deterministic()) == "scaled_row_dot dV_of_query_heads dK_of_query_heads ");
    }
}

TEST_CASE("Sums have that room where rows of the results leave none for more heads, or are no rows", "[expand]") {
    AttentionGraph attention = packed_backward();
    SECTION("of one row in each batch entry, whose stride says nothing") {
        for (int const port :
             {Port::Q, Port::O, Port::dO, Port::Stats, Port::dQ, Port::K, Port::V, Port::dK, Port::dV}) {
            attention.tensor(port).dim[2] = 1;
            attention.tensor(port).stride[2] = 0;
        }
        bounds(attention).max_total_seq_len_q = bounds(attention).max_total_seq_len_kv = 1;
        CHECK(packed_names(attention).empty());
    }
    std::initializer_list<int> const of_keys = {Port::K, Port::V, Port::dK, Port::dV};
    SECTION("with rows of more elements than sums of more heads could count") {
        for (int const port : of_keys) {
            attention.tensor(port).dim[2] = 2;
            attention.tensor(port).stride[2] = std::int64_t{1} << 59;
        }
        CHECK(packed_names(attention) == "scaled_row_dot dQ_accumulator ");
    }
    SECTION("with gaps between heads into which those of more heads do not fit") {
        for (int const port : of_keys) attention.tensor(port).stride = {240, 32, 48, 1};
        bounds(attention).max_total_seq_len_kv = 5;
        CHECK(packed_names(attention) == "scaled_row_dot dQ_accumulator ");
    }
    SECTION("with offsets of INT32 that would have to count more") {
        for (int const port : of_keys) {
            attention.tensor(port).dim[2] = 1 << 26;
            attention.tensor(port).stride[0] = std::int64_t{32} << 26;
        }
        bounds(attention).max_total_seq_len_kv = 1 << 26;
        CHECK(packed_names(attention) == "scaled_row_dot dQ_accumulator ");
        for (nodes::TensorSpec& tensor : attention.spec.tensors) {
            if (tensor.name == "offset_32") tensor.data_type = DataType_t::INT64;
        }
        CHECK(packed_names(attention) == "scaled_row_dot dV_of_query_heads dK_of_query_heads dQ_accumulator ");
    }
}
