// Random problems for the kernel of a sink's gradient, with data on the host and the formula in fp64.
#pragma once

#include "support/kernels/kernel_case.h"

#include <cstdint>
#include <string>

namespace sdpa_test {

// The tensors of these cases by their numbers. The kernel has pointers to the first five, then to the lengths if they
// count, and where the case is ragged to the offsets for each of O, dO and Stats. Sequences follow each other then.
enum SinkTensor : std::size_t { O, GradO, Stats, Sink, Gradient, Lengths, Offsets };

// Some rows have Stats of minus infinity and NaN in O, and so has a head's sink; past the lengths of padded tensors
// everything is NaN.
KernelCase random_sink_case(std::uint64_t seed);

bool is_ragged(KernelCase const& sink_case);
// The rows that count.
std::int64_t length_of(KernelCase const& sink_case, std::int64_t batch);
// The element with which a row of O, dO or Stats begins.
std::int64_t row_of(KernelCase const& sink_case, std::size_t tensor, std::int64_t batch, std::int64_t head,
                    std::int64_t row);

// The fault of the gradient after a run; empty where there is none.
std::string fault_of_sink_gradient(KernelCase const& after);

}  // namespace sdpa_test
