// The work of a graph's attention, from which rates follow.
#pragma once

#include "data/memory.h"

namespace sdpa {

struct Work {
    double operations = 0.0;  // additions and multiplications of the products, for visible scores alone
    double bytes = 0.0;       // every tensor once, of K and V in pages and of padded sequences only what lengths select
    bool is_8_bit = false;
    // Whether a block mask or a score modifier hides some of the scores that are counted.
    bool counts_hidden = false;
};

// The document has uids, and the data was made for it. The operations are 0 where it has no node of attention.
Work work_of(Json const& document, Memories const& memories);

}  // namespace sdpa
