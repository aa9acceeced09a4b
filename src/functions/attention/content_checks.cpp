// Checks of ends and lengths in host memory.
#include "calls/view_properties.h"
#include "functions/attention/rules.h"

namespace sdpa_graph::attention::checks {
namespace {

using enum Argument;

std::span<std::int32_t const> numbers_of(Call const& call, Argument argument) {
    Tensor_view const& view = *call.at(argument);
    return {static_cast<std::int32_t const*>(view.data), static_cast<std::size_t>(calls::elements_of(view))};
}

void check_lengths(Scope const& scope, Argument argument, std::int64_t rows) {
    if (!scope.call.has(argument)) return;
    auto const lengths = numbers_of(scope.call, argument);
    for (std::size_t n = 0; n < lengths.size(); ++n) {
        if (lengths[n] >= 0 && lengths[n] <= rows) continue;
        return scope.report(argument, text(name_of(argument), "[", n, "] of ", lengths[n]),
                            text("a number from 0 to ", rows, ", the rows of a sequence"),
                            "pass how many rows each sequence uses");
    }
}

void check_ends(Scope const& scope, Argument argument, std::int64_t tokens) {
    if (!scope.call.has(argument)) return;
    auto const ends = numbers_of(scope.call, argument);
    std::int64_t least = 0;
    for (std::size_t n = 0; n < ends.size(); ++n) {
        if (ends[n] < least || ends[n] > tokens)
            return scope.report(argument, text(name_of(argument), "[", n, "] of ", ends[n]),
                                text("a number from ", least, " to ", tokens, ", the tokens there are"),
                                "pass 0 and then the end of each sequence");
        least = ends[n];
    }
}

void check_longest(Scope const& scope, Argument argument, char const* name, std::int64_t longest) {
    if (!scope.call.has(argument)) return;
    auto const ends = numbers_of(scope.call, argument);
    for (std::size_t n = 1; n < ends.size(); ++n) {
        std::int64_t const length = std::int64_t{ends[n]} - ends[n - 1];
        if (length <= longest) continue;
        return scope.report(argument, text("sequence ", n - 1, " with a length of ", length),
                            text("at most ", longest, ", which ", name, " says"), text("pass the longest as ", name));
    }
}

}  // namespace

void ends_ascend(Scope const& scope) {
    check_ends(scope, CuSeqlensQ, scope.sizes->total_q);
    check_ends(scope, CuSeqlensKv, scope.sizes->total_kv);
}

void lengths_are_there(Scope const& scope) {
    check_lengths(scope, SeqLenQ, scope.sizes->queries);
    check_lengths(scope, SeqLenKv, scope.sizes->keys);
}

void sequences_are_bounded(Scope const& scope) {
    check_longest(scope, CuSeqlensQ, "longest_q", scope.call.options.longest_q);
    check_longest(scope, CuSeqlensKv, "longest_kv", scope.call.options.longest_kv);
}

}  // namespace sdpa_graph::attention::checks
