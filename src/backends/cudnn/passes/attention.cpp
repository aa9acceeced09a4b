#include "cudnn/passes/attention.h"

namespace cudnn_frontend::cudnn::passes {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

namespace {

// The last product before that place.
std::size_t product_before(Draft const& draft, std::size_t at) {
    while (at-- > 0) {
        if (std::holds_alternative<ir::MatmulOp>(draft.ops[at].body)) return at;
    }
    return kNowhere;
}

}  // namespace

std::optional<Softmax> find_softmax(Draft const& draft) {
    for (std::size_t i = 0; i < draft.ops.size(); ++i) {
        auto const* const division = std::get_if<PointwiseOp>(&draft.ops[i].body);
        if (division == nullptr || division->mode != DIV || division->masked_by != ir::MaskedBy::First) continue;
        PointwiseOp const* const exponential = draft.step(division->in[0], EXP);
        PointwiseOp const* const shifted = draft.step(exponential->in[0], SUB);
        return Softmax{product_before(draft, i), i, shifted->in[1], division->in[1]};
    }
    return std::nullopt;
}

bool is_own(Draft const& draft, ValueId id) { return draft.value(id).uid < 0; }

}  // namespace cudnn_frontend::cudnn::passes
