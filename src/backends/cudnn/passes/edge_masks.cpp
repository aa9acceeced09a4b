#include "cudnn/passes/edge_masks.h"

#include "core/index_axis.h"

#include <map>
#include <utility>

namespace cudnn_frontend::cudnn {
namespace {

using ir::PointwiseOp;
using ir::ValueId;

// The pointwise operations of a graph by what they write.
class Pointwise {
   public:
    explicit Pointwise(ir::OpGraph const& graph) {
        for (ir::Op const& op : graph.ops()) {
            auto const* const pointwise = std::get_if<PointwiseOp>(&op.body);
            if (pointwise != nullptr) writers_[pointwise->out] = pointwise;
        }
    }

    PointwiseOp const* writer_of(ValueId value) const {
        auto const found = writers_.find(value);
        return found == writers_.end() ? nullptr : found->second;
    }

    std::int64_t axis_of(ValueId value) const {
        return core::index_axis(value, [&](ValueId of) -> core::PointwiseStep<ValueId> {
            PointwiseOp const* const op = writer_of(of);
            if (op == nullptr) return {};
            return {op->mode, op->axis, op->in[0], op->in[1]};
        });
    }

   private:
    std::map<ValueId, PointwiseOp const*> writers_;
};

constexpr std::int64_t kRows = 2;  // the axis of queries

// An index of one query, such as its columns: its row, 0, and numbers from memory.
bool is_index_in_memory(ir::OpGraph const& graph, PointwiseOp const* writer) {
    bool const is_sum = writer != nullptr && writer->mode == PointwiseMode_t::ADD && writer->in[1] != ir::kNoValue;
    return is_sum && !graph.value(writer->in[1]).table.empty();
}

// row >= column as column <= row.
PointwiseOp turned_around(PointwiseOp comparison) {
    using enum PointwiseMode_t;
    std::swap(comparison.in[0], comparison.in[1]);
    switch (comparison.mode) {
        case CMP_GE: comparison.mode = CMP_LE; break;
        case CMP_GT: comparison.mode = CMP_LT; break;
        default: comparison.mode = CMP_GT; break;  // of CMP_LT
    }
    return comparison;
}

}  // namespace

std::map<ValueId, PointwiseOp> turned_comparisons(ir::OpGraph const& graph) {
    using enum PointwiseMode_t;
    Pointwise const pointwise(graph);
    std::map<ValueId, PointwiseOp> turned;
    PointwiseOp const* last_edge = nullptr;
    for (ir::Op const& op : graph.ops()) {
        auto const* const select = std::get_if<PointwiseOp>(&op.body);
        if (select == nullptr || select->mode != BINARY_SELECT) continue;
        PointwiseOp const* const comparison = pointwise.writer_of(select->in[2]);
        if (comparison == nullptr || pointwise.axis_of(comparison->in[0]) != kRows) continue;
        bool const is_in_memory = is_index_in_memory(graph, pointwise.writer_of(comparison->in[0]));
        if (comparison->mode == CMP_LT && !is_in_memory) turned.emplace(comparison->out, turned_around(*comparison));
        if (comparison->mode != CMP_GE && comparison->mode != CMP_GT) continue;
        if (last_edge != nullptr) turned.emplace(last_edge->out, turned_around(*last_edge));
        last_edge = comparison;
    }
    return turned;
}

}  // namespace cudnn_frontend::cudnn
