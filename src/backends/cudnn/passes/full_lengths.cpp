#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <limits>
#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

constexpr std::int64_t kKeyTile = 128;  // keys that engines work on at once

bool has_lengths(GraphDraft const& draft, BackwardSteps const& backward) {
    return product(draft, backward.scores).m_override != ir::kNoValue;
}

core::Dims const& dim_of_scores(GraphDraft const& draft, BackwardSteps const& backward) {
    return draft.value(product(draft, backward.scores).c).dim;
}

struct LengthValues {
    ValueId queries, keys;
};

LengthValues add_lengths(GraphDraft& draft, ValueId scores) {
    std::string const name = draft.value(scores).name;
    core::Dims const dim = draft.value(scores).dim;
    auto const add = [&](char const* step, std::int64_t length) {
        std::vector<double> const table(static_cast<std::size_t>(dim[0]), static_cast<double>(length));
        return draft.add_table(name_beside(name, step), {dim[0], 1, 1, 1}, table, DataType_t::INT32);
    };
    ValueId const queries = add("full_seq_len_q", dim[2]);
    return {queries, add("full_seq_len_kv", dim[3])};
}

void bound_products(GraphDraft& draft, BackwardSteps const& backward, LengthValues const& lengths) {
    for (std::size_t const at : {backward.scores, backward.d_p}) {
        product(draft, at).m_override = lengths.queries;
        product(draft, at).n_override = lengths.keys;
    }
    for (std::size_t const at : {backward.d_v, backward.d_k}) {
        product(draft, at).m_override = lengths.keys;
        product(draft, at).k_override = lengths.queries;
    }
    product(draft, backward.d_q).m_override = lengths.queries;
    product(draft, backward.d_q).k_override = lengths.keys;
}

// The diagonal's shift, of rows by keys - queries and of columns by queries - keys, comes from the lengths.
void shift_by_lengths(GraphDraft& draft, LengthValues const& lengths) {
    for (std::size_t i = 1; i < draft.ops.size(); ++i) {
        auto* const difference = std::get_if<PointwiseOp>(&draft.ops[i].body);
        bool const is_shift = difference != nullptr && difference->mode == SUB && is_own(draft, difference->out) &&
                              is_own_number(draft, difference->in[1]);
        if (!is_shift) continue;
        PointwiseOp const* const row_sum = draft.step(difference->in[0], ADD);
        bool const shifts_rows = draft.step(row_sum->in[0], GEN_INDEX)->axis == 2;
        difference->in[1] = shifts_rows ? lengths.queries : lengths.keys;
        std::size_t const sum = shifts_rows ? draft.writer_of(difference->in[0]) : i + 1;
        step(draft, sum).in[1] = shifts_rows ? lengths.keys : lengths.queries;
    }
}

// Adds steps, each behind the last one.
class PaddingMask {
   public:
    PaddingMask(GraphDraft& draft, ValueId scores, std::size_t at, DataType_t compute_type)
        : draft_(draft), scores_(scores), at_(at), compute_type_(compute_type) {}

    // The scores where both row and column lie within the lengths, -inf elsewhere.
    ValueId add(LengthValues const& lengths) {
        ValueId const row = index("row", 2), column = index("column", 3);
        ValueId const row_inside = compare("row_inside", CMP_LT, row, lengths.queries);
        ValueId const column_inside = compare("column_inside", CMP_LT, column, lengths.keys);
        ValueId const inside = compare("inside", LOGICAL_AND, row_inside, column_inside);
        std::string const& name = draft_.value(inside).name;
        ValueId const fill =
            draft_.add_number(name_beside(name, "padding_fill"), -std::numeric_limits<float>::infinity());
        return append(BINARY_SELECT, {scores_, fill, inside}, add_result("scores", DataType_t::FLOAT), compute_type_);
    }

   private:
    ValueId add_result(std::string const& name, DataType_t type) {
        std::string const path = name_beside(draft_.ops[at_].name, "padding_" + name);
        return draft_.add({.name = path, .type = type, .dim = draft_.value(scores_).dim});
    }
    ValueId append(PointwiseMode_t mode, std::initializer_list<ValueId> in, ValueId out, DataType_t compute_type) {
        draft_.insert(at_++, pointwise(draft_, mode, in, out, compute_type));
        return out;
    }
    ValueId index(char const* name, std::int64_t axis) {
        ValueId const out = append(GEN_INDEX, {scores_}, add_result(name, DataType_t::INT32), DataType_t::INT32);
        step(draft_, at_ - 1).axis = axis;
        return out;
    }
    ValueId compare(char const* name, PointwiseMode_t mode, ValueId a, ValueId b) {
        return append(mode, {a, b}, add_result(name, DataType_t::BOOLEAN), DataType_t::BOOLEAN);
    }

    GraphDraft& draft_;
    ValueId scores_;
    std::size_t at_;
    DataType_t compute_type_;
};

void mask_padding(GraphDraft& draft, BackwardSteps const& backward, LengthValues const& lengths) {
    ValueId const scores = scores_before_bands(draft, backward);
    std::size_t const at = first_own_reader(draft, scores);
    std::size_t const steps = draft.ops.size();
    ValueId const masked = PaddingMask(draft, scores, at, draft.ops[backward.scores].compute_type).add(lengths);
    for (std::size_t i = at + draft.ops.size() - steps; i < draft.ops.size(); ++i) {
        replace_input(draft.ops[i], scores, masked);
    }
}

GraphDraft with_full_lengths(GraphDraft draft, BackwardSteps const& backward) {
    LengthValues const lengths = add_lengths(draft, product(draft, backward.scores).c);
    bound_products(draft, backward, lengths);
    shift_by_lengths(draft, lengths);
    mask_padding(draft, backward, lengths);
    return draft;
}

}  // namespace

GraphDraft mask_by_full_lengths(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward || has_lengths(draft, *backward)) return draft;
    core::Dims const& dim = dim_of_scores(draft, *backward);
    std::int64_t const rest = dim[3] % kKeyTile;
    bool const is_right = rest == 0 || (rest != kKeyTile / 2 && given_mask(draft) != ir::kNoValue);
    if (dim[2] > 1 && is_right) return draft;
    return with_full_lengths(std::move(draft), *backward);
}

GraphDraft mask_by_full_lengths_beside_mask(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward || has_lengths(draft, *backward) || given_mask(draft) == ir::kNoValue) return draft;
    if (dim_of_scores(draft, *backward)[3] % kKeyTile == 0) return draft;
    return with_full_lengths(std::move(draft), *backward);
}

}  // namespace cudnn_frontend::cudnn::passes
