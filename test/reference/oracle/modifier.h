// Score modifiers by their definition, like the rest of the oracle.
#pragma once

#include "reference/oracle/array.h"

namespace oracle {

enum class Modify {
    Nothing,
    Softcap,
    Slopes,
    Relative,
    HeadDistance,  // as Relative, times the head's index
    Documents,
    CappedDocuments,
    Prefix,
    Dilated,
    Causal,
    Window,
    BottomCausal,  // aligned at the bottom right corner
    BottomWindow,
};

// Whether scores are bounded by the cap.
constexpr bool is_capped(Modify kind) { return kind == Modify::Softcap || kind == Modify::CappedDocuments; }

// Whether it counts rows, columns or heads.
constexpr bool is_counting(Modify kind) {
    return kind != Modify::Nothing && kind != Modify::Documents && !is_capped(kind);
}

struct Modifier {
    Modify kind = Modify::Nothing;
    double number = 1.0;               // the cap, or the factor of the distance
    std::int64_t reach = 0, step = 0;  // of windows
    std::int64_t shift = 0;            // of the bottom right corner's diagonal: keys - queries
    // Slopes {1,Hq,1,1}; documents {B,1,Sq,1} and {B,1,1,Skv}; lengths of prefixes {B,1,1,1}.
    Array of_queries, of_keys;

    // The modified score; -inf if it is masked.
    double value(double score, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
    // The derivative of that.
    double slope(double score) const;
    // The magnitude of the added term, for error bounds.
    double addend(std::int64_t h, std::int64_t i, std::int64_t j) const;

   private:
    bool keeps(std::int64_t b, std::int64_t i, std::int64_t j) const;
};

}  // namespace oracle
