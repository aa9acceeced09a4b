// Where a thread's elements are, and moving them in units as wide as they allow.
#pragma once

#include <arguments.h>
#include <conversions.cuh>  // tests on the host have a file of that name, too

using cudnn_frontend::kernels::Divisor;
using cudnn_frontend::kernels::KernelArguments;

constexpr int kThreadsAtMost = 256, kVectorBytes = 16;
constexpr int kLoadsAtOnce = 4;  // number of vectors, so that a thread waits for memory once for all of them

inline float infinity() { return __uint_as_float(0x7f800000u); }
// The factor by which weights add up to 1. If all are 0, since no key is visible, they stay 0.
inline float inverse_of_sum(float weights) { return 1 / (weights == 0 ? 1.0f : weights); }

inline unsigned divided(unsigned number, long long, Divisor by) {
    return (__umulhi(number, by.multiplier) + number) >> by.shift;
}
inline unsigned long long divided(unsigned long long number, long long size, Divisor) { return number / size; }

// The place of the thread's step in each of the first OPERANDS operands, in elements of a part. Index is unsigned where
// steps, parts and places are below 2^31, else unsigned long long.
template <class Index, int OPERANDS>
struct Place {
    explicit Place(KernelArguments const& arguments) {
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

// The memory that one instruction moves.
template <int BYTES>
struct alignas(BYTES) Unit {
    unsigned words[BYTES / 4];
};
template <>
struct Unit<2> {
    unsigned short words[1];
};

// The elements of a thread in registers: COUNT of them, in RUNS runs of neighbors. As words they are loaded and stored
// with the fewest instructions.
template <class Element, int COUNT, int RUNS>
class Vector {
   public:
    void load(Element const* from, long long distance) {
#pragma unroll
        for (int i = 0; i < kUnits; ++i) {
            UnitType const unit = reinterpret_cast<UnitType const*>(from + i / kUnitsOfRun * distance)[i % kUnitsOfRun];
            for (int k = 0; k < kWordsOfUnit; ++k) words_[i * kWordsOfUnit + k] = unit.words[k];
        }
    }
    void store(Element* to, long long distance) const {
#pragma unroll
        for (int i = 0; i < kUnits; ++i) {
            UnitType unit;
            for (int k = 0; k < kWordsOfUnit; ++k) unit.words[k] = words_[i * kWordsOfUnit + k];
            reinterpret_cast<UnitType*>(to + i / kUnitsOfRun * distance)[i % kUnitsOfRun] = unit;
        }
    }
    void clear() {
        for (unsigned& word : words_) word = 0;
    }

    float operator[](int i) const { return to_float<Element>(words_[i / kElementsOfWord] >> i % kElementsOfWord * 16); }
    void assign(float const (&numbers)[COUNT]) {
        clear();
        for (int i = 0; i < COUNT; ++i) {
            words_[i / kElementsOfWord] |= to_bits<Element>(numbers[i]) << i % kElementsOfWord * 16;
        }
    }

   private:
    static constexpr int kRunBytes = COUNT / RUNS * sizeof(Element);
    using UnitType = Unit<(kRunBytes < 16 ? kRunBytes : 16)>;
    static constexpr int kUnitsOfRun = kRunBytes / sizeof(UnitType), kUnits = RUNS * kUnitsOfRun;
    static constexpr int kWordsOfUnit = sizeof(UnitType) < 4 ? 1 : sizeof(UnitType) / 4;
    static constexpr int kElementsOfWord = 4 / sizeof(Element);

    unsigned words_[kUnits * kWordsOfUnit];
};
