#include "reference/oracle/modifier.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace oracle {

bool Modifier::keeps(std::int64_t b, std::int64_t i, std::int64_t j) const {
    switch (kind) {
        case Modify::Documents:
        case Modify::CappedDocuments: return of_queries.at(b, 0, i, 0) == of_keys.at(b, 0, 0, j);
        case Modify::Prefix: return j <= i || static_cast<double>(j) < of_queries.at(b, 0, 0, 0);
        case Modify::Dilated: return std::abs(i - j) < reach && (i - j) % step == 0;
        case Modify::Causal: return j <= i;
        case Modify::Window: return j <= i && i - j < reach;
        case Modify::BottomCausal: return j <= i + shift;
        case Modify::BottomWindow: return j <= i + shift && i + shift - j < reach;
        default: return true;
    }
}

double Modifier::addend(std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (kind == Modify::Slopes) return of_queries.at(0, h, 0, 0) * static_cast<double>(j - i);
    if (kind == Modify::HeadDistance) return number * static_cast<double>(h * (j - i));
    return kind == Modify::Relative ? number * static_cast<double>(j - i) : 0.0;
}

double Modifier::value(double score, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (!keeps(b, i, j)) return -std::numeric_limits<double>::infinity();
    if (is_capped(kind)) return number * std::tanh(score / number);
    return score + addend(h, i, j);
}

double Modifier::slope(double score) const {
    if (!is_capped(kind)) return 1.0;
    double const cosh = std::cosh(score / number);
    return 1.0 / (cosh * cosh);
}

}  // namespace oracle
