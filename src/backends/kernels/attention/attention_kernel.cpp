#include "core/data_type.h"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/attention_problem.h"
#include "kernels/attention/tile_order.h"
#include "kernels/launch/code_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;

constexpr std::int64_t kWorkspaceAlignment = 64;  // of maps

Result<TensorMap> encode(cuda::BoxedTensor const& tensor, void* start) {
    auto const map = cuda::encode(tensor, start);
    if (map.is_bad()) return map.error();
    TensorMap bytes{};
    static_assert(sizeof(bytes.bytes) == sizeof(map.value()));
    std::memcpy(bytes.bytes, &map.value(), sizeof(bytes.bytes));
    return bytes;
}

template <class Arguments>
class AttentionKernel final : public CodeKernel<Arguments> {
   public:
    using Base = CodeKernel<Arguments>;

    AttentionKernel(AttentionProblemPointer problem, AttentionLaunch<Arguments> const& launch,
                    std::shared_ptr<Code const> code, std::vector<Parameter> parameters)
        : Base(std::move(code), std::move(parameters)), problem_(std::move(problem)), launch_(launch) {}

   private:
    Result<typename Base::Bound> bind(Pointers pointers) const override {
        auto const function = this->code()->function(launch_.function);
        if (function.is_bad()) return function.error();
        typename Base::Bound bound{function.value(), launch_.blocks, launch_.threads, launch_.shared_bytes,
                                   launch_.arguments};
        SDPA_GRAPH_TRY(kernels::bind(*problem_, {pointers, encode}, bound.arguments));
        return bound;
    }

    AttentionProblemPointer problem_;
    AttentionLaunch<Arguments> launch_;
};

// In the order of the pointers.
std::vector<Parameter> parameters_of(AttentionKernelProblem const& problem) {
    std::vector<Parameter> parameters;
    auto const set = [&](std::size_t pointer, char const* name, std::int64_t alignment) {
        parameters.resize(std::max(parameters.size(), pointer + 1));
        parameters[pointer] = {name, static_cast<std::uintptr_t>(alignment)};
    };
    for (attention::Operand const& row : attention::kOperands) {
        if (!attention::is_of_operation(row) || !problem.has(row.port)) continue;
        PlacedOperand const& operand = problem.operand(row.port);
        bool const is_matrix = attention::has_vectors(row);
        set(operand.pointer, row.name, is_matrix ? attention::kMatrixAlignment : core::size_of(operand.type));
    }
    for (PlacedOperand const& tensor : problem.score_tensors) {
        set(tensor.pointer, "a tensor of the score modifier", core::size_of(tensor.type));
    }
    auto const set_numbers = [&](std::size_t pointer, char const* name, bool is_wide) {
        set(pointer, name, is_wide ? 8 : 4);
    };
    for (Port const port : packed_ports(problem)) {
        if (!problem.packed[port]) continue;
        set_numbers(problem.packed[port]->pointer, "ragged offsets", problem.packed[port]->is_wide);
    }
    if (problem.query_lengths)
        set_numbers(problem.query_lengths->pointer, "lengths of queries", problem.query_lengths->is_wide);
    if (problem.key_lengths) set_numbers(problem.key_lengths->pointer, "lengths of keys", problem.key_lengths->is_wide);
    if (problem.dropout) {
        for (PlacedInteger const& integer : {problem.dropout->seed, problem.dropout->offset}) {
            if (integer.pointer) set_numbers(*integer.pointer, "the seed or the offset of dropout", integer.is_wide);
        }
    }
    if (problem.workspace_pointer) set(*problem.workspace_pointer, "the workspace", kWorkspaceAlignment);
    return parameters;
}

template <class Arguments>
KernelPointer make(AttentionProblemPointer const& problem, AttentionLaunch<Arguments> const& launch,
                   std::shared_ptr<Code const> code) {
    return std::make_shared<AttentionKernel<Arguments>>(problem, launch, std::move(code), parameters_of(*problem));
}

}  // namespace

Result<KernelPointer> make_kernel(AttentionProblemPointer const& problem, AttentionWork work, DeviceFacts const& device,
                                  std::optional<std::string_view> stored) {
    CodeName const name = code_of(*problem, work);
    auto code = stored ? stored_code(name, *stored) : find_code(name);
    if (code.is_bad()) return code.error();
    return make_kernel(problem, work, device, std::move(code).value());
}

KernelPointer make_kernel(AttentionProblemPointer const& problem, AttentionWork work, DeviceFacts const& device,
                          std::shared_ptr<Code const> code) {
    switch (work) {
        case AttentionWork::Entries: return make(problem, entry_launch(*problem), std::move(code));
        case AttentionWork::BlockBits: return make(problem, block_bits_launch(*problem), std::move(code));
        case AttentionWork::BlockScores: return make(problem, block_scores_launch(*problem), std::move(code));
        case AttentionWork::BlockMask: return make(problem, block_mask_launch(*problem), std::move(code));
        case AttentionWork::DropoutMask: return make(problem, dropout_mask_launch(*problem), std::move(code));
        case AttentionWork::Forward:
            return make(problem, forward_launch(*problem, device.multiprocessors), std::move(code));
        case AttentionWork::GradientStart: return make(problem, gradient_start_launch(*problem), std::move(code));
        case AttentionWork::Gradients:
            return make(problem, gradient_launch(*problem, kOrderedMultiprocessors), std::move(code));
        case AttentionWork::GradientEnd: return make(problem, gradient_end_launch(*problem), std::move(code));
        case AttentionWork::BiasGradientEnd: break;
    }
    return make(problem, bias_gradient_end_launch(*problem), std::move(code));
}

}  // namespace cudnn_frontend::kernels
