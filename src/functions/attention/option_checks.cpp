// Checks of the options, and of which tensors go together.
#include "functions/attention/rules.h"

#include <cmath>

namespace sdpa_graph::attention::checks {
namespace {

using enum Argument;

constexpr std::int64_t kMost = INT32_MAX;

void expect_31_bits(Scope const& scope, char const* name, std::int64_t number) {
    if (number >= 0 && number <= kMost) return;
    scope.report(name, std::to_string(number), text("a number from 0 to ", kMost), "pass such a number");
}

}  // namespace

void numbers_are_finite(Scope const& scope) {
    Options const& options = scope.call.options;
    if (options.scale && !std::isfinite(*options.scale))
        scope.report("scale", text(*options.scale), "a finite number", "leave it out for 1 / sqrt(d)");
    if (options.softcap && !(std::isfinite(*options.softcap) && *options.softcap > 0.0f))
        scope.report("softcap", text(*options.softcap), "a finite number above 0", "leave it out for no cap");
}

void dropout_is_a_chance(Scope const& scope) {
    float const p = scope.call.options.dropout_p;
    if (p >= 0.0f && p < 1.0f) return;
    scope.report("dropout_p", text(p), "at least 0 and less than 1", "pass 0 for no dropout");
}

void dropout_has_seed(Scope const& scope) {
    if (!scope.call.has_dropout() || scope.call.has(Seed)) return;
    scope.report(Seed, "no tensor", "a seed and an offset", "pass an INT64 tensor of two numbers");
}

void bounds_have_32_bits(Scope const& scope) {
    Options const& options = scope.call.options;
    for (auto const& [name, bound] :
         {std::pair{"left_bound", options.left_bound}, {"right_bound", options.right_bound}}) {
        if (bound && (*bound < -kMost || *bound > kMost))
            scope.report(name, std::to_string(*bound), "a number of 31 bits", "leave it out for no bound");
    }
    expect_31_bits(scope, "longest_q", options.longest_q);
    expect_31_bits(scope, "longest_kv", options.longest_kv);
}

void lengths_are_given_once(Scope const& scope) {
    for (auto const& [ends, other] :
         {std::pair{CuSeqlensQ, SeqLenQ}, {CuSeqlensKv, SeqLenKv}, {CuSeqlensKv, PageTable}}) {
        if (scope.call.has(ends) && scope.call.has(other))
            scope.report(other, text("a tensor, and ", name_of(ends), " too"), "one of them", "leave one out");
    }
}

void pages_are_of_forward(Scope const& scope) {
    if (!scope.call.is_backward || !scope.call.has_pages()) return;
    scope.report(PageTable, "a tensor", "no pages in backward", "gather the keys and values");
}

}  // namespace sdpa_graph::attention::checks
