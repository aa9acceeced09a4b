// Bounds on the numbers that a score modifier computes in a block of scores, from which follows whether it hides all of
// them. A modifier's own text, written for Bounds in place of numbers, computes them.
#pragma once

#include <attention/score_region.cuh>

inline double infinity() { return __uint_as_float(0x7f800000u); }
// Integers up to here are exact in FLOAT, in which they may be compared with others.
constexpr double kMostInteger = 1 << 24;

// The least and the greatest number that something can be. Both infinite: it can be anything, even NaN.
struct Bounds {
    double low = -infinity(), high = infinity();
    bool is_input = false;  // it is the score, or its gradient, unchanged

    Bounds() {}
    Bounds(double number) {
        if (number == number) low = high = number;
    }
    Bounds(double least, double greatest) : low(least), high(greatest) {}

    bool is(double number) const { return low == number && high == number; }
    bool is_finite() const { return low > -infinity() && high < infinity(); }
    bool is_true() const { return is_finite() && (low > 0 || high < 0); }
    bool is_false() const { return is(0); }
};

// The first and the last of the block's batches, heads, queries and keys.
struct BlockPlace {
    Bounds batch, head, query, key;
};

inline Bounds anything() { return {}; }
inline Bounds either(Bounds const& a, Bounds const& b) {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}
inline Bounds truth(bool always, bool never) { return {always ? 1.0 : 0.0, never ? 0.0 : 1.0}; }
inline bool are_finite(Bounds const& a, Bounds const& b) { return a.is_finite() && b.is_finite(); }

inline Bounds operator+(Bounds const& a, Bounds const& b) {
    return are_finite(a, b) ? Bounds(a.low + b.low, a.high + b.high) : anything();
}
inline Bounds operator-(Bounds const& a, Bounds const& b) {
    return are_finite(a, b) ? Bounds(a.low - b.high, a.high - b.low) : anything();
}
inline Bounds operator-(Bounds const& a) { return a.is_finite() ? Bounds(-a.high, -a.low) : anything(); }
inline Bounds operator*(Bounds const& a, Bounds const& b) {
    if (!are_finite(a, b)) return {};
    return either(either(a.low * b.low, a.low * b.high), either(a.high * b.low, a.high * b.high));
}
inline Bounds greater_of(Bounds const& a, Bounds const& b) {
    if (!are_finite(a, b)) return {};
    return {a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}
inline Bounds lesser_of(Bounds const& a, Bounds const& b) {
    if (!are_finite(a, b)) return {};
    return {a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}
inline Bounds magnitude_of(Bounds const& a) {
    if (!a.is_finite()) return {};
    double const most = a.high > -a.low ? a.high : -a.low;
    return {a.low > 0 ? a.low : a.high < 0 ? -a.high : 0.0, most};
}
inline Bounds inverse_of(Bounds const& a) {
    bool const is_known = a.is_finite() && a.low == a.high && a.low != 0;
    return is_known ? Bounds(inverse_of(static_cast<float>(a.low))) : anything();
}
// The sign is that of `a`.
inline Bounds remainder_of(Bounds const& a, Bounds const& b) {
    if (!are_finite(a, b) || b.low != b.high || b.low == 0) return {};
    double const period = b.low > 0 ? b.low : -b.low;
    // Remainders below are exact for smaller quotients, and faster than fmod().
    constexpr double kMostQuotient = 1 << 28;
    if (a.low < -kMostQuotient * period || a.high > kMostQuotient * period) return {};
    bool const is_one_period = a.low == a.high || (a.low >= 0 && floor(a.low / period) == floor(a.high / period));
    auto const remainder = [&](double number) { return fma(-trunc(number / period), period, number); };
    if (is_one_period) return {remainder(a.low), remainder(a.high)};
    return {a.low < 0 ? -period : 0.0, a.high > 0 ? period : 0.0};
}
inline Bounds floorf(Bounds const& a) { return a.is_finite() ? Bounds(floor(a.low), floor(a.high)) : anything(); }

// Comparisons, and what follows from them, are 0 or 1.
inline Bounds comparison(bool is_known, bool always, bool never) {
    return is_known ? truth(always, never) : truth(false, false);
}
inline bool are_apart(Bounds const& a, Bounds const& b) { return a.high < b.low || b.high < a.low; }
inline bool are_one(Bounds const& a, Bounds const& b) { return a.is(b.low) && b.is(a.low); }
inline Bounds operator==(Bounds const& a, Bounds const& b) {
    return comparison(are_finite(a, b), are_one(a, b), are_apart(a, b));
}
inline Bounds operator!=(Bounds const& a, Bounds const& b) {
    return comparison(are_finite(a, b), are_apart(a, b), are_one(a, b));
}
inline Bounds operator>(Bounds const& a, Bounds const& b) {
    return comparison(are_finite(a, b), a.low > b.high, a.high <= b.low);
}
inline Bounds operator>=(Bounds const& a, Bounds const& b) {
    return comparison(are_finite(a, b), a.low >= b.high, a.high < b.low);
}
inline Bounds operator<(Bounds const& a, Bounds const& b) { return b > a; }
inline Bounds operator<=(Bounds const& a, Bounds const& b) { return b >= a; }
inline Bounds operator&&(Bounds const& a, Bounds const& b) {
    return truth(a.is_true() && b.is_true(), a.is_false() || b.is_false());
}
inline Bounds operator||(Bounds const& a, Bounds const& b) {
    return truth(a.is_true() || b.is_true(), a.is_false() && b.is_false());
}
inline Bounds chosen_of(Bounds const& choice, Bounds const& a, Bounds const& b) {
    return choice.is_true() ? a : choice.is_false() ? b : either(a, b);
}

// The bounds once the number has this type.
template <class Type>
struct ComputedAs {
    static Bounds of(Bounds const& x) {  // integers
        bool const is_exact = x.low >= -kMostInteger && x.high <= kMostInteger;
        return is_exact ? Bounds(static_cast<int>(x.low), static_cast<int>(x.high)) : anything();
    }
};
template <>
struct ComputedAs<float> {
    static Bounds of(Bounds x) {
        x.low = static_cast<float>(x.low), x.high = static_cast<float>(x.high);
        return x;
    }
};
template <>
struct ComputedAs<bool> {
    static Bounds of(Bounds const& x) { return truth(x.is_true(), x.is_false()); }
};
template <class Type>
inline Bounds computed_as(Bounds const& x) {
    return ComputedAs<Type>::of(x);
}

inline Bounds bounds_of(float number) { return number; }
inline Bounds bounds_of(int number) { return computed_as<int>(number); }
inline Bounds bounds_of(long long number) { return computed_as<int>(static_cast<double>(number)); }

// The elements that the block's scores read. They can be any numbers if these are as many as several scores.
template <class Element, bool VARIES_BY_QUERY, bool VARIES_BY_KEY>
inline Bounds element_of(ScoreNumbers const& tensor, BlockPlace const& at) {
    auto const element_at = [&](int query, int key) {
        ScorePlace const place{static_cast<int>(at.batch.low), static_cast<int>(at.head.low), query, key, {}};
        return element_of<Element, VARIES_BY_QUERY, VARIES_BY_KEY>(tensor, place);
    };
    if (VARIES_BY_QUERY && VARIES_BY_KEY) {
        bool const is_one = at.query.low == at.query.high && at.key.low == at.key.high;
        return is_one ? bounds_of(element_at(static_cast<int>(at.query.low), static_cast<int>(at.key.low)))
                      : anything();
    }
    bool const varies = VARIES_BY_QUERY || VARIES_BY_KEY;
    Bounds const& rows = VARIES_BY_QUERY ? at.query : at.key;
    int const first = varies ? static_cast<int>(rows.low) : 0, last = varies ? static_cast<int>(rows.high) : 0;
    auto const element = [&](int row) { return element_at(row, row); };
    auto least = element(first), most = least;
    bool are_numbers = true;
    // Without an end before the last row, so that reads of many rows are under way at a time.
#pragma unroll 16
    for (int row = first; row <= last; ++row) {
        auto const number = element(row);
        are_numbers = are_numbers && number == number;
        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    Bounds const all = either(bounds_of(least), bounds_of(most));
    return are_numbers && all.is_finite() ? all : anything();
}
