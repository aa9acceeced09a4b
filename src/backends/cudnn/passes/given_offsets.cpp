#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::ValueId;
using ir::attention::Port;

// The gradient of keys or values: its product, or the sum of that over the heads that share them.
ValueId gradient_of(GraphDraft const& draft, std::size_t at) {
    auto const* const sum = std::get_if<ir::ReductionOp>(&draft.ops[at + 1].body);
    ValueId const of_heads = product(draft, at).c;
    return sum != nullptr && sum->x == of_heads ? sum->y : of_heads;
}

// O, which backward multiplies by its gradient.
ValueId output_beside(GraphDraft const& draft, ValueId gradient) {
    for (ir::Op const& op : draft.ops) {
        auto const* const step = std::get_if<ir::PointwiseOp>(&op.body);
        if (step != nullptr && step->mode == PointwiseMode_t::MUL && step->in[0] == gradient) return step->in[1];
    }
    return ir::kNoValue;
}

std::vector<ValueId> matrices_of(GraphDraft const& draft, BackwardSteps const& backward) {
    ir::MatmulOp const &scores = product(draft, backward.scores), &d_p = product(draft, backward.d_p);
    return {scores.a,
            scores.b,
            d_p.b,
            output_beside(draft, d_p.a),
            d_p.a,
            product(draft, backward.d_q).c,
            gradient_of(draft, backward.d_k),
            gradient_of(draft, backward.d_v)};
}

std::vector<ValueId> matrices_of(GraphDraft const& draft, SoftmaxSteps const& softmax) {
    std::size_t weighing = softmax.division;
    while (!std::holds_alternative<ir::MatmulOp>(draft.ops[weighing].body)) ++weighing;
    ir::MatmulOp const &scores = product(draft, softmax.product), &o = product(draft, weighing);
    return {scores.a, scores.b, o.b, o.c};
}

// Containers of pages have no sequences.
std::vector<ValueId> matrices_of(ir::SdpaForwardOp const& op) {
    auto const& operands = op.operands;
    bool const has_keys = operands[Port::PageTableK] == ir::kNoValue;
    bool const has_values = operands[Port::PageTableV] == ir::kNoValue;
    return {operands[Port::Q], has_keys ? operands[Port::K] : ir::kNoValue,
            has_values ? operands[Port::V] : ir::kNoValue, operands[Port::O]};
}

// Q, K, V, O and their gradients, where they are memory of the caller.
std::vector<ValueId> matrices_of(GraphDraft const& draft) {
    std::vector<ValueId> matrices;
    for (ir::Op const& op : draft.ops) {
        if (auto const* const unified = std::get_if<ir::SdpaForwardOp>(&op.body)) matrices = matrices_of(*unified);
    }
    if (auto const softmax = find_softmax(draft)) {
        matrices = matrices_of(draft, *softmax);
    } else if (auto const backward = find_backward(draft)) {
        matrices = matrices_of(draft, *backward);
    }
    std::erase(matrices, ir::kNoValue);
    for (ValueId& id : matrices) id = draft.storage_of(id);
    std::erase_if(matrices, [&](ValueId id) { return draft.value(id).role == ir::Role::Virtual; });
    return matrices;
}

// Tensors with the same stride share a table, for example a tensor and its gradient.
class OffsetTables {
   public:
    OffsetTables(GraphDraft& draft, DataType_t type) : draft_(draft), type_(type) {}

    ValueId of(ValueId dense) {
        std::int64_t const stride = draft_.value(dense).stride[0], entries = draft_.value(dense).dim[0];
        auto const known = std::ranges::find_if(
            tables_, [&](OffsetTable const& table) { return table.stride == stride && table.entries == entries; });
        if (known != tables_.end()) return known->id;
        std::vector<double> starts;
        for (std::int64_t b = 0; b <= entries; ++b) starts.push_back(static_cast<double>(b * stride));
        std::string const name = draft_.value(dense).name + "::offsets";
        ValueId const id = draft_.add_table(name, {entries + 1, 1, 1, 1}, std::move(starts), type_);
        tables_.push_back({stride, entries, id});
        return id;
    }

   private:
    struct OffsetTable {
        std::int64_t stride, entries;
        ValueId id;
    };

    GraphDraft& draft_;
    DataType_t type_;
    std::vector<OffsetTable> tables_;
};

}  // namespace

GraphDraft give_offsets(GraphDraft draft) {
    std::vector<ValueId> const matrices = matrices_of(draft);
    auto const is_ragged = [&](ValueId id) { return static_cast<bool>(draft.value(id).ragged); };
    auto const ragged = std::ranges::find_if(matrices, is_ragged);
    if (ragged == matrices.end()) return draft;
    OffsetTables tables(draft, draft.value(draft.value(*ragged).ragged.offset).type);
    for (ValueId const id : matrices) {
        if (!is_ragged(id)) draft.offsets[id] = tables.of(id);
    }
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
