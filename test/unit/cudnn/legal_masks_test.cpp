// The masks of padding and of bands in the form that passes give them.
#include "unit/cudnn/legal_forms.h"

#include "core/data_type.h"

#include "support/catch.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace test;
using Lines = std::vector<std::string>;

namespace {

constexpr auto kTopLeft = DiagonalAlignment_t::TOP_LEFT, kBottomRight = DiagonalAlignment_t::BOTTOM_RIGHT;

AttentionGraph sized(AttentionGraph attention, std::int64_t queries, std::int64_t keys) {
    resize(attention, {Port::Q, Port::O}, 2, queries);
    resize(attention, {Port::K, Port::V}, 2, keys);
    if (attention.node().kind() == nodes::NodeKind::SdpaForward) return attention;
    resize(attention, {Port::DO, Port::Stats, Port::DQ}, 2, queries);
    resize(attention, {Port::DK, Port::DV}, 2, keys);
    return attention;
}

bool has(Lines const& lines, std::string const& line) { return std::ranges::count(lines, line) == 1; }

double number(ir::OpGraph const& graph, char const* name) { return core::to_double(find_value(graph, name).constant); }

bool masks_padding(ir::OpGraph const& graph) { return kinds(graph).find("LOGICAL_AND") != std::string::npos; }

}  // namespace

TEST_CASE("Backward masks padding with the full lengths where the last tile of keys is not full", "[passes]") {
    ir::OpGraph const graph = legal(sized(AttentionGraph::backward(), 6, 192));
    ir::Value const& keys = find_value(graph, "full_seq_len_kv");
    CHECK(keys.type == DataType_t::INT32);
    CHECK(keys.table == std::vector<double>{192, 192});
    CHECK(find_value(graph, "full_seq_len_q").table == std::vector<double>{6, 6});
    Lines const lines = steps(graph);
    CHECK(has(lines, "scores = MATMUL(Q, K^T, full_seq_len_q, full_seq_len_kv)"));
    CHECK(has(lines, "dV:HALF = MATMUL(transposed_probabilities, dO, full_seq_len_kv, full_seq_len_q)"));
    CHECK(has(lines, "probability_gradients = MATMUL(dO, V^T, full_seq_len_q, full_seq_len_kv)"));
    CHECK(has(lines, "padding_row:INT32 = GEN_INDEX(scores)"));
    CHECK(has(lines, "padding_row_inside:BOOLEAN = CMP_LT(padding_row, full_seq_len_q)"));
    CHECK(has(lines, "padding_column_inside:BOOLEAN = CMP_LT(padding_column, full_seq_len_kv)"));
    CHECK(has(lines, "padding_inside:BOOLEAN = LOGICAL_AND(padding_row_inside, padding_column_inside)"));
    CHECK(has(lines, "padding_scores = BINARY_SELECT(scores, padding_fill, padding_inside)"));
    CHECK(has(lines, "shifted_scores = SUB(padding_scores, Stats)"));
    CHECK(masks_padding(legal(sized(AttentionGraph::backward(), 1, 128))));
    CHECK_FALSE(masks_padding(legal(sized(AttentionGraph::backward(), 6, 128))));
    CHECK_FALSE(masks_padding(composite(sized(AttentionGraph::backward(), 6, 192))));
    CHECK_FALSE(masks_padding(legal(AttentionGraph::forward())));
}

TEST_CASE("Lengths that the user gives stay the only ones", "[passes]") {
    ir::OpGraph const graph = legal(sized(AttentionGraph::backward(), 6, 192).padding());
    CHECK(ir::to_text(graph).find("full_seq_len") == std::string::npos);
    CHECK(masks_padding(graph));
}

TEST_CASE("Beside a dropout mask backward does without full lengths where engines mask the last tile", "[passes]") {
    auto const has_lengths = [](std::int64_t queries, std::int64_t keys, bool is_masked,
                                quirks::Capabilities const& device) {
        auto attention = sized(AttentionGraph::backward(), queries, keys);
        if (is_masked) attention.dropout_mask();
        return masks_padding(legalized(attention, device).graph);
    };
    quirks::Capabilities const before{.cudnn_version = 91899, .sm = 90}, blackwell{.cudnn_version = 91900, .sm = 100};
    CHECK(has_lengths(6, 200, true, before));
    CHECK(has_lengths(6, 200, true, blackwell));
    CHECK_FALSE(has_lengths(6, 200, true, kH200));
    CHECK(has_lengths(6, 192, true, kH200));  // half a tile is left
    CHECK(has_lengths(1, 200, true, kH200));
    CHECK(has_lengths(6, 200, false, kH200));
    CHECK_FALSE(has_lengths(6, 128, true, before));
}

TEST_CASE("Beside full lengths these shift the diagonal", "[passes]") {
    auto const lines = [](DiagonalAlignment_t corner, std::int64_t queries) {
        return steps(legal(sized(AttentionGraph::backward(), queries, 5).band(corner, 2, 0)));
    };
    Lines const shifted = lines(kBottomRight, 6);
    CHECK(has(shifted, "right_bound_row_plus_keys:INT32 = ADD(right_bound_row, full_seq_len_kv)"));
    CHECK(has(shifted, "right_bound_shifted_row:INT32 = SUB(right_bound_row_plus_keys, full_seq_len_q)"));
    CHECK(has(shifted, "left_bound_column_minus_keys:INT32 = SUB(left_bound_column_plus_bound, full_seq_len_kv)"));
    CHECK(has(shifted, "left_bound_shifted_column:INT32 = ADD(left_bound_column_minus_keys, full_seq_len_q)"));
    CHECK(lines(kBottomRight, 5) == lines(kTopLeft, 5));
}

TEST_CASE("Backward masks bands after Stats are subtracted, of 8 bits before", "[passes]") {
    Lines const lines = steps(legal(sized(AttentionGraph::backward(), 6, 128).band(kTopLeft, {}, 0)));
    CHECK(has(lines, "shifted_scores = SUB(scores, Stats)"));
    CHECK(has(lines, "right_bound_row:INT32 = GEN_INDEX(shifted_scores)"));
    CHECK(has(lines, "right_bound_scores = BINARY_SELECT(shifted_scores, right_bound_fill, right_bound_inside)"));
    CHECK(has(lines, "probabilities = EXP(right_bound_scores)"));
    Lines const padded = steps(legal(AttentionGraph::backward().padding().band(kTopLeft, {}, 0)));
    CHECK(has(padded, "shifted_scores = SUB(padding_scores, Stats)"));
    Lines const narrow = steps(legal(AttentionGraph::backward().fp8().band(kTopLeft, {}, 0)));
    CHECK(has(narrow, "shifted_scores = SUB(right_bound_scores, Stats)"));
}

TEST_CASE("A left bound is one number in floating point, where no lengths shift it", "[passes]") {
    auto const forward = [](DiagonalAlignment_t corner) { return AttentionGraph::forward().band(corner, 3, {}); };
    ir::OpGraph const top = legal(forward(kTopLeft)), bottom = legal(forward(kBottomRight));
    CHECK(has(steps(top), "left_bound_column_plus_bound = ADD(left_bound_column, left_bound)"));
    CHECK(number(top, "left_bound") == 3.0);
    CHECK(find_value(top, "left_bound").type == DataType_t::FLOAT);
    CHECK(has(steps(bottom), "left_bound_shifted_column = ADD(left_bound_column, left_bound)"));
    CHECK(number(bottom, "left_bound") == 4.0);  // 3 - keys + queries
    ir::OpGraph const by_lengths = legal(forward(kBottomRight).padding());
    CHECK(kinds(by_lengths).find("ADD SUB ADD CMP_GT") != std::string::npos);
    CHECK(find_value(by_lengths, "left_bound").type == DataType_t::INT32);
}
