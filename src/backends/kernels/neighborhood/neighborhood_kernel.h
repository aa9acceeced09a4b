// Neighborhood attention by kernels of their own, each of which computes one thing.
#pragma once

#include "kernels/device/neighborhood/neighborhood_arguments.h"
#include "kernels/launch/kernel.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

// attention/neighborhood_windows.h says which keys are visible to a query. Forward reads Queries, Keys, Values and
// perhaps Bias, and writes Output and perhaps Stats. QueryGradients writes Delta, the products of rows of Output and
// OutputGradient, and QueryGradient; KeyGradients and BiasGradient read Delta. Three others relate Slots to Queries and
// Keys: each writes the tensor of its name, and reads the other two; WindowSlots adds Bias. WindowBias sums Slots for
// BiasGradient.
//
// Without a bias, three others give all gradients in one pass over queries and keys: GradientStart writes
// QueryStatistics, which are Stats times log2(e) and Delta, and 0 to QuerySums; Gradients writes KeyGradient and
// ValueGradient, and adds to QuerySums in any order; GradientEnd makes QueryGradient of QuerySums.
enum class NeighborhoodWork {
    Forward,
    QueryGradients,
    KeyGradients,
    BiasGradient,
    GradientStart,
    Gradients,
    GradientEnd,
    WindowSlots,
    WindowQueries,
    WindowKeys,
    WindowBias
};

// A warp for each token, whatever the tensors are; blocks for tiles of tokens, on matrix units; or blocks of warpgroups
// for larger tiles, on those of compute capability 9.0.
enum class NeighborhoodForm { Tokens, Tiles, Warpgroups };

struct NeighborhoodKernelProblem {
    NeighborhoodWork work;
    std::vector<neighborhood::Axis> axes;  // of space
    float scale = 1;                       // of products of queries and keys
    float without_key = 0;                 // the value that WindowSlots writes where a slot has no key
    // {batches, heads, space..., columns}, with the slots of a window as columns of Slots, one column in Stats and
    // Delta and two in QueryStatistics, which are FLOAT, as QuerySums are; {heads, 2 * kernel - 1...} for the bias. The
    // others have one type. The place of a row of QueryStatistics gives that of the row of QuerySums: strides of the
    // former, times columns / 2, are those of the latter, except for the last ones, which are 1.
    std::array<std::optional<Operand>, NeighborhoodTensorCount> operands;

    Operand const& operand(NeighborhoodTensor tensor) const { return *operands[static_cast<std::size_t>(tensor)]; }
    // The operand that gives the others their dims and their type. Every kernel has one.
    Operand const& example() const;
    std::int64_t columns() const;  // of rows; 0 where there are none
};

char const* to_string(NeighborhoodTensor tensor);

// For a problem that passes, the kernels compute what it says, in each form that has no reason against it
// (neighborhood_forms.h).
error_t check(NeighborhoodKernelProblem const& problem);

// Launches need a pointer for each operand that exists, in order.
Result<KernelPointer> compile_neighborhood(NeighborhoodKernelProblem const& problem, NeighborhoodForm form,
                                           DeviceFacts const& device);
// Loads the result of Kernel::serialize() for the same problem, form and device.
Result<KernelPointer> load_neighborhood(NeighborhoodKernelProblem const& problem, NeighborhoodForm form,
                                        DeviceFacts const& device, std::string_view stored);

}  // namespace cudnn_frontend::kernels
