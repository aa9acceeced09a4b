// The argument of every kernel. The library fills it and the kernels read it, so both include this file: it may include
// nothing, and its types have the same layout for both.
#pragma once

namespace cudnn_frontend::kernels {

inline constexpr int kMostLoops = 6;
inline constexpr int kMostOperands = 5;

// Divides numbers below 2^31 by a constant, as a product and a shift.
struct Divisor {
    unsigned multiplier, shift;
};

struct OperandAccess {
    void* start;
    long long part_stride;          // 0 where the operand has no parts
    long long strides[kMostLoops];  // by loop, the innermost first
};

// A thread has one step of nested loops, the innermost of which may go by vectors, or by pairs of them; strides count
// elements.
struct KernelArguments {
    long long steps, parts;
    long long numbers[5];     // the kernel's own arguments
    long long pair_distance;  // between a thread's two vectors, in elements
    long long sizes[kMostLoops];
    Divisor divisors[kMostLoops];
    int loops;
    int column_loop;  // the loop over columns; -1 where there is one column
    OperandAccess operands[kMostOperands];
};

}  // namespace cudnn_frontend::kernels
