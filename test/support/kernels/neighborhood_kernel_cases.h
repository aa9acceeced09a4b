// Random problems for the kernels of neighborhood attention, with data on the host and the formula's results.
#pragma once

#include "reference/oracle/neighborhood_formula.h"
#include "support/kernels/kernel_case.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sdpa_test {

// The largest tensors that a case may have.
struct NeighborhoodLimits {
    std::int64_t tokens, columns, batch_heads;
};

// A case with the steps by which the form computes it, which may not allow it.
KernelCase random_neighborhood_kernel_case(std::uint64_t seed, NeighborhoodLimits const& limits,
                                           kernels::NeighborhoodForm form);

bool allows(KernelCase const& made, kernels::NeighborhoodForm form, kernels::DeviceFacts const& device);
// Whether it has the gradients of the fused function.
bool is_fused_backward(KernelCase const& made);

// The fault in the bytes of the tensors after a run; empty where there is none.
std::string fault_of_neighborhood(KernelCase const& before, std::vector<std::vector<std::byte>> const& after);

}  // namespace sdpa_test
