#include "cudnn/passes/draft_attention.h"

#include "core/data_type.h"

#include <algorithm>

namespace cudnn_frontend::cudnn::passes {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

namespace {

// The last product before that place.
std::size_t product_before(GraphDraft const& draft, std::size_t at) {
    while (at-- > 0) {
        if (std::holds_alternative<ir::MatmulOp>(draft.ops[at].body)) return at;
    }
    return kNowhere;
}

}  // namespace

std::optional<SoftmaxSteps> find_softmax(GraphDraft const& draft) {
    for (std::size_t i = 0; i < draft.ops.size(); ++i) {
        auto const* const division = std::get_if<PointwiseOp>(&draft.ops[i].body);
        if (division == nullptr || division->mode != DIV || division->masked_by != ir::MaskedBy::First) continue;
        PointwiseOp const* const exponential = draft.step(division->in[0], EXP);
        PointwiseOp const* const shifted = draft.step(exponential->in[0], SUB);
        return SoftmaxSteps{product_before(draft, i), i, shifted->in[1], division->in[1]};
    }
    return std::nullopt;
}

namespace {

// The places of the products before which masked pairs are 0: in forward that of the values, in backward those of three
// gradients.
std::vector<std::size_t> products_of_masked(GraphDraft const& draft) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < draft.ops.size(); ++i) {
        auto const* const product = std::get_if<ir::MatmulOp>(&draft.ops[i].body);
        if (product != nullptr && product->a_masks) places.push_back(i);
    }
    return places;
}

// The first of attention's own differences from there on in which masked pairs are known as such.
std::size_t difference_from(GraphDraft const& draft, std::size_t at, ir::MaskedBy by) {
    while (true) {
        auto const* const step = std::get_if<PointwiseOp>(&draft.ops[at].body);
        bool const is_found = step != nullptr && step->mode == SUB && step->masked_by == by;
        if (is_found && is_own(draft, step->out) && draft.value(step->out).type == DataType_t::FLOAT) return at;
        ++at;
    }
}

}  // namespace

std::optional<BackwardSteps> find_backward(GraphDraft const& draft) {
    std::vector<std::size_t> const masked = products_of_masked(draft);
    if (masked.size() != 3) return std::nullopt;
    BackwardSteps backward{.d_v = masked[0], .d_k = masked[1], .d_q = masked[2]};
    backward.scores = product_before(draft, backward.d_v);
    backward.d_p = product_before(draft, backward.d_k);
    backward.shifted = difference_from(draft, backward.scores, ir::MaskedBy::Either);
    backward.centered = difference_from(draft, backward.d_p, ir::MaskedBy::Neither);
    backward.gradient = backward.centered + 1;
    return backward;
}

std::optional<ScoreSteps> find_score_steps(GraphDraft const& draft) {
    if (auto const softmax = find_softmax(draft)) {
        return ScoreSteps{softmax->product, softmax->division, draft.ops.size(), false};
    }
    auto const backward = find_backward(draft);
    if (!backward) return std::nullopt;
    return ScoreSteps{backward->scores, backward->d_q, backward->d_q, true};
}

std::size_t masked_product_of(GraphDraft const& draft, ValueId value) {
    for (std::size_t i = 0; i < draft.ops.size(); ++i) {
        auto const* const product = std::get_if<PointwiseOp>(&draft.ops[i].body);
        bool const is_masked = product != nullptr && product->mode == MUL && product->masked_by == ir::MaskedBy::First;
        if (is_masked && product->in[0] == value) return i;
    }
    return kNowhere;
}

ValueId given_mask(GraphDraft const& draft) {
    auto const softmax = find_softmax(draft);
    auto const backward = softmax ? std::nullopt : find_backward(draft);
    if (!softmax && !backward) return ir::kNoValue;
    ValueId const p = softmax ? step(draft, softmax->division).out : step(draft, backward->gradient).in[1];
    std::size_t const by_mask = masked_product_of(draft, p);
    if (by_mask == kNowhere) return ir::kNoValue;
    ValueId const mask = step(draft, by_mask).in[1];
    return draft.written_by<ir::RngOp>(mask) == nullptr ? mask : ir::kNoValue;
}

// A mask of a band selects by one comparison, a padding mask by two.
ValueId scores_before_bands(GraphDraft const& draft, BackwardSteps const& backward) {
    ValueId scores = step(draft, backward.shifted).in[0];
    while (is_own(draft, scores)) {
        PointwiseOp const* const select = draft.step(scores, BINARY_SELECT);
        if (select == nullptr || draft.step(select->in[2], LOGICAL_AND) != nullptr) break;
        scores = select->in[0];
    }
    return scores;
}

std::size_t negation_of_sink(GraphDraft const& draft) {
    for (std::size_t i = 0; i < draft.ops.size(); ++i) {
        auto const* const negation = std::get_if<PointwiseOp>(&draft.ops[i].body);
        bool const is_own_sum = negation != nullptr && negation->mode == NEG && is_own(draft, negation->in[0]);
        if (is_own_sum && draft.written_by<ir::ReductionOp>(negation->in[0]) != nullptr) return i;
    }
    return kNowhere;
}

std::size_t first_own_reader(GraphDraft const& draft, ValueId value) {
    auto const reader = std::ranges::find_if(draft.ops, [&](ir::Op const& op) {
        auto const* const step = std::get_if<PointwiseOp>(&op.body);
        return step != nullptr && is_own(draft, step->out) && std::ranges::count(step->in, value) > 0;
    });
    return static_cast<std::size_t>(reader - draft.ops.begin());
}

std::optional<DataType_t> compute_type_of_attention(GraphDraft const& draft) {
    if (auto const softmax = find_softmax(draft)) return draft.ops[softmax->division].compute_type;
    if (auto const backward = find_backward(draft)) return draft.ops[backward->scores].compute_type;
    return std::nullopt;
}

bool is_8_bit(GraphDraft const& draft, std::size_t scores) {
    ValueId const q = product(draft, scores).a;
    return core::is_fp8(draft.value(q).type) || draft.written_by<ir::BlockDequantizeOp>(q) != nullptr;
}

ir::MatmulOp& product(GraphDraft& draft, std::size_t at) { return std::get<ir::MatmulOp>(draft.ops[at].body); }
ir::MatmulOp const& product(GraphDraft const& draft, std::size_t at) {
    return std::get<ir::MatmulOp>(draft.ops[at].body);
}
PointwiseOp& step(GraphDraft& draft, std::size_t at) { return std::get<PointwiseOp>(draft.ops[at].body); }
PointwiseOp const& step(GraphDraft const& draft, std::size_t at) { return std::get<PointwiseOp>(draft.ops[at].body); }

bool is_own(GraphDraft const& draft, ValueId id) { return draft.value(id).uid < 0; }

bool is_own_number(GraphDraft const& draft, ValueId id) {
    if (id == ir::kNoValue || !is_own(draft, id)) return false;
    return draft.value(id).role == ir::Role::Constant && draft.value(id).table.empty();
}

}  // namespace cudnn_frontend::cudnn::passes
