// The joints of programs on a GPU as kernels: they combine partial results, and prepare slots of sequences.
#pragma once

#include "cuda/device_facts.h"
#include "kernels/launch/kernel.h"
#include "kernels/launch/strided_problem.h"
#include "plan/seam/backend.h"
#include "rewrite/program.h"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// Merges attention over parts of the keys into attention over all of them.
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

// Sums partial results, such as the gradients of K and V from slices of the query heads.
// y = sum over i of x_i, added up in fp32 in the order of the parts, with the previous content of y as the first if
// `accumulates`. The pointer to y is then given twice: to write, and to read.
struct SumProblem {
    Operand x;  // {parts, ...}, up to kMaxDims after the parts
    Operand y;  // {...}
    bool accumulates = false;
};

Result<KernelPointer> compile_sum(SumProblem const& problem, DeviceFacts const& device);
// Loads the result of Kernel::serialize() for the same problem and device.
Result<KernelPointer> load_sum(SumProblem const& problem, DeviceFacts const& device, std::string_view stored);

// The lengths of sequences whose query heads have become rows and whose keys are split in chunks.
// rows[b, i] = (queries[b, i] - first_query, but from 0 to most_queries) * group
// part_keys[b, i] = keys[b, i] - first_key - i * chunk, but from 0 to the chunk
// Both are 0 where one of them is. All are INT32 {batch, chunks}; strides of 0 repeat a length.
struct SplitLengthsProblem {
    Operand queries, keys, rows, part_keys;
    std::int64_t group, chunk;
    std::int64_t first_query = 0, most_queries = std::numeric_limits<std::int32_t>::max(), first_key = 0;
};

Result<KernelPointer> compile_split_lengths(SplitLengthsProblem const& problem, DeviceFacts const& device);
// Loads the result of Kernel::serialize() for the same problem and device.
Result<KernelPointer> load_split_lengths(SplitLengthsProblem const& problem, DeviceFacts const& device,
                                         std::string_view stored);

// Problems as lists of operands, which point into the problem.
Problem operands_of(MergeProblem const& merge);
Problem operands_of(SumProblem const& sum);
Problem operands_of(SplitLengthsProblem const& split);

// The joints of slots as kernels: they are work on rows.
template <class Joint>
concept IsOfSlots = std::same_as<Joint, rewrite::SlotTables> || std::same_as<Joint, rewrite::ClearPadding> ||
    std::same_as<Joint, rewrite::DocumentTables> || std::same_as<Joint, rewrite::DropoutMask>;

// Loads the result of Kernel::serialize() for the same joint and device, if there is one; else compiles.
template <IsOfSlots Joint>
Result<KernelPointer> slot_kernel(Joint const& joint, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);

// The kernel of a joint. `stored` is the result of serialize() by the executable of the same joint, if there is one.
Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, cuda::DeviceFacts const& facts,
                                                     std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::kernels
