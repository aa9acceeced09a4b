#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <algorithm>

namespace cudnn_frontend::cudnn::passes {

using ir::ValueId;
using enum PointwiseMode_t;

GraphDraft place_softmax_rows(GraphDraft draft) {
    auto const softmax = find_softmax(draft);
    if (!softmax || is_own(draft, softmax->max) == is_own(draft, softmax->sum)) return draft;
    draft.scratch[is_own(draft, softmax->max) ? softmax->max : softmax->sum] = {};
    return draft;
}

static bool has_logarithm(GraphDraft const& draft, ValueId sum) {
    return std::ranges::any_of(draft.ops, [&](ir::Op const& op) {
        auto const* const step = std::get_if<ir::PointwiseOp>(&op.body);
        return step != nullptr && step->mode == LOG && step->in[0] == sum;
    });
}

GraphDraft add_unread_logarithm(GraphDraft draft) {
    auto const softmax = find_softmax(draft);
    if (!softmax || !is_own(draft, softmax->max) || !is_own(draft, softmax->sum)) return draft;
    if (has_logarithm(draft, softmax->sum)) return draft;
    DataType_t const compute_type = draft.ops[softmax->division].compute_type;
    ir::Value row = draft.value(softmax->sum);
    row.name = name_beside(row.name, "softmax_log_sum");
    ValueId const logarithm = draft.add(row);
    row.name = name_beside(row.name, "stats");
    ValueId const stats = draft.add(row);
    std::size_t const at = draft.writer_of(softmax->sum) + 1;
    draft.insert(at, pointwise(draft, LOG, {softmax->sum}, logarithm, compute_type));
    draft.insert(at + 1, pointwise(draft, ADD, {logarithm, softmax->max}, stats, compute_type));
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
