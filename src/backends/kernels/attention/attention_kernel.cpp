#include "kernels/attention/attention_kernel.h"

#include "core/data_type.h"
#include "kernels/attention/attention_launch.h"
#include "kernels/launch/code_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

constexpr std::int64_t kVectorElements = 8;  // of 16 bytes

// --- Conditions, each with the reason why a problem is refused

std::vector<Operand const*> matrices_of(AttentionKernelProblem const& problem) {
    return {&problem.queries, &problem.keys, &problem.values, &problem.output};
}

std::string device_reason(AttentionKernelProblem const&, DeviceFacts const& device) {
    constexpr int kHopper = 90;
    return device.compute_capability == kHopper ? "" : "it needs compute capability 9.0";
}

std::string type_reason(AttentionKernelProblem const& problem, DeviceFacts const&) {
    DataType_t const type = problem.queries.type;
    bool const is_one =
        std::ranges::all_of(matrices_of(problem), [&](Operand const* matrix) { return matrix->type == type; });
    return is_one && core::is_half(type) ? "" : "it needs Q, K, V and O of one type, BFLOAT16 or HALF";
}

std::string column_reason(AttentionKernelProblem const& problem, DeviceFacts const&) {
    bool const are_whole =
        problem.queries.dims[3] % kVectorElements == 0 && problem.values.dims[3] % kVectorElements == 0;
    return are_whole && class_of(problem) ? "" : "it needs head dims that are multiples of 8, up to 256";
}

// The copy engine needs strides of multiples of 16 bytes, by which rows do not overlap.
bool has_legal_strides(Operand const& matrix) {
    if (matrix.strides[3] != 1) return false;
    for (std::size_t dim = 0; dim < 3; ++dim) {
        std::int64_t const stride = matrix.strides[dim];
        if (matrix.dims[dim] > 1 && (stride % kVectorElements != 0 || stride < matrix.dims[3])) return false;
    }
    return true;
}

std::string stride_reason(AttentionKernelProblem const& problem, DeviceFacts const&) {
    bool const are_legal =
        std::ranges::all_of(matrices_of(problem), [](Operand const* matrix) { return has_legal_strides(*matrix); });
    return are_legal ? ""
                     : "it needs columns next to each other, and other strides that are multiples of 16 bytes and hold "
                       "a row";
}

std::string head_reason(AttentionKernelProblem const& problem, DeviceFacts const&) {
    return problem.keys.dims[1] == problem.values.dims[1] ? "" : "it needs as many heads in V as in K";
}

// Places of rows, with bounds added to them, and tiles are counted in 32 bits.
std::string count_reason(AttentionKernelProblem const& problem, DeviceFacts const&) {
    constexpr std::int64_t kMostRows = std::int64_t{1} << 28, kMostTiles = std::int64_t{1} << 30;
    std::int64_t const rows = problem.queries.dims[2];
    bool const is_small = rows <= kMostRows && problem.keys.dims[2] <= kMostRows &&
                          (rows / kWarpgroupQueries + 1) * problem.batches() * problem.heads() <= kMostTiles;
    return is_small ? "" : "it needs at most 2^28 rows, and at most 2^30 blocks of 64 queries";
}

std::string scale_reason(AttentionKernelProblem const& problem, DeviceFacts const&) {
    return problem.scale > 0 && std::isfinite(problem.scale) ? "" : "it needs a scale above 0";
}

constexpr auto kConditions = {device_reason, type_reason,  column_reason, stride_reason,
                              head_reason,   count_reason, scale_reason};

// --- The kernel

error_t encode(cuda::BoxedTensor const& tensor, void* start, TensorMap& to) {
    auto const map = cuda::encode(tensor, start);
    if (map.is_bad()) return map.error();
    static_assert(sizeof(to.bytes) == sizeof(map.value()));
    std::memcpy(to.bytes, &map.value(), sizeof(to.bytes));
    return {};
}

class AttentionKernel final : public CodeKernel<AttentionArguments> {
   public:
    AttentionKernel(AttentionKernelProblem problem, int multiprocessors, std::shared_ptr<Code const> code,
                    std::vector<Parameter> parameters)
        : CodeKernel(std::move(code), std::move(parameters)),
          problem_(std::move(problem)),
          launch_(attention_launch(problem_, multiprocessors)) {}

   private:
    Result<Bound> bind(Pointers pointers) const override {
        auto const function = code().function(0);
        if (function.is_bad()) return function.error();
        Bound bound{function.value(), launch_.blocks, launch_.threads, launch_.shared_bytes, launch_.arguments};
        AttentionArguments& arguments = bound.arguments;
        SDPA_GRAPH_TRY(encode(launch_.queries, pointers[0], arguments.queries));
        SDPA_GRAPH_TRY(encode(launch_.keys, pointers[1], arguments.keys));
        SDPA_GRAPH_TRY(encode(launch_.values, pointers[2], arguments.values));
        SDPA_GRAPH_TRY(encode(launch_.output, pointers[3], arguments.output));
        kernels::bind(problem_, arguments, pointers);
        return bound;
    }

    AttentionKernelProblem problem_;
    AttentionLaunch launch_;
};

error_t check(AttentionKernelProblem const& problem, DeviceFacts const& device) {
    std::vector<std::string> const reasons = reasons_against(problem, device);
    return reasons.empty() ? error_t() : error_t(error_code_t::GRAPH_NOT_SUPPORTED, "attention: " + reasons.front());
}

KernelPointer make_kernel(AttentionKernelProblem const& problem, DeviceFacts const& device,
                          std::shared_ptr<Code const> code) {
    constexpr std::uintptr_t kBoxed = 16, kNumber = 4;  // bytes
    std::vector<Parameter> parameters{{"queries", kBoxed}, {"keys", kBoxed}, {"values", kBoxed}, {"output", kBoxed}};
    if (problem.stats) parameters.push_back({"stats", kNumber});
    if (problem.has_query_lengths) parameters.push_back({"lengths of queries", kNumber});
    if (problem.has_key_lengths) parameters.push_back({"lengths of keys", kNumber});
    return std::make_shared<AttentionKernel>(problem, device.multiprocessors, std::move(code), std::move(parameters));
}

}  // namespace

std::vector<std::string> reasons_against(AttentionKernelProblem const& problem, DeviceFacts const& device) {
    std::vector<std::string> reasons;
    for (auto const condition : kConditions) {
        std::string reason = condition(problem, device);
        if (!reason.empty()) reasons.push_back(std::move(reason));
    }
    return reasons;
}

Result<KernelPointer> compile_attention(AttentionKernelProblem const& problem, DeviceFacts const& device) {
    SDPA_GRAPH_TRY(check(problem, device));
    auto code = find_code(attention_code(problem));
    if (code.is_bad()) return code.error();
    return make_kernel(problem, device, std::move(code).value());
}

Result<KernelPointer> load_attention(AttentionKernelProblem const& problem, DeviceFacts const& device,
                                     std::string_view stored) {
    SDPA_GRAPH_TRY(check(problem, device));
    auto code = stored_code(attention_code(problem), stored);
    if (code.is_bad()) return code.error();
    return make_kernel(problem, device, std::move(code).value());
}

}  // namespace cudnn_frontend::kernels
