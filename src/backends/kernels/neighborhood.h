// Neighborhood attention by kernels of their own, each of which computes one thing.
#pragma once

#include "kernels/device/neighborhood_arguments.h"
#include "kernels/kernel.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

// Who sees whom: core/neighborhood.h. Forward reads Queries, Keys, Values and perhaps Bias, and writes Output and
// perhaps Stats. QueryGradients writes Delta, the products of rows of Output and OutputGradient, and QueryGradient;
// KeyGradients and BiasGradient read Delta. Three others relate Slots to Queries and Keys: each writes the tensor of
// its name, and reads the other two; WindowSlots adds Bias. WindowBias sums Slots for BiasGradient.
enum class NeighborhoodWork {
    Forward,
    QueryGradients,
    KeyGradients,
    BiasGradient,
    WindowSlots,
    WindowQueries,
    WindowKeys,
    WindowBias
};

// A warp for each token, whatever the tensors are; or blocks for tiles of tokens, on matrix units.
enum class NeighborhoodForm { Tokens, Tiles };

struct NeighborhoodProblem {
    NeighborhoodWork work;
    std::vector<neighborhood::Axis> axes;  // of space
    float scale = 1;                       // of products of queries and keys
    float without_key = 0;                 // what WindowSlots writes where a slot has no key
    // {batches, heads, space..., columns}, with the slots of a window as columns of Slots, and one column in Stats and
    // Delta, which are FLOAT; {heads, 2 * kernel - 1...} for the bias. The others have one type.
    std::array<std::optional<Operand>, kNeighborhoodTensors> operands;

    Operand const& operand(NeighborhoodTensor tensor) const { return *operands[static_cast<std::size_t>(tensor)]; }
};

char const* to_string(NeighborhoodTensor tensor);

// Of a problem that passes, every kernel by tokens computes what it says.
error_t check(NeighborhoodProblem const& problem);
// Why it cannot be computed by tiles; empty where it can. Of a problem that passes check().
std::string reason_against_tiles(NeighborhoodProblem const& problem);

// What each pointer must be a multiple of, in bytes: of the operands that there are, in order.
std::vector<std::size_t> alignments_of(NeighborhoodProblem const& problem, NeighborhoodForm form);

// Launches take a pointer for each operand that there is, in order.
Result<KernelPointer> compile_neighborhood(NeighborhoodProblem const& problem, NeighborhoodForm form,
                                           DeviceFacts const& device);
// From Kernel::serialize() for the same problem, form and device.
Result<KernelPointer> load_neighborhood(NeighborhoodProblem const& problem, NeighborhoodForm form,
                                        DeviceFacts const& device, std::string_view stored);

}  // namespace cudnn_frontend::kernels
