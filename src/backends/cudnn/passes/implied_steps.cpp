#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

namespace cudnn_frontend::cudnn::passes {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

GraphDraft leave_sinks_sign(GraphDraft draft) {
    if (draft.sink_gradient) return draft;
    std::size_t const negation = negation_of_sink(draft);
    if (negation != kNowhere) draft.implied[step(draft, negation).in[0]] = step(draft, negation).out;
    return draft;
}

namespace {

bool is_scaling(GraphDraft const& draft, PointwiseOp const& op) {
    return op.mode == MUL && is_own_number(draft, op.in[1]);
}

// The step that multiplies the value by one of attention's own numbers; null where there is none.
PointwiseOp const* scaling_of(GraphDraft const& draft, ValueId value) {
    for (ir::Op const& op : draft.ops) {
        auto const* const step = std::get_if<PointwiseOp>(&op.body);
        if (step != nullptr && step->in[0] == value && is_scaling(draft, *step)) return step;
    }
    return nullptr;
}

}  // namespace

GraphDraft leave_probabilities_scale(GraphDraft draft) {
    auto const softmax = find_softmax(draft);
    if (!softmax) return draft;
    std::size_t at = softmax->division;
    while (!std::holds_alternative<ir::MatmulOp>(draft.ops[at].body)) ++at;
    ir::MatmulOp const& weighing = product(draft, at);
    auto const* const scaling = draft.written_by<PointwiseOp>(weighing.a);
    PointwiseOp const* const descaling = is_own(draft, weighing.c) ? scaling_of(draft, weighing.c) : nullptr;
    if (scaling == nullptr || descaling == nullptr || !is_scaling(draft, *scaling)) return draft;
    draft.implied[scaling->in[0]] = scaling->out;
    draft.implied[descaling->in[0]] = descaling->out;
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
