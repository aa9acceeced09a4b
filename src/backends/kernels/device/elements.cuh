// Where a thread's elements are, and moving them as wide as they allow.
#pragma once

#include <arguments.h>
#include <conversions.cuh>  // tests on the host have a file of that name, too

using cudnn_frontend::kernels::Divisor;
using cudnn_frontend::kernels::KernelArguments;

constexpr int kThreadsAtMost = 256;

inline float infinity() { return __uint_as_float(0x7f800000u); }

inline unsigned divided(unsigned number, long long, Divisor by) {
    return (__umulhi(number, by.multiplier) + number) >> by.shift;
}
inline unsigned long long divided(unsigned long long number, long long size, Divisor) { return number / size; }

// The place of the thread's step in each of the first OPERANDS operands, in elements. Index is unsigned where there are
// fewer than 2^31 steps, else unsigned long long.
template <class Index, int OPERANDS>
struct Place {
    explicit Place(KernelArguments const& arguments) {
        Index rest = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
        is_inside = rest < static_cast<Index>(arguments.steps);
#pragma unroll 1
        for (int loop = 0; loop < arguments.loops; ++loop) {
            Index const outer = divided(rest, arguments.sizes[loop], arguments.divisors[loop]);
            long long const at = rest - outer * static_cast<Index>(arguments.sizes[loop]);
#pragma unroll
            for (int i = 0; i < OPERANDS; ++i) offsets[i] += at * arguments.operands[i].strides[loop];
            if (loop == arguments.column_loop) column = at;
            rest = outer;
        }
    }

    template <class Element>
    Element* pointer(KernelArguments const& arguments, int operand) const {
        return static_cast<Element*>(arguments.operands[operand].start) + offsets[operand];
    }

    bool is_inside;
    long long column = 0;
    long long offsets[OPERANDS] = {};
};

// What one instruction moves, as words that can be masked.
template <int BYTES>
struct Unit;
template <>
struct Unit<2> {
    using type = unsigned short;
};
template <>
struct Unit<4> {
    using type = unsigned;
};
template <>
struct Unit<8> {
    using type = uint2;
};
template <>
struct Unit<16> {
    using type = uint4;
};

// COUNT neighbouring elements in registers.
template <class Element, int COUNT>
union Vector {
    static constexpr int kBytes = COUNT * sizeof(Element);
    static constexpr int kUnitBytes = kBytes < 16 ? kBytes : 16;
    using UnitType = typename Unit<kUnitBytes>::type;

    UnitType units[kBytes / kUnitBytes];
    Element elements[COUNT];

    void load(Element const* from) {
        for (int i = 0; i < kBytes / kUnitBytes; ++i) units[i] = reinterpret_cast<UnitType const*>(from)[i];
    }
    void store(Element* to) const {
        for (int i = 0; i < kBytes / kUnitBytes; ++i) reinterpret_cast<UnitType*>(to)[i] = units[i];
    }
};

// Calls use(part, its elements) for each part in order. Loads are issued a group at a time, so that a thread waits for
// memory once a group.
template <class Element, int COUNT, class Use>
inline void for_each_part(Element const* first, long long part_stride, long long parts, Use const& use) {
    constexpr int kGroup = 4;
#pragma unroll 1
    for (long long start = 0; start < parts; start += kGroup) {
        Vector<Element, COUNT> group[kGroup];
#pragma unroll
        for (int i = 0; i < kGroup; ++i) {
            if (start + i < parts) group[i].load(first + (start + i) * part_stride);
        }
#pragma unroll
        for (int i = 0; i < kGroup; ++i) {
            if (start + i < parts) use(start + i, group[i].elements);
        }
    }
}

template <class Element, int COUNT>
inline void store(Element* to, float const (&numbers)[COUNT]) {
    Vector<Element, COUNT> vector;
    for (int i = 0; i < COUNT; ++i) assign(vector.elements[i], numbers[i]);
    vector.store(to);
}
