// Neighborhood attention as a user's program runs it: graphs of its functions over tensors in host memory, and what
// their results should be by the formula.
#pragma once

#include "support/host_tensor.h"
#include "support/neighborhood_formula.h"

#include <cudnn_frontend/graph.h>

#include <optional>
#include <string>
#include <vector>

namespace sdpa_test {

struct NeighborhoodCase {
    std::int64_t batches = 1, heads = 1, width = 4;
    std::vector<neighborhood_formula::Axis> axes;
    bool has_bias = false;
    bool generates_stats = true;
    std::optional<float> scale;  // of the fused functions; none: their default
    DataType_t type = DataType_t::FLOAT;
    bool has_gaps = false;  // in memory, where the dims lie in another order too
    std::uint64_t seed = 1;

    std::string text() const;
};

// Any function that the rules allow takes these: the products are for odd kernels alone, and so is the bias.
NeighborhoodCase random_neighborhood_case(std::uint64_t seed);

// Runs forward and backward, fused or as two products, on the target, and compares all results with the formula.
// Results may differ by rounding them to their type, and by `unit` for each unit of what they are summed up from.
// Describes the first that differs by more; empty if there is none.
std::string check_fused_neighborhood(NeighborhoodCase const& test, cudnn_frontend::Target const& target, double unit);
std::string check_neighborhood_products(NeighborhoodCase const& test, cudnn_frontend::Target const& target,
                                        double unit);

}  // namespace sdpa_test
