#include "kernels/launch/strided_problem.h"

#include "core/data_type.h"
#include "core/findings.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

error_t wrong(Problem const& problem, NamedOperand const& named, std::string const& found, std::string const& needed) {
    return core::error_at(std::string(problem.kernel) + ": " + named.name, error_code_t::INVALID_VALUE, found, needed);
}

bool allows(Holds holds, DataType_t type) {
    switch (holds) {
        case Holds::Statistics: return type == DataType_t::FLOAT;
        case Holds::Lengths: return type == DataType_t::INT32;
        default: return type == DataType_t::FLOAT || type == DataType_t::HALF || type == DataType_t::BFLOAT16;
    }
}

error_t check_type(Problem const& problem, NamedOperand const& named) {
    constexpr char const* kNeeded[] = {"BFLOAT16, HALF or FLOAT", "FLOAT", "INT32"};
    DataType_t const type = named.operand->type;
    if (allows(named.holds, type)) return {};
    return wrong(problem, named, std::string("type ") + cudnn_frontend::to_string(type),
                 kNeeded[static_cast<std::size_t>(named.holds)]);
}

// The dims that fit the result's; the number of parts is the first operand's.
core::Dims needed_dims(Problem const& problem, NamedOperand const& named) {
    core::Dims dims = problem.dims();
    if (problem.has_rows(named)) dims.back() = 1;
    core::Dims const& of_first = problem.operands.front().operand->dims;
    if (named.has_parts) dims.insert(dims.begin(), of_first.empty() ? 1 : of_first.front());
    return dims;
}

error_t check_strides(Problem const& problem, NamedOperand const& named) {
    core::Dims const& dims = named.operand->dims;
    core::Dims const& strides = named.operand->strides;
    std::string const found = "strides " + core::to_string(strides) + " for dims " + core::to_string(dims);
    bool const is_complete = strides.size() == dims.size();
    if (!is_complete || std::ranges::any_of(strides, [](std::int64_t stride) { return stride < 0; })) {
        return wrong(problem, named, found, "one for each dim, none negative");
    }
    if (!core::span_of(dims, strides)) return wrong(problem, named, found, "element indices below 2^63");
    if (!named.is_output || !core::overlaps_itself(dims, strides)) return {};
    return wrong(problem, named, found, "strides by which no two elements share memory");
}

}  // namespace

std::int64_t NamedOperand::element_bytes() const { return core::size_of(operand->type); }

error_t check(Problem const& problem) {
    NamedOperand const& result = problem.operands[problem.result];
    core::Dims const& dims = problem.dims();
    bool const is_positive = std::ranges::all_of(dims, [](std::int64_t size) { return size > 0; });
    if (dims.empty() || dims.size() > kMaxDims || !is_positive) {
        return wrong(problem, result, "dims " + core::to_string(dims),
                     "1 to " + std::to_string(kMaxDims) + " dims, all positive");
    }
    for (NamedOperand const& named : problem.operands) {
        SDPA_GRAPH_TRY(check_type(problem, named));
        core::Dims const needed = needed_dims(problem, named);
        if (named.operand->dims != needed || needed.front() < 1) {
            return wrong(problem, named, "dims " + core::to_string(named.operand->dims),
                         core::to_string(needed) + (named.has_parts ? ", with one part or more" : ""));
        }
        SDPA_GRAPH_TRY(check_strides(problem, named));
    }
    return {};
}

}  // namespace cudnn_frontend::kernels
