// Attention forward by a kernel of the library's own (device/attention/attention_forward.cu).
#pragma once

#include "kernels/device/attention/attention_arguments.h"
#include "kernels/launch/kernel.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

struct AttentionKernelProblem {
    Operand queries, keys, values, output;  // {batches, heads, rows, columns}
    std::optional<Operand> stats;           // {batches, heads, rows, 1}
    // Whether sequences have lengths of their own: an INT32 for each, one after the other.
    bool has_query_lengths = false, has_key_lengths = false;
    std::optional<std::int64_t> left, right;  // keys next to the diagonal on either side; all, where there is no number
    bool is_bottom_right = false;
    float scale = 1;  // of products of queries and keys

    std::int64_t batches() const { return queries.dims[0]; }
    std::int64_t heads() const { return queries.dims[1]; }
};

// Every reason why the kernel cannot compute it on the device; none where it can.
std::vector<std::string> reasons_against(AttentionKernelProblem const& problem, DeviceFacts const& device);

// Launches need a pointer for queries, keys, values and output, then for stats, lengths of queries and lengths of keys,
// as far as they exist.
Result<KernelPointer> compile_attention(AttentionKernelProblem const& problem, DeviceFacts const& device);
// Loads the result of Kernel::serialize() for a problem of the same types and columns.
Result<KernelPointer> load_attention(AttentionKernelProblem const& problem, DeviceFacts const& device,
                                     std::string_view stored);

}  // namespace cudnn_frontend::kernels
