// The lengths of sequences whose query heads have become rows and whose keys are split in chunks.
#pragma once

#include "kernels/kernel.h"

#include <cstdint>
#include <string_view>

namespace cudnn_frontend::kernels {

// rows[b, i] = queries[b, i] * group,   part_keys[b, i] = keys[b, i] - i * chunk, but from 0 to the chunk; both are 0
// where one of queries[b, i] and part_keys[b, i] is. All are INT32 {batch, chunks}; strides of 0 repeat a length.
struct SplitLengthsProblem {
    Operand queries, keys, rows, part_keys;
    std::int64_t group, chunk;
};

Result<KernelPointer> compile_split_lengths(SplitLengthsProblem const& problem, DeviceFacts const& device);
// Loads the result of Kernel::serialize() for the same problem and device.
Result<KernelPointer> load_split_lengths(SplitLengthsProblem const& problem, DeviceFacts const& device,
                                         std::string_view stored);

}  // namespace cudnn_frontend::kernels
