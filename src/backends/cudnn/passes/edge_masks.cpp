#include "cudnn/passes/pass_list.h"

#include "attention/index_axis.h"

#include <set>
#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

constexpr std::int64_t kRows = 2;  // the axis of queries

std::int64_t axis_of(GraphDraft const& draft, ValueId value) {
    return attention::index_axis(value, [&](ValueId of) -> attention::PointwiseStep<ValueId> {
        auto const* const op = draft.written_by<PointwiseOp>(of);
        if (op == nullptr) return {};
        return {op->mode, op->axis, op->in[0], op->in[1]};
    });
}

// Whether the value is an index of one query, such as its columns, as the sum of its row, which is 0, and numbers from
// memory.
bool is_index_in_memory(GraphDraft const& draft, ValueId value) {
    PointwiseOp const* const sum = draft.step(value, ADD);
    return sum != nullptr && sum->in[1] != ir::kNoValue && !draft.value(sum->in[1]).table.empty();
}

// Writes row >= column as column <= row.
void turn(PointwiseOp& comparison) {
    std::swap(comparison.in[0], comparison.in[1]);
    switch (comparison.mode) {
        case CMP_GE: comparison.mode = CMP_LE; break;
        case CMP_GT: comparison.mode = CMP_LT; break;
        default: comparison.mode = CMP_GT; break;  // of CMP_LT
    }
}

// The results of the comparisons that have to be turned.
std::set<ValueId> comparisons_to_turn(GraphDraft const& draft) {
    std::set<ValueId> found;
    PointwiseOp const* last_edge = nullptr;
    for (ir::Op const& op : draft.ops) {
        auto const* const select = std::get_if<PointwiseOp>(&op.body);
        if (select == nullptr || select->mode != BINARY_SELECT) continue;
        auto const* const comparison = draft.written_by<PointwiseOp>(select->in[2]);
        if (comparison == nullptr || axis_of(draft, comparison->in[0]) != kRows) continue;
        if (comparison->mode == CMP_LT && !is_index_in_memory(draft, comparison->in[0])) found.insert(comparison->out);
        if (comparison->mode != CMP_GE && comparison->mode != CMP_GT) continue;
        if (last_edge != nullptr) found.insert(last_edge->out);
        last_edge = comparison;
    }
    return found;
}

}  // namespace

GraphDraft turn_edge_masks(GraphDraft draft) {
    std::set<ValueId> const found = comparisons_to_turn(draft);
    for (ir::Op& op : draft.ops) {
        auto* const comparison = std::get_if<PointwiseOp>(&op.body);
        if (comparison != nullptr && found.contains(comparison->out)) turn(*comparison);
    }
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
