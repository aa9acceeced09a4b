#include "cudnn/passes/pass_list.h"

#include "core/pointwise.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::PointwiseOp;
using ir::ValueId;
using enum PointwiseMode_t;

bool gives_truth(PointwiseMode_t mode) { return core::is_comparison(mode) || core::is_logical(mode); }

bool reads_truth(PointwiseOp const& op, std::size_t operand) {
    return core::is_logical(op.mode) || (op.mode == BINARY_SELECT && operand == 2);
}

// Whether all that read the value read it as true or false.
bool is_truth_alone(GraphDraft& draft, ValueId value) {
    return std::ranges::all_of(draft.ops, [&](ir::Op& op) {
        auto const* const body = std::get_if<PointwiseOp>(&op.body);
        bool is_alone = true;
        std::size_t operand = 0;
        for_each_input(op, [&](ValueId& id) {
            is_alone = is_alone && (id != value || (body != nullptr && reads_truth(*body, operand)));
            ++operand;
        });
        return is_alone;
    });
}

bool is_made_as_truth(GraphDraft& draft, ValueId value) {
    auto const* const writer = draft.written_by<PointwiseOp>(value);
    bool const is_made = writer != nullptr && gives_truth(writer->mode);
    return is_made && draft.value(value).role == ir::Role::Virtual && is_truth_alone(draft, value);
}

// The comparison of the value with 0, in front of the operation at `at`.
ValueId compare_with_0(GraphDraft& draft, std::size_t at, ValueId value) {
    std::string const name = draft.value(value).name;
    core::Dims const dim = draft.value(value).dim;
    ValueId const zero = draft.add({.name = name + "::zero",
                                    .type = DataType_t::INT32,
                                    .dim = core::Dims(dim.size(), 1),
                                    .role = ir::Role::Constant,
                                    .constant = detail::make_scalar(std::int32_t{0})});
    ValueId const truth = draft.add({.name = name + "::truth", .type = DataType_t::BOOLEAN, .dim = dim});
    draft.insert(at, pointwise(draft, CMP_NEQ, {value, zero}, truth, DataType_t::FLOAT));
    return truth;
}

}  // namespace

GraphDraft make_predicates_boolean(GraphDraft draft) {
    for (std::size_t i = 0; i < draft.ops.size(); ++i) {
        if (!std::holds_alternative<PointwiseOp>(draft.ops[i].body)) continue;
        for (std::size_t operand = 0; operand < 3; ++operand) {
            auto const& body = std::get<PointwiseOp>(draft.ops[i].body);
            ValueId const value = body.in[operand];
            if (value == ir::kNoValue || !reads_truth(body, operand)) continue;
            if (draft.value(value).type != DataType_t::INT32) continue;
            if (is_made_as_truth(draft, value)) {
                draft.value(value).type = DataType_t::BOOLEAN;
                continue;
            }
            ValueId const truth = compare_with_0(draft, i++, value);
            std::get<PointwiseOp>(draft.ops[i].body).in[operand] = truth;
        }
    }
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
