#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <utility>

namespace cudnn_frontend::cudnn::passes {

using ir::MaskedBy;
using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

GraphDraft scale_before_given_mask(GraphDraft draft) {
    auto const softmax = find_softmax(draft);
    if (!softmax || given_mask(draft) == ir::kNoValue) return draft;
    std::size_t const by_mask = masked_product_of(draft, step(draft, softmax->division).out);
    std::size_t const by_scale = masked_product_of(draft, step(draft, by_mask).out);
    std::swap(step(draft, by_mask).in[1], step(draft, by_scale).in[1]);
    return draft;
}

namespace {

// The gradient of a sink branches off before the factor.
std::size_t end_of_row_sum(GraphDraft const& draft, ValueId sum) {
    std::size_t const of_sink = negation_of_sink(draft);
    return (of_sink == kNowhere ? draft.writer_of(sum) : of_sink) + 1;
}

// Multiplies the row's sum; the following steps move on by one.
ValueId multiply_row_sum(GraphDraft& draft, BackwardSteps const& backward, double factor) {
    ValueId const sum = step(draft, backward.centered).in[1];
    ir::Value row = draft.value(sum);
    row.name = name_beside(row.name, "scaled_row_dot");
    ValueId const scaled = draft.add(row);
    ValueId const number = draft.add_number(name_beside(row.name, "row_dot_factor"), static_cast<float>(factor));
    step(draft, backward.centered).in[1] = scaled;
    DataType_t const compute_type = draft.ops[backward.scores].compute_type;
    draft.insert(end_of_row_sum(draft, sum), pointwise(draft, MUL, {sum, number}, scaled, compute_type));
    return scaled;
}

}  // namespace

GraphDraft scale_drawn_gradients_late(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward) return draft;
    PointwiseOp const centered = step(draft, backward->centered), gradient = step(draft, backward->gradient);
    PointwiseOp const* const scaled = draft.step(centered.in[0], MUL);
    PointwiseOp const* const kept = scaled == nullptr ? nullptr : draft.step(scaled->in[0], MUL);
    auto const* const mask = kept == nullptr ? nullptr : draft.written_by<ir::RngOp>(kept->in[1]);
    if (mask == nullptr) return draft;
    double const keeps = mask->probability;
    ValueId const scale = scaled->in[1];
    ir::Value unscaled = draft.value(centered.out);
    unscaled.name = name_beside(unscaled.name, "score_gradients");
    ValueId const early = draft.add(unscaled);
    step(draft, backward->centered).in[0] = scaled->in[0];
    step(draft, backward->gradient).out = early;
    draft.ops[backward->gradient].name = unscaled.name;
    if (is_own(draft, gradient.out)) {
        draft.value(gradient.out).name = name_beside(unscaled.name, "dropped_score_gradients");
    }
    ir::Op late = pointwise(draft, MUL, {early, scale}, gradient.out, draft.ops[backward->gradient].compute_type);
    std::get<PointwiseOp>(late.body).masked_by = MaskedBy::First;
    draft.insert(backward->gradient + 1, std::move(late));
    draft.erase(draft.writer_of(centered.in[0]));
    multiply_row_sum(draft, *find_backward(draft), keeps);
    return draft;
}

GraphDraft end_row_sums(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward) return draft;
    ValueId sum = step(draft, backward->centered).in[1];
    PointwiseOp const* const product = draft.step(sum, MUL);
    ir::Value const* const factor = product == nullptr ? nullptr : &draft.value(product->in[1]);
    bool const has_factor = factor != nullptr && factor->role == ir::Role::Constant && factor->uid < 0;
    if (!has_factor) sum = multiply_row_sum(draft, *backward, 1.0);
    if (!is_8_bit(draft, find_backward(draft)->scores)) draft.scratch[sum] = {};
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
