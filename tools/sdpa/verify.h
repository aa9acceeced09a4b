// Compares the results of a run with those of the reference target.
#pragma once

#include "memory.h"

namespace sdpa {

struct Comparison {
    std::string tensor;
    std::int64_t elements = 0, wrong = 0;
    // The element whose error is greatest compared with what is allowed.
    Sizes index;
    double got = 0.0, expected = 0.0, allowed = 0.0;
    double share = 0.0;  // its error divided by the allowed one
};

// One for each result. A result's allowed error is a multiple of the roundoff of its type, relative to the expected
// number and to the root mean square of the tensor. `is_gpu` allows for products of less precision.
std::vector<Comparison> compare(Memories const& got, Memories const& expected, bool is_gpu);

// The scores of all attention nodes: B * Hq * Sq * Skv. The reference target computes each in double precision.
std::int64_t scores_of(Json const& document, Memories const& memories);

}  // namespace sdpa
