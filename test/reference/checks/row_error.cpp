#include "reference/checks/row_error.h"

#include "reference/checks/tolerance.h"

#include <cmath>
#include <sstream>

namespace sdpa_test {
namespace {

constexpr double kTimesRounding = 6.0;     // kernels round in other places than the definition, but as often
constexpr double kPartOfTolerance = 0.05;  // for rows that rounding happens to change little
constexpr std::int64_t kFewestColumns = 16;

struct Squares {
    double error = 0, rounding = 0, storing = 0, allowed = 0;

    double limit() const {
        return kTimesRounding * std::sqrt(rounding) + std::sqrt(storing) + kPartOfTolerance * std::sqrt(allowed);
    }
};

double square(double x) { return x * x; }

Squares squares_of(HostTensor const& actual, RowExpectation const& expected, Index4 at) {
    Squares sum;
    for (at[3] = 0; at[3] < actual.dim[3]; ++at[3]) {
        double const wanted = expected.wanted.at(at[0], at[1], at[2], at[3]);
        sum.error += square(actual.get(at) - wanted);
        sum.rounding += square(expected.rounded.at(at[0], at[1], at[2], at[3]) - wanted);
        sum.storing += square(oracle::storage_error(actual.type, std::abs(wanted)));
        sum.allowed += square(expected.allowed.at(at[0], at[1], at[2], at[3]));
    }
    return sum;
}

}  // namespace

std::string first_bad_row(char const* name, HostTensor const& actual, RowExpectation const& expected,
                          std::optional<std::vector<std::int64_t>> const& rows) {
    if (actual.dim[3] < kFewestColumns) return {};
    std::string fault;
    for_each_index({actual.dim[0], actual.dim[1], actual.dim[2], 1}, [&](Index4 const& at) {
        bool const is_padding = rows && at[2] >= (*rows)[static_cast<std::size_t>(at[0])];
        if (is_padding || !fault.empty()) return;
        Squares const row = squares_of(actual, expected, at);
        if (std::sqrt(row.error) <= row.limit()) return;
        std::ostringstream text;
        text << name << "'s row (" << at[0] << ", " << at[1] << ", " << at[2] << ") is off by " << std::sqrt(row.error)
             << ", where rounding does " << std::sqrt(row.rounding) << "; allowed are " << row.limit();
        fault = text.str();
    });
    return fault;
}

}  // namespace sdpa_test
