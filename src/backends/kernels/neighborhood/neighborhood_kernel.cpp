#include "kernels/neighborhood/neighborhood_kernel.h"

#include "core/data_type.h"
#include "core/findings.h"
#include "kernels/launch/code_kernel.h"
#include "kernels/neighborhood/neighborhood_forms.h"
#include "kernels/neighborhood/neighborhood_launch.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

using core::Dims;

struct KernelTensors {
    std::vector<NeighborhoodTensor> needed, optional, written;  // tensors that are written are needed, or optional
};

KernelTensors use_of(NeighborhoodWork work) {
    switch (work) {
        case NeighborhoodWork::Forward: return {{Queries, Keys, Values, Output}, {Bias, Stats}, {Output, Stats}};
        case NeighborhoodWork::QueryGradients:
            return {{Queries, Keys, Values, Output, Stats, OutputGradient, Delta, QueryGradient},
                    {Bias},
                    {Delta, QueryGradient}};
        case NeighborhoodWork::KeyGradients:
            return {{Queries, Keys, Values, Stats, OutputGradient, Delta, KeyGradient, ValueGradient},
                    {Bias},
                    {KeyGradient, ValueGradient}};
        case NeighborhoodWork::BiasGradient:
            return {{Queries, Keys, Values, Bias, Stats, OutputGradient, Delta, BiasGradient}, {}, {BiasGradient}};
        case NeighborhoodWork::GradientStart:
            return {{Output, OutputGradient, Stats, QueryStatistics, QuerySums}, {}, {QueryStatistics, QuerySums}};
        case NeighborhoodWork::Gradients:
            return {{Queries, Keys, Values, OutputGradient, QueryStatistics, QuerySums, KeyGradient, ValueGradient},
                    {},
                    {QuerySums, KeyGradient, ValueGradient}};
        case NeighborhoodWork::GradientEnd: return {{QuerySums, QueryGradient}, {}, {QueryGradient}};
        case NeighborhoodWork::WindowSlots: return {{Queries, Keys, Slots}, {Bias}, {Slots}};
        case NeighborhoodWork::WindowQueries: return {{Queries, Keys, Slots}, {}, {Queries}};
        case NeighborhoodWork::WindowKeys: return {{Queries, Keys, Slots}, {}, {Keys}};
        case NeighborhoodWork::WindowBias: return {{Slots, BiasGradient}, {}, {BiasGradient}};
    }
    return {};
}

bool contains(std::vector<NeighborhoodTensor> const& list, NeighborhoodTensor tensor) {
    return std::ranges::find(list, tensor) != list.end();
}

error_t wrong(std::string const& what, std::string const& found, std::string const& needed) {
    return core::error_at("neighborhood: " + what, error_code_t::INVALID_VALUE, found, needed);
}

// The operand if it has rows like the others; null if it has none.
Operand const* rows_of(NeighborhoodKernelProblem const& problem) {
    for (NeighborhoodTensor const tensor : {Queries, Output, QueryGradient}) {
        if (problem.operands[tensor]) return &problem.operand(tensor);
    }
    return nullptr;
}

std::int64_t slots_of(NeighborhoodKernelProblem const& problem) {
    std::int64_t count = 1;
    for (neighborhood::Axis const& axis : problem.axes) count *= axis.kernel;
    return count;
}

std::int64_t columns_of(NeighborhoodKernelProblem const& problem, NeighborhoodTensor tensor) {
    switch (tensor) {
        case Stats:
        case Delta: return 1;
        case QueryStatistics: return 2;
        case Slots: return slots_of(problem);
        default: return problem.columns();
    }
}

// Batches and heads are the example's.
Dims needed_dims(NeighborhoodKernelProblem const& problem, NeighborhoodTensor tensor) {
    Dims const& example = problem.example().dims;
    Dims dims;
    if (tensor == Bias || tensor == BiasGradient) {
        dims = {example[1]};
        for (neighborhood::Axis const& axis : problem.axes) dims.push_back(2 * axis.kernel - 1);
        return dims;
    }
    dims = {example[0], example[1]};
    for (neighborhood::Axis const& axis : problem.axes) dims.push_back(axis.length);
    dims.push_back(columns_of(problem, tensor));
    return dims;
}

error_t check_axes(NeighborhoodKernelProblem const& problem) {
    if (problem.axes.empty() || problem.axes.size() > kMostAxes) {
        return wrong("space", std::to_string(problem.axes.size()) + " axes", "1 to 3");
    }
    for (neighborhood::Axis const& axis : problem.axes) {
        if (axis.kernel >= 1 && axis.dilation >= 1 && axis.kernel <= axis.length / axis.dilation) continue;
        return wrong("an axis of length " + std::to_string(axis.length),
                     "kernel size " + std::to_string(axis.kernel) + " and dilation " + std::to_string(axis.dilation),
                     "positive numbers whose product is at most the length");
    }
    return {};
}

error_t check_operand(NeighborhoodKernelProblem const& problem, NeighborhoodTensor tensor, bool is_written) {
    Operand const& operand = problem.operand(tensor);
    std::string const name = to_string(tensor);
    bool const is_of_sums = tensor == Stats || tensor == Delta || tensor == QueryStatistics || tensor == QuerySums;
    DataType_t const type = is_of_sums ? DataType_t::FLOAT : problem.example().type;
    if (operand.type != type) {
        return wrong(name, std::string("type ") + cudnn_frontend::to_string(operand.type),
                     cudnn_frontend::to_string(type));
    }
    Dims const needed = needed_dims(problem, tensor);
    if (operand.dims != needed || std::ranges::any_of(needed, [](std::int64_t size) { return size < 1; })) {
        return wrong(name, "dims " + core::to_string(operand.dims), core::to_string(needed) + ", all positive");
    }
    bool const is_complete = operand.strides.size() == operand.dims.size();
    bool const has_negative = std::ranges::any_of(operand.strides, [](std::int64_t stride) { return stride < 0; });
    if (!is_complete || has_negative || !core::span_of(operand.dims, operand.strides)) {
        return wrong(name, "strides " + core::to_string(operand.strides),
                     "one for each dim, none negative, and element indices below 2^63");
    }
    if (!is_written || !core::overlaps_itself(operand.dims, operand.strides)) return {};
    return wrong(name, "strides " + core::to_string(operand.strides), "strides by which no two elements share memory");
}

// Kernels compute the place of a row of the one from that of the other.
error_t check_query_rows(NeighborhoodKernelProblem const& problem) {
    if (!problem.operands[QueryStatistics]) return {};
    core::Dims const& of_sums = problem.operand(QuerySums).strides;
    core::Dims const& of_statistics = problem.operand(QueryStatistics).strides;
    bool is_right = of_statistics.back() == 1 && of_sums.back() == 1;
    for (std::size_t dim = 0; dim + 1 < of_statistics.size(); ++dim) {
        is_right =
            is_right && of_statistics[dim] % 2 == 0 && of_sums[dim] == of_statistics[dim] / 2 * problem.columns();
    }
    if (is_right) return {};
    return wrong(to_string(QuerySums), "strides " + core::to_string(of_sums),
                 std::to_string(problem.columns()) + " / 2 times those of " + to_string(QueryStatistics) + ", " +
                     core::to_string(of_statistics) + ", all even except the last ones, which are 1");
}

error_t check_type(DataType_t type) {
    if (type == DataType_t::FLOAT || type == DataType_t::HALF || type == DataType_t::BFLOAT16) return {};
    return wrong("an operand", std::string("type ") + cudnn_frontend::to_string(type), "BFLOAT16, HALF or FLOAT");
}

// A warp for each token, or for each entry of the bias, and slots, are counted in 31 bits.
error_t check_counts(NeighborhoodKernelProblem const& problem) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    Dims const& example = problem.example().dims;
    Dims const tokens(example.begin(), example.end() - 1);
    Dims entries = needed_dims(problem, Bias);
    for (Dims const& counted : {tokens, entries}) {
        auto const count = core::volume(counted);
        if (!count || *count > kMost) {
            return wrong("the problem", core::to_string(counted) + " rows", "fewer than 2^31");
        }
    }
    return {};
}

class NeighborhoodKernel final : public CodeKernel<NeighborhoodArguments> {
   public:
    NeighborhoodKernel(NeighborhoodKernelProblem problem, NeighborhoodForm form, std::shared_ptr<Code const> code,
                       std::vector<Parameter> parameters)
        : CodeKernel(std::move(code), std::move(parameters)),
          problem_(std::move(problem)),
          launch_(neighborhood_launch(problem_, form)) {}

   private:
    Result<Bound> bind(Pointers pointers) const override {
        auto const function = code()->function(neighborhood_function(problem_.work));
        if (function.is_bad()) return function.error();
        Bound bound{function.value(), launch_.blocks, launch_.threads, launch_.shared_bytes, launch_.arguments};
        kernels::bind(problem_, bound.arguments, pointers);
        return bound;
    }

    NeighborhoodKernelProblem problem_;
    NeighborhoodLaunch launch_;
};

error_t check_form(NeighborhoodKernelProblem const& problem, NeighborhoodForm form, DeviceFacts const& device) {
    SDPA_GRAPH_TRY(check(problem));
    std::string const reason = reason_against(problem, form, device);
    return reason.empty() ? error_t() : error_t(error_code_t::GRAPH_NOT_SUPPORTED, "neighborhood: " + reason);
}

KernelPointer make_kernel(NeighborhoodKernelProblem const& problem, NeighborhoodForm form,
                          std::shared_ptr<Code const> code) {
    std::vector<Parameter> parameters;
    std::vector<std::size_t> const alignments = alignments_of(problem, form);
    for (int i = 0; i < NeighborhoodTensorCount; ++i) {
        auto const tensor = static_cast<NeighborhoodTensor>(i);
        if (!problem.operands[static_cast<std::size_t>(i)]) continue;
        parameters.push_back({to_string(tensor), alignments[parameters.size()]});
    }
    return std::make_shared<NeighborhoodKernel>(problem, form, std::move(code), std::move(parameters));
}

}  // namespace

Operand const& NeighborhoodKernelProblem::example() const {
    Operand const* const rows = rows_of(*this);
    return rows == nullptr || operands[Slots] ? operand(Slots) : *rows;
}

std::int64_t NeighborhoodKernelProblem::columns() const {
    Operand const* const rows = rows_of(*this);
    return rows != nullptr ? rows->dims.back() : 0;
}

char const* to_string(NeighborhoodTensor tensor) {
    constexpr char const* kNames[NeighborhoodTensorCount] = {
        "queries",        "keys",       "values",          "bias",           "slots",
        "output",         "stats",      "output gradient", "delta",          "query statistics",
        "query gradient", "query sums", "key gradient",    "value gradient", "bias gradient"};
    return kNames[tensor];
}

error_t check(NeighborhoodKernelProblem const& problem) {
    SDPA_GRAPH_TRY(check_axes(problem));
    KernelTensors const use = use_of(problem.work);
    for (int i = 0; i < NeighborhoodTensorCount; ++i) {
        auto const tensor = static_cast<NeighborhoodTensor>(i);
        bool const is_there = problem.operands[static_cast<std::size_t>(i)].has_value();
        if (!is_there && contains(use.needed, tensor))
            return wrong("the problem", "no " + std::string(to_string(tensor)), "one");
        if (!is_there || contains(use.needed, tensor) || contains(use.optional, tensor)) continue;
        return wrong("the problem", std::string(to_string(tensor)), "none");
    }
    Operand const& example = problem.example();
    SDPA_GRAPH_TRY(check_type(example.type));
    if (example.dims.size() != problem.axes.size() + 3) {
        return wrong("the problem", "dims " + core::to_string(example.dims), "batches, heads, space and columns");
    }
    for (int i = 0; i < NeighborhoodTensorCount; ++i) {
        auto const tensor = static_cast<NeighborhoodTensor>(i);
        if (!problem.operands[static_cast<std::size_t>(i)]) continue;
        SDPA_GRAPH_TRY(check_operand(problem, tensor, contains(use.written, tensor)));
    }
    SDPA_GRAPH_TRY(check_query_rows(problem));
    return check_counts(problem);
}

Result<KernelPointer> compile_neighborhood(NeighborhoodKernelProblem const& problem, NeighborhoodForm form,
                                           DeviceFacts const& device) {
    SDPA_GRAPH_TRY(check_device("neighborhood", device));
    SDPA_GRAPH_TRY(check_form(problem, form, device));
    auto code = find_code(neighborhood_code(problem, form, device.compute_capability));
    if (code.is_bad()) return code.error();
    return make_kernel(problem, form, std::move(code).value());
}

Result<KernelPointer> load_neighborhood(NeighborhoodKernelProblem const& problem, NeighborhoodForm form,
                                        DeviceFacts const& device, std::string_view stored) {
    SDPA_GRAPH_TRY(check_form(problem, form, device));
    auto code = stored_code(neighborhood_code(problem, form, device.compute_capability), stored);
    if (code.is_bad()) return code.error();
    return make_kernel(problem, form, std::move(code).value());
}

}  // namespace cudnn_frontend::kernels
