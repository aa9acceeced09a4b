#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <algorithm>

namespace cudnn_frontend::cudnn::passes {

using ir::ValueId;

GraphDraft restore_keys(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward) return draft;
    ValueId const transposed = product(draft, backward->scores).b, keys = product(draft, backward->d_q).b;
    if (draft.value(transposed).view_of != keys) return draft;
    ir::Value const k = draft.value(keys);
    std::string const name = name_beside(draft.ops[backward->scores].name, "keys");
    ValueId const restored = draft.add({.name = name, .type = k.type, .dim = k.dim, .stride = k.stride});
    product(draft, backward->d_q).b = restored;
    draft.insert(backward->d_q,
                 {name, draft.ops[backward->scores].compute_type, ir::ReshapeOp{.x = transposed, .y = restored}});
    return draft;
}

namespace {

// Whether the operation sums the scores' gradients over the dims along which a bias is broadcast.
bool is_bias_gradient(GraphDraft const& draft, ir::Op const& op) {
    auto const* const sum = std::get_if<ir::ReductionOp>(&op.body);
    if (sum == nullptr || sum->mode != ReductionMode_t::ADD || is_own(draft, sum->y)) return false;
    auto const* const gradient = draft.step(sum->x, PointwiseMode_t::MUL);
    return gradient != nullptr && gradient->masked_by != ir::MaskedBy::Neither;
}

bool needs_one_piece(GraphDraft const& draft, BackwardSteps const& backward) {
    return product(draft, backward.d_q).is_deterministic || is_8_bit(draft, backward.scores) ||
           std::ranges::any_of(draft.ops, [&](ir::Op const& op) { return is_bias_gradient(draft, op); });
}

}  // namespace

GraphDraft accumulate_gradient_of_queries(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward || needs_one_piece(draft, *backward)) return draft;
    std::string const name = name_beside(draft.ops[backward->scores].name, "dQ_accumulator");
    ValueId const d_q = product(draft, backward->d_q).c;
    ValueId const accumulator = draft.add({.name = name, .type = DataType_t::FLOAT, .dim = draft.value(d_q).dim});
    draft.scratch[accumulator] = {};
    product(draft, backward->d_q).c = accumulator;
    draft.ops[backward->d_q].name = name;
    DataType_t const compute_type = draft.ops[backward->scores].compute_type;
    draft.insert(backward->d_q + 1, pointwise(draft, PointwiseMode_t::IDENTITY, {accumulator}, d_q, compute_type));
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
