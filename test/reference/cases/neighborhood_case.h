// Neighborhood attention as a user's program runs it: graphs of its functions over tensors in host memory, and the
// expected results by the formula.
#pragma once

#include "reference/oracle/neighborhood_formula.h"
#include "support/attention_result.h"
#include "support/host_tensor.h"

#include <cudnn_frontend/graph.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sdpa_test {

// How tensors lie in memory. HeadsFirst: packed, head by head. Spaced: dims in another order and with gaps, but each
// row whole, at a multiple of 16 bytes.
enum class NeighborhoodLayout { Packed, HeadsFirst, Spaced, Scattered };

struct NeighborhoodCase {
    std::int64_t batches = 1, heads = 1, width = 4;
    std::vector<neighborhood_formula::Axis> axes;
    bool has_bias = false;
    bool masks_first_head = false;  // the bias masks it
    bool generates_stats = true;
    std::optional<float> scale;  // of the fused functions; none: their default
    DataType_t type = DataType_t::FLOAT;
    NeighborhoodLayout layout = NeighborhoodLayout::Packed;
    std::uint64_t seed = 1;
    ResultSet left_out;  // of the fused functions: that nobody asks for

    std::string text() const;
};

struct NeighborhoodSizes {
    std::array<std::int64_t, 3> longest{40, 12, 6};  // axis of a line, a picture, a volume
    std::vector<std::int64_t> widths{1, 2, 3, 4, 5, 6, 7, 8, 9};
};

// A case that any function supports if the rules allow it: the products are for odd kernels alone, and so is the bias.
NeighborhoodCase random_neighborhood_case(std::uint64_t seed, NeighborhoodSizes const& sizes = {});

bool takes(NeighborhoodFunction function, NeighborhoodCase const& test);

// The tensors of a graph by their uids.
struct GraphTensors {
    std::map<std::int64_t, HostTensor> inputs, outputs;
};
// Builds a graph and runs it over the tensors; returns the fault, which is empty if there is none.
using GraphRunner = std::function<std::string(cudnn_frontend::graph::Graph&, GraphTensors const&)>;
GraphRunner runner_on_host(cudnn_frontend::Target const& target);

// How far a result may be from the formula's, in addition to rounding it to its type.
struct NeighborhoodError {
    double absolute = 0.0;
    double roundings = 0.0;  // of the tensor's largest number, where weights are rounded before they are multiplied
};
// `unit` for each unit of the sums that make results.
NeighborhoodError error_of_sums(NeighborhoodCase const& test, double unit);
// The error of Target::cpu(), which sums floats, and rounds weights where it multiplies pairs of BFLOAT16 numbers.
NeighborhoodError error_on_cpu(NeighborhoodCase const& test);

// Runs the function, and compares all results with the formula. Describes the first that is wrong; empty if none is.
std::string check_neighborhood(NeighborhoodFunction function, NeighborhoodCase const& test, GraphRunner const& runner,
                               NeighborhoodError const& error);

}  // namespace sdpa_test
