// A thread's elements, moved between memory and registers in units as wide as they allow.
#pragma once

#include <conversions.cuh>  // tests on the host have a file of that name, too

inline float infinity() { return __uint_as_float(0x7f800000u); }
// The factor by which weights add up to 1. If all are 0, since no key is visible, they stay 0.
inline float inverse_of_sum(float weights) { return 1 / (weights == 0 ? 1.0f : weights); }

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

// Neighboring elements that are computed with one by one.
template <class Element, int COUNT>
union ElementRun {
    static constexpr int kBytes = COUNT * sizeof(Element);
    using UnitType = Unit<(kBytes < 16 ? kBytes : 16)>;

    UnitType units[kBytes / sizeof(UnitType)];
    Element elements[COUNT];

    void load(Element const* from) {
        for (unsigned i = 0; i < kBytes / sizeof(UnitType); ++i) units[i] = reinterpret_cast<UnitType const*>(from)[i];
    }
};
