// Neighboring elements that are computed with one by one.
#pragma once

#include <elements.cuh>

template <class Element, int COUNT>
union Run {
    static constexpr int kBytes = COUNT * sizeof(Element);
    using UnitType = Unit<(kBytes < 16 ? kBytes : 16)>;

    UnitType units[kBytes / sizeof(UnitType)];
    Element elements[COUNT];

    void load(Element const* from) {
        for (unsigned i = 0; i < kBytes / sizeof(UnitType); ++i) units[i] = reinterpret_cast<UnitType const*>(from)[i];
    }
};
