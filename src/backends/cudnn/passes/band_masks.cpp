#include "cudnn/passes/pass_list.h"

#include "core/data_type.h"
#include "cudnn/passes/draft_attention.h"

#include <utility>

namespace cudnn_frontend::cudnn::passes {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

GraphDraft mask_bands_late(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward || is_8_bit(draft, backward->scores)) return draft;
    ValueId const masked = step(draft, backward->shifted).in[0];
    ValueId const scores = scores_before_bands(draft, *backward);
    if (scores == masked) return draft;
    ir::Op difference = draft.ops[backward->shifted];
    ValueId const shifted = step(draft, backward->shifted).out;
    draft.erase(backward->shifted);
    std::size_t const first = first_own_reader(draft, scores);
    for (std::size_t i = first; i < backward->shifted; ++i) replace_input(draft.ops[i], scores, shifted);
    for (std::size_t i = backward->shifted; i < draft.ops.size(); ++i) replace_input(draft.ops[i], shifted, masked);
    std::get<PointwiseOp>(difference.body).in[0] = scores;
    draft.insert(first, std::move(difference));
    return draft;
}

namespace {

// Whether the sum is the first step of the bound of a left edge.
bool is_column_plus_bound(GraphDraft const& draft, PointwiseOp const& sum) {
    PointwiseOp const* const index = draft.step(sum.in[0], GEN_INDEX);
    return sum.mode == ADD && is_own(draft, sum.out) && index != nullptr && index->axis == 3 &&
           is_own_number(draft, sum.in[1]) && draft.value(sum.in[1]).type == DataType_t::INT32;
}

// The place of the sum's last step: itself where the diagonal is not shifted. kNowhere where lengths shift it.
std::size_t end_of_left_bound(GraphDraft const& draft, std::size_t sum) {
    ir::Op const& next = draft.ops[sum + 1];
    auto const* const difference = std::get_if<PointwiseOp>(&next.body);
    if (difference == nullptr || difference->mode != SUB) return sum;
    return is_own_number(draft, difference->in[1]) ? sum + 2 : kNowhere;
}

double integer_of(GraphDraft const& draft, std::size_t at) {
    PointwiseOp const& sum = step(draft, at);
    double const number = core::to_double(draft.value(sum.in[1]).constant);
    return sum.mode == SUB ? -number : number;
}

// Replaces the steps; the number comes at the place of the last of them.
void add_as_float(GraphDraft& draft, std::size_t first, std::size_t last, DataType_t compute_type) {
    double bound = 0.0;
    for (std::size_t at = first; at <= last; ++at) bound += integer_of(draft, at);
    ValueId const column = step(draft, first).in[0], out = step(draft, last).out;
    std::string const name = name_beside(draft.value(out).name, "left_bound");
    draft.value(out).type = DataType_t::FLOAT;
    ValueId const number = draft.add_number(name, static_cast<float>(bound));
    draft.ops[last] = pointwise(draft, ADD, {column, number}, out, compute_type);
    for (std::size_t at = last; at-- > first;) draft.erase(at);
}

}  // namespace

GraphDraft add_left_bounds_as_floats(GraphDraft draft) {
    auto const compute_type = compute_type_of_attention(draft);
    if (!compute_type) return draft;
    for (std::size_t i = 0; i < draft.ops.size(); ++i) {
        auto const* const sum = std::get_if<PointwiseOp>(&draft.ops[i].body);
        if (sum == nullptr || !is_column_plus_bound(draft, *sum)) continue;
        std::size_t const last = end_of_left_bound(draft, i);
        if (last != kNowhere) add_as_float(draft, i, last, *compute_type);
    }
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
