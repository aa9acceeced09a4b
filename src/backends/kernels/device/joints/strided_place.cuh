// Where a thread's elements are in operands of any strides.
#pragma once

#include <joints/strided_arguments.h>
#include <elements.cuh>

using cudnn_frontend::kernels::Divisor;
using cudnn_frontend::kernels::KernelArguments;

constexpr int kThreadsAtMost = 256, kVectorBytes = 16;
constexpr int kLoadsAtOnce = 4;  // number of vectors, so that a thread waits for memory once for all of them

inline unsigned divided(unsigned number, long long, Divisor by) {
    return (__umulhi(number, by.multiplier) + number) >> by.shift;
}
inline unsigned long long divided(unsigned long long number, long long size, Divisor) { return number / size; }

// The place of the thread's step in each of the first OPERANDS operands, in elements of a part. Index is unsigned where
// steps, parts and places are below 2^31, else unsigned long long.
template <class Index, int OPERANDS>
struct StridedPlace {
    explicit StridedPlace(KernelArguments const& arguments) {
        Index rest = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
        is_inside = rest < static_cast<Index>(arguments.steps);
#pragma unroll 1
        for (int loop = 0; loop < arguments.loops; ++loop) {
            Index const outer = divided(rest, arguments.sizes[loop], arguments.divisors[loop]);
            Index const at = rest - outer * static_cast<Index>(arguments.sizes[loop]);
#pragma unroll
            for (int i = 0; i < OPERANDS; ++i) {
                offsets[i] += at * static_cast<Index>(arguments.operands[i].strides[loop]);
            }
            if (loop == arguments.column_loop) column = at;
            rest = outer;
        }
    }

    template <class Element>
    Element* pointer(KernelArguments const& arguments, int operand) const {
        return static_cast<Element*>(arguments.operands[operand].start) + offsets[operand];
    }

    bool is_inside;
    Index column = 0;
    Index offsets[OPERANDS] = {};
};
