#include "expand/attention_steps.h"

#include <limits>

namespace cudnn_frontend::expand {

using ir::ValueId;
using enum PointwiseMode_t;

namespace {

// The indices i and j of each score. Every mask has its own pair, and so is independent of the others.
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

// Where there are as many queries as keys, both corners have one diagonal, and nothing is shifted.
bool shifts_diagonal(AttentionScope const& at) {
    if (at.fields().diagonal_alignment != DiagonalAlignment_t::BOTTOM_RIGHT) return false;
    return at.fields().padding_mask || at.queries() != at.keys();
}

// The numbers of queries and keys: those of each sequence where they have lengths.
struct Counts {
    ValueId queries, keys;
};

Counts counts(AttentionScope& at, std::string const& mask) {
    if (at.has_lengths()) return {at.seq_len_q(), at.seq_len_kv()};
    return {at.add_integer(mask + "_queries", at.queries()), at.add_integer(mask + "_keys", at.keys())};
}

// i + shift, with the shift of the diagonal keys - queries.
ValueId shifted_row(AttentionScope& at, ValueId row) {
    auto const [queries, keys] = counts(at, "right_bound");
    row = at.pointwise(ADD, {row, keys}, at.add_index("right_bound_row_plus_keys"));
    return at.pointwise(SUB, {row, queries}, at.add_index("right_bound_shifted_row"));
}

// Keeps j <= i + shift + right, written as row >= column.
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

// j - shift
ValueId shifted_column(AttentionScope& at, ValueId column) {
    auto const [queries, keys] = counts(at, "left_bound");
    column = at.pointwise(SUB, {column, keys}, at.add_index("left_bound_column_minus_keys"));
    return at.pointwise(ADD, {column, queries}, at.add_index("left_bound_shifted_column"));
}

// Keeps j > i + shift - left, written as column > row.
ValueId mask_left(AttentionScope& at, ValueId s, std::int64_t left) {
    auto [row, column] = indices(at, s, "left_bound");
    ValueId const bound = at.add_integer("left_bound", left);
    column = at.pointwise(ADD, {column, bound}, at.add_index("left_bound_column_plus_bound"));
    if (shifts_diagonal(at)) column = shifted_column(at, column);
    ValueId const inside = at.pointwise(CMP_GT, {column, row}, at.add_predicate("left_bound_inside"));
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
    if (!at.is_connected(Port::BlockMask)) return s;
    ValueId const inside = at.block_mask({.mask = at.port(Port::BlockMask), .y = at.add_predicate("block_inside")});
    return keep_where(at, s, inside, "block");
}

// A bound that masks nothing is left out: it would take time, and a huge one could overflow the sums with indices and
// lengths.
ValueId mask_band(AttentionScope& at, ValueId s) {
    auto const& fields = at.fields();
    std::int64_t const keeps_all_right = shifts_diagonal(at) ? at.queries() - 1 : at.keys() - 1;
    std::int64_t const keeps_all_left = shifts_diagonal(at) ? at.keys() : at.queries();
    if (fields.right_bound && *fields.right_bound < keeps_all_right) s = mask_right(at, s, *fields.right_bound);
    if (fields.left_bound && *fields.left_bound < keeps_all_left) s = mask_left(at, s, *fields.left_bound);
    return s;
}

}  // namespace cudnn_frontend::expand
