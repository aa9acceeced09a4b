#include "cudnn/passes/pass_list.h"

#include "core/pointwise.h"
#include "cudnn/passes/draft_attention.h"

#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

bool is_integer_input(GraphDraft const& draft, ValueId id) {
    ir::Value const& value = draft.value(id);
    bool const is_integer = value.type == DataType_t::INT32 || value.type == DataType_t::INT64;
    return value.role == ir::Role::Input && is_integer && value.dim.size() == 4;
}

bool is_integer_constant(GraphDraft const& draft, ValueId id) {
    ir::Value const& value = draft.value(id);
    return value.role == ir::Role::Constant && value.type == DataType_t::INT32 && value.table.empty();
}

// The place of the comparison that makes the predicate; kNowhere where it reads anything but an input and another one
// or a constant.
std::size_t comparison_of_inputs(GraphDraft const& draft, ValueId predicate) {
    auto const* const comparison = draft.written_by<PointwiseOp>(predicate);
    if (comparison == nullptr || !core::is_comparison(comparison->mode)) return kNowhere;
    ValueId const first = comparison->in[0], second = comparison->in[1];
    bool const are_inputs =
        is_integer_input(draft, first) && (is_integer_input(draft, second) || is_integer_constant(draft, second));
    bool const is_result = draft.value(predicate).role != ir::Role::Virtual;
    return are_inputs && !is_result ? draft.writer_of(predicate) : kNowhere;
}

// Puts the steps that compute the first operand in front of the selection.
void compute_first(GraphDraft& draft, std::size_t selection, ir::Op comparison) {
    auto& body = std::get<PointwiseOp>(comparison.body);
    ValueId const scores = step(draft, selection).in[0];
    core::Dims const dim = draft.value(scores).dim;
    std::string const name = draft.value(body.out).name;
    auto const add = [&](char const* step) {
        return draft.add({.name = name + step, .type = DataType_t::INT32, .dim = dim});
    };
    ValueId const row = add("::row"), nothing = add("::nothing"), computed = add("::computed");
    draft.value(body.out).dim = dim;
    draft.value(body.out).stride = core::packed_strides(dim);
    ir::Op index = pointwise(draft, GEN_INDEX, {scores}, row, DataType_t::INT32);
    std::get<PointwiseOp>(index.body).axis = 2;
    ir::Op const difference = pointwise(draft, SUB, {row, row}, nothing, DataType_t::INT32);
    ir::Op const sum = pointwise(draft, ADD, {nothing, body.in[0]}, computed, DataType_t::INT32);
    body.in[0] = computed;
    for (ir::Op const& op : {index, difference, sum, comparison}) draft.insert(selection++, op);
}

}  // namespace

GraphDraft compute_compared_inputs(GraphDraft draft) {
    auto const steps = find_score_steps(draft);
    if (!steps) return draft;
    for (std::size_t i = steps->end_of_modifiers; i-- > steps->first;) {
        auto const* const select = std::get_if<PointwiseOp>(&draft.ops[i].body);
        if (select == nullptr || select->mode != BINARY_SELECT) continue;
        std::size_t const at = comparison_of_inputs(draft, select->in[2]);
        if (at == kNowhere) continue;
        ir::Op comparison = draft.ops[at];
        draft.erase(at);
        compute_first(draft, i - 1, std::move(comparison));
    }
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
