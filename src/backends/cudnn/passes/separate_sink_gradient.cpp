#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <algorithm>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::PointwiseOp;
using ir::ValueId;

bool draws_dropout(GraphDraft const& draft) {
    return std::ranges::any_of(draft.ops, [](ir::Op const& op) { return std::holds_alternative<ir::RngOp>(op.body); });
}

bool is_input(GraphDraft const& draft, ValueId id) { return draft.value(id).role == ir::Role::Input; }

// The parts of the gradient as expansion makes it: minus the sum of exp(sink - stats) times the sums of dO times O.
SinkGradient parts_of(GraphDraft const& draft, std::size_t negation) {
    ValueId const weight = step(draft, negation).in[0];
    auto const& sum = *draft.written_by<ir::ReductionOp>(weight);
    auto const& product = *draft.written_by<PointwiseOp>(sum.x);
    auto const& probability = *draft.written_by<PointwiseOp>(product.in[0]);
    auto const& shifted = *draft.written_by<PointwiseOp>(probability.in[0]);
    auto const& row_dot = *draft.written_by<ir::ReductionOp>(product.in[1]);
    auto const& of_row = *draft.written_by<PointwiseOp>(row_dot.x);
    ValueId const gradient = step(draft, negation).out;
    return {.o = of_row.in[1],
            .d_o = of_row.in[0],
            .stats = shifted.in[1],
            .sink = shifted.in[0],
            .gradient = gradient,
            .lengths = sum.rows,
            .steps = {shifted.out, probability.out, product.out, weight, gradient}};
}

}  // namespace

GraphDraft separate_sink_gradient(GraphDraft draft) {
    auto const backward = find_backward(draft);
    std::size_t const negation = negation_of_sink(draft);
    if (!backward || negation == kNowhere || is_8_bit(draft, backward->scores)) return draft;
    SinkGradient const parts = parts_of(draft, negation);
    auto const& sum = *draft.written_by<ir::ReductionOp>(step(draft, negation).in[0]);
    bool const is_ragged = draft.value(parts.o).ragged || !draft.offsets.empty();
    bool const is_in_memory = is_input(draft, parts.stats) && (sum.rows == ir::kNoValue || is_input(draft, sum.rows));
    bool const is_wrong = sum.is_deterministic || draws_dropout(draft) || is_ragged;
    if (is_wrong && is_in_memory) draft.sink_gradient = parts;
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
