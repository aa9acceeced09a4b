// Random problems for the kernels of neighborhood attention, with data on the host and the formula's results.
#pragma once

#include "kernels/neighborhood/neighborhood_forms.h"
#include "support/neighborhood_formula.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sdpa_test {

namespace kernels = cudnn_frontend::kernels;

enum class NeighborhoodFunction { Forward, Backward, Qk, QkBackward, Av, AvBackward };
inline constexpr int kNeighborhoodFunctions = 6;

// A tensor with its memory, around and between whose elements bytes must stay as they are.
struct NeighborhoodData {
    std::string name;
    kernels::Operand operand;
    std::size_t start = 0;                  // of its first element, in bytes
    std::vector<std::byte> bytes;           // NaN where it is written
    std::vector<double> expected;           // of the outputs, in the order of the dims
    cudnn_frontend::DataType_t rounded_to;  // on the way to the outputs
    double factor = 1;                      // a factor that it still lacks
};

// A kernel, and the case's tensors that it uses.
struct NeighborhoodStep {
    kernels::NeighborhoodProblem problem;
    std::vector<std::size_t> data;  // by operand that there is
};

struct NeighborhoodCase {
    NeighborhoodFunction function;
    std::vector<NeighborhoodData> data;
    std::vector<NeighborhoodStep> steps;

    bool allows(kernels::NeighborhoodForm form, kernels::DeviceFacts const& device) const;
    std::string text() const;
};

struct NeighborhoodSizes {
    std::int64_t tokens, columns, batch_heads;  // at most
};

// A case with the steps by which the form computes it, which may not allow it.
NeighborhoodCase random_neighborhood_case(std::uint64_t seed, NeighborhoodSizes const& sizes,
                                          kernels::NeighborhoodForm form);

// The fault in the bytes after a run; empty where there is none.
std::string fault_of(NeighborhoodCase const& before, std::vector<std::vector<std::byte>> const& after);

}  // namespace sdpa_test
