// The gradient of a sink token, summed in one order.
#pragma once

#include "kernels/device/joints/sink_gradient_arguments.h"
#include "kernels/launch/kernel.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// The sum is over the rows i below the length of batch entry b, or over all of them:
//   gradient[h] = -sum over b and i of exp(sink[h] - stats[b,h,i]) * sum over d of d_o[b,h,i,d] * o[b,h,i,d]
// A row whose stats, or a head whose sink, is minus infinity adds nothing, whatever O and its gradient hold there.
struct SinkGradientProblem {
    // The starts of batch entries that are not at multiples of the first stride.
    struct RaggedOffsets {
        DataType_t type = DataType_t::NOT_SET;  // INT32 or INT64
        std::int64_t multiplier = 1;            // elements that they count as one
    };
    struct RowsWithOffsets {
        Operand operand;
        std::optional<RaggedOffsets> offsets = {};
    };

    RowsWithOffsets o, d_o;          // {batches, heads, rows, columns} of BFLOAT16, HALF or FLOAT
    RowsWithOffsets stats;           // {batches, heads, rows, 1} of FLOAT, natural
    Operand sink, gradient;          // {1, heads, 1, 1} of FLOAT
    std::optional<Operand> lengths;  // {batches, 1, 1, 1} of INT32
};

// The arguments for a block for each head, which bind() binds to pointers.
SinkGradientArguments arguments_of(SinkGradientProblem const& problem);
void bind(SinkGradientArguments& arguments, SinkGradientProblem const& problem, Pointers pointers);

// Pointers come in the order of the problem's operands, and behind them those of the offsets, in the same order.
Result<KernelPointer> compile_sink_gradient(SinkGradientProblem const& problem, DeviceFacts const& device);
// Loads the result of Kernel::serialize() for the same problem and device.
Result<KernelPointer> load_sink_gradient(SinkGradientProblem const& problem, DeviceFacts const& device,
                                         std::string_view stored);

}  // namespace cudnn_frontend::kernels
