// Random problems for the kernel of a sink's gradient, with data on the host and the formula in fp64.
#pragma once

#include "kernels/joints/sink_gradient.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sdpa_test {

namespace kernels = cudnn_frontend::kernels;

// An operand in memory of its own.
struct OperandData {
    kernels::Operand operand;
    std::vector<std::byte> bytes;

    double get(std::int64_t at) const;
    void set(std::int64_t at, double number);
};

// Where it is ragged, sequences follow each other in O, dO and Stats.
struct SinkCase {
    OperandData o, d_o, stats, sink, gradient, lengths, offsets;
    bool has_lengths = false, is_ragged = false;

    kernels::SinkGradientProblem problem() const;
    // In the order of the kernel's pointers; the offsets are those of three operands.
    std::vector<OperandData*> data();
    std::string text() const;

    std::int64_t length(std::int64_t batch) const;
    // The element with which a row begins.
    std::int64_t place(OperandData const& of, std::int64_t batch, std::int64_t head, std::int64_t row) const;
};

// Some rows have Stats of minus infinity and NaN in O, and so has a head's sink; past the lengths of padded tensors
// everything is NaN.
SinkCase random_sink_case(std::uint64_t seed);

// The fault of the gradient after a run; empty where there is none.
std::string fault_of(SinkCase const& after);

}  // namespace sdpa_test
