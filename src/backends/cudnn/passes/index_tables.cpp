#include "cudnn/passes/pass_list.h"

#include "cudnn/passes/draft_attention.h"

#include <set>
#include <utility>

namespace cudnn_frontend::cudnn::passes {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

namespace {

// The distance of column and row times the slopes of the heads, where there is one row.
PointwiseOp const* find_alibi(GraphDraft const& draft) {
    for (ir::Op const& op : draft.ops) {
        auto const* const bias = std::get_if<PointwiseOp>(&op.body);
        bool const is_product = bias != nullptr && bias->mode == MUL && draft.step(bias->in[0], SUB) != nullptr;
        if (is_product && !draft.value(bias->in[1]).table.empty() && draft.value(bias->out).dim[2] == 1) return bias;
    }
    return nullptr;
}

}  // namespace

GraphDraft tabulate_alibi(GraphDraft draft) {
    PointwiseOp const* const found = find_softmax(draft) ? find_alibi(draft) : nullptr;
    if (found == nullptr) return draft;
    PointwiseOp const bias = *found, distance = *draft.step(bias.in[0], SUB);
    ir::Value const slopes = draft.value(bias.in[1]);
    core::Dims const& scores = draft.value(bias.out).dim;
    std::vector<double> biases;
    for (double const slope : slopes.table) {
        for (std::int64_t j = 0; j < scores[3]; ++j) biases.push_back(slope * static_cast<double>(j));
    }
    core::Dims const dim{1, scores[1], 1, scores[3]};
    ValueId const table =
        draft.add_table(name_beside(slopes.name, "alibi_biases"), dim, std::move(biases), slopes.type);
    for (ValueId const unused : {distance.in[0], distance.in[1], bias.in[0], bias.out}) {
        draft.erase(draft.writer_of(unused));
    }
    for (ir::Op& op : draft.ops) replace_input(op, bias.out, table);
    return draft;
}

namespace {

bool counts_columns_or_heads(GraphDraft const& draft, ir::Op const& op) {
    auto const* const index = std::get_if<PointwiseOp>(&op.body);
    if (index == nullptr || index->mode != GEN_INDEX || is_own(draft, index->out)) return false;
    core::Dims const& dim = draft.value(index->out).dim;
    return dim.size() == 4 && dim[2] == 1 && (index->axis == 1 || index->axis == 3);
}

void tabulate(GraphDraft& draft, std::size_t at) {
    ir::Op const op = draft.ops[at];
    PointwiseOp const index = std::get<PointwiseOp>(op.body);
    ir::Value const result = draft.value(index.out);
    ir::Value of_row{.name = result.name + "::row", .type = result.type, .dim = result.dim, .stride = result.stride};
    ValueId const row = draft.add(std::move(of_row));
    bool const counts_heads = index.axis == 1;
    core::Dims const dim{1, counts_heads ? result.dim[1] : 1, 1, result.dim[3]};
    std::vector<double> numbers;
    for (std::int64_t h = 0; h < dim[1]; ++h) {
        for (std::int64_t j = 0; j < dim[3]; ++j) numbers.push_back(static_cast<double>(counts_heads ? h : j));
    }
    ValueId const counted = draft.add_table(result.name + "::counted", dim, std::move(numbers), result.type);
    DataType_t const type = result.type == DataType_t::INT32 ? result.type : op.compute_type;
    PointwiseOp const row_index{{.mode = GEN_INDEX, .axis = 2}, {index.in[0], ir::kNoValue, ir::kNoValue}, row};
    PointwiseOp const sum{{.mode = ADD}, {row, counted, ir::kNoValue}, index.out};
    draft.ops[at] = {op.name, type, sum};
    draft.insert(at, {op.name + "::row", type, row_index});
}

}  // namespace

GraphDraft tabulate_indices(GraphDraft draft) {
    auto const softmax = find_softmax(draft);
    if (!softmax) return draft;
    for (std::size_t i = softmax->division; i-- > softmax->product;) {
        if (counts_columns_or_heads(draft, draft.ops[i])) tabulate(draft, i);
    }
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
