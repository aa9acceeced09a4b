#include "expand/masks.h"

#include <limits>

namespace cudnn_frontend::expand {

using ir::ValueId;
using enum PointwiseMode_t;

namespace {

// The indices i and j of each score. Every mask has its own pair, because engines recognize masks as whole patterns.
struct Indices {
    ValueId row, column;
};

Indices indices(AttentionScope& at, ValueId s, std::string const& mask) {
    ValueId const row = at.index(s, 2, at.add_index(mask + "_row"));
    ValueId const column = at.index(s, 3, at.add_index(mask + "_column"));
    return {row, column};
}

// s where the predicate holds, -inf elsewhere.
ValueId keep_where(AttentionScope& at, ValueId s, ValueId predicate, std::string const& mask) {
    ValueId const fill = at.add_number(mask + "_fill", -std::numeric_limits<double>::infinity());
    return at.pointwise(BINARY_SELECT, {s, fill, predicate}, at.add_score(mask + "_scores"));
}

// Where there are as many queries as keys, both corners have one diagonal: told as the top left, engines skip tiles.
bool shifts_diagonal(AttentionScope const& at) {
    if (at.fields().diagonal_alignment != DiagonalAlignment_t::BOTTOM_RIGHT) return false;
    return at.fields().padding_mask || at.queries() != at.keys();
}

// i + shift
ValueId shifted_row(AttentionScope& at, ValueId row) {
    ValueId const keys = at.has_lengths() ? at.seq_len_kv() : at.add_integer("right_bound_keys", at.keys());
    ValueId const queries = at.has_lengths() ? at.seq_len_q() : at.add_integer("right_bound_queries", at.queries());
    row = at.pointwise(ADD, {row, keys}, at.add_index("right_bound_row_plus_keys"));
    return at.pointwise(SUB, {row, queries}, at.add_index("right_bound_shifted_row"));
}

// Keeps j <= i + shift + right, written as row >= column: engines skip tiles for this form of causality alone.
ValueId mask_right(AttentionScope& at, ValueId s, std::int64_t right) {
    auto [row, column] = indices(at, s, "right_bound");
    if (shifts_diagonal(at)) row = shifted_row(at, row);
    if (right != 0) {
        ValueId const bound = at.add_integer("right_bound", right);
        row = at.pointwise(ADD, {row, bound}, at.add_index("right_bound_last_column"));
    }
    ValueId const inside = at.pointwise(CMP_GE, {row, column}, at.add_predicate("right_bound_inside"));
    return keep_where(at, s, inside, "right_bound");
}

// j - shift + left, with lengths that differ between batch entries.
ValueId column_by_lengths(AttentionScope& at, ValueId column, std::int64_t left) {
    ValueId const bound = at.add_integer("left_bound", left);
    column = at.pointwise(ADD, {column, bound}, at.add_index("left_bound_column_plus_bound"));
    column = at.pointwise(SUB, {column, at.seq_len_kv()}, at.add_index("left_bound_column_minus_keys"));
    return at.pointwise(ADD, {column, at.seq_len_q()}, at.add_index("left_bound_shifted_column"));
}

// j - shift + left, with one shift for the whole graph. Engines expect this sum in floating point.
ValueId column_by_constant(AttentionScope& at, ValueId column, std::int64_t left) {
    std::int64_t const shift = shifts_diagonal(at) ? at.keys() - at.queries() : 0;
    ValueId const bound = at.add_number("left_bound", static_cast<double>(left - shift));
    return at.pointwise(ADD, {column, bound}, at.add_score("left_bound_shifted_column"));
}

// Keeps j > i + shift - left, written as column > row.
ValueId mask_left(AttentionScope& at, ValueId s, std::int64_t left) {
    auto const [row, column] = indices(at, s, "left_bound");
    bool const shifts_by_lengths = shifts_diagonal(at) && at.has_lengths();
    ValueId const shifted =
        shifts_by_lengths ? column_by_lengths(at, column, left) : column_by_constant(at, column, left);
    ValueId const inside = at.pointwise(CMP_GT, {shifted, row}, at.add_predicate("left_bound_inside"));
    return keep_where(at, s, inside, "left_bound");
}

}  // namespace

ValueId mask_padding(AttentionScope& at, ValueId s) {
    auto const [row, column] = indices(at, s, "padding");
    ValueId const row_inside = at.pointwise(CMP_LT, {row, at.seq_len_q()}, at.add_predicate("padding_row_inside"));
    ValueId const column_inside =
        at.pointwise(CMP_LT, {column, at.seq_len_kv()}, at.add_predicate("padding_column_inside"));
    ValueId const inside = at.pointwise(LOGICAL_AND, {row_inside, column_inside}, at.add_predicate("padding_inside"));
    return keep_where(at, s, inside, "padding");
}

ValueId mask_blocks(AttentionScope& at, ValueId s) {
    if (!at.is_connected(Port::Block_mask)) return s;
    ValueId const inside = at.block_mask({.mask = at.port(Port::Block_mask), .y = at.add_predicate("block_inside")});
    return keep_where(at, s, inside, "block");
}

// A bound that masks nothing is left out: engines have fast paths for unmasked decoding, and a huge bound could
// overflow the sums with indices and lengths.
ValueId mask_band(AttentionScope& at, ValueId s) {
    auto const& fields = at.fields();
    std::int64_t const keeps_all_right = shifts_diagonal(at) ? at.queries() - 1 : at.keys() - 1;
    std::int64_t const keeps_all_left = shifts_diagonal(at) ? at.keys() : at.queries();
    if (fields.right_bound && *fields.right_bound < keeps_all_right) s = mask_right(at, s, *fields.right_bound);
    if (fields.left_bound && *fields.left_bound < keeps_all_left) s = mask_left(at, s, *fields.left_bound);
    return s;
}

}  // namespace cudnn_frontend::expand
