#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

// A scale is a number in addition to the factors of 8-bit tensors.
bool lacks_factor(GraphDraft const& draft, std::size_t scores) {
    if (!is_8_bit(draft, scores)) return false;
    auto const* const next = std::get_if<PointwiseOp>(&draft.ops[scores + 1].body);
    if (next == nullptr || next->mode != MUL || next->in[0] != product(draft, scores).c) return true;
    ir::Value const& factor = draft.value(next->in[1]);
    return core::volume(factor.dim) != 1 || factor.is_factor;
}

ValueId add_one(GraphDraft& draft) { return draft.add_number(name_beside(draft.ops.front().name, "scale"), 1.0f); }

ValueId add_scores(GraphDraft& draft, ValueId like, char const* name) {
    std::string const path = name_beside(draft.value(like).name, name);
    return draft.add({.name = path, .type = DataType_t::FLOAT, .dim = draft.value(like).dim});
}

// The product gets a new result, and the added step writes the product's former one.
void multiply_scores(GraphDraft& draft, std::size_t at, ValueId factor) {
    ValueId const scaled = product(draft, at).c;
    ValueId const scores = product(draft, at).c = add_scores(draft, scaled, "unscaled_scores");
    draft.insert(at + 1, pointwise(draft, MUL, {scores, factor}, scaled, draft.ops[at].compute_type));
}

// The gradients before they become narrow for the products of dQ and dK.
ValueId gradients_of_scores(GraphDraft const& draft, BackwardSteps const& backward) {
    ValueId const narrow = product(draft, backward.d_q).a;
    auto const* const wide = draft.written_by<ir::BlockDequantizeOp>(narrow);
    if (wide != nullptr) return draft.written_by<ir::BlockQuantizeOp>(wide->x)->x;
    return draft.written_by<PointwiseOp>(narrow)->in[0];
}

bool reads(ir::Op const& op, ValueId id) {
    return std::ranges::any_of(inputs_of(op), [&](ir::NamedValue const& in) { return in.value == id; });
}

void multiply_gradients(GraphDraft& draft, BackwardSteps const& backward, ValueId factor) {
    ValueId const gradients = gradients_of_scores(draft, backward);
    ValueId const scaled = add_scores(draft, gradients, "scaled_score_gradients");
    std::size_t at = draft.writer_of(gradients) + 1;
    while (!reads(draft.ops[at], gradients)) ++at;
    for (std::size_t i = at; i < draft.ops.size(); ++i) replace_input(draft.ops[i], gradients, scaled);
    ir::Op multiplication = pointwise(draft, MUL, {gradients, factor}, scaled, draft.ops[backward.scores].compute_type);
    std::get<PointwiseOp>(multiplication.body).masked_by = ir::MaskedBy::First;
    draft.insert(at, std::move(multiplication));
}

}  // namespace

GraphDraft multiply_narrow_scores(GraphDraft draft) {
    if (auto const softmax = find_softmax(draft)) {
        if (lacks_factor(draft, softmax->product)) multiply_scores(draft, softmax->product, add_one(draft));
        return draft;
    }
    auto const backward = find_backward(draft);
    if (!backward || !lacks_factor(draft, backward->scores)) return draft;
    ValueId const one = add_one(draft);
    multiply_gradients(draft, *backward, one);
    multiply_scores(draft, backward->scores, one);
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
