// Merges attention over parts of the keys into attention over all of them.
#pragma once

#include "kernels/kernel.h"

#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// With L_i a row's log-sum-exp over the keys of part i, natural, and O_i its output:
//   stats = ln(sum over i of exp(L_i)),   o = sum over i of exp(L_i - stats) * O_i
// computed in fp32. In a part with L_i = -inf no key was visible to the row, and its O_i does not matter; nor does L_i
// where the part has no keys. A row without keys in any part gets o = 0 and stats = -inf.
struct MergeProblem {
    Operand partial_o;      // {parts, ..., columns}, up to kMaxDims after the parts: such as batch, heads, rows
    Operand partial_stats;  // {parts, ..., 1}, FLOAT
    Operand o;              // {..., columns}
    std::optional<Operand> stats = {};            // {..., 1}, FLOAT
    std::optional<Operand> partial_lengths = {};  // {parts, ..., 1}, INT32: how many keys each part has
};

Result<KernelPointer> compile_merge(MergeProblem const& problem, DeviceFacts const& device);
// Loads the result of Kernel::serialize() for the same problem and device.
Result<KernelPointer> load_merge(MergeProblem const& problem, DeviceFacts const& device, std::string_view stored);

}  // namespace cudnn_frontend::kernels
