// Checks of the contents of lengths and tables in host memory.
#include "flash/checks/rules.h"
#include "flash/lengths.h"

namespace sdpa_graph::flash::checks {
namespace {

using enum Argument;

std::string element(char const* name, std::size_t at, std::int64_t value) {
    return text(name, "[", at, "] of ", value);
}

void check_totals(Scope const& scope, Argument argument, std::int64_t rows) {
    auto const totals = integers_of(*scope.call.at(argument));
    std::int64_t least = 0;
    for (std::size_t n = 0; n < totals.size(); ++n) {
        bool const is_within = totals[n] >= least && totals[n] <= rows;
        if (!is_within) {
            return scope.report(argument, element(name_of(argument), n, totals[n]),
                                text("a number from ", least, " to ", rows, ", the rows there are"),
                                "pass the cumulative lengths, from 0 on");
        }
        least = totals[n];
    }
}

void check_lengths(Scope const& scope, Argument argument, char const* bound, std::span<std::int64_t const> lengths,
                   std::int64_t most) {
    for (std::size_t n = 0; n < lengths.size(); ++n) {
        if (lengths[n] <= most) continue;
        return scope.report(argument, text("sequence ", n, " with a length of ", lengths[n]),
                            text("at most ", most, ", which ", bound, " says"), text("pass the longest as ", bound));
    }
}

}  // namespace

void totals_ascend(Scope const& scope) {
    constexpr std::int64_t kAny = INT32_MAX;
    check_totals(scope, CuSeqlensQ, scope.sizes->total_q);
    check_totals(scope, CuSeqlensK, scope.call.has_pages() ? kAny : scope.sizes->total_k);
}

void lengths_are_bounded(Scope const& scope) {
    Lengths const lengths = lengths_of(scope.call);
    check_lengths(scope, CuSeqlensQ, "max_seqlen_q", lengths.q, scope.sizes->queries);
    check_lengths(scope, scope.call.has(SequsedK) ? SequsedK : CuSeqlensK, "max_seqlen_k", lengths.k,
                  scope.sizes->keys);
}

void used_keys_are_there(Scope const& scope) {
    if (!scope.call.has(SequsedK)) return;
    auto const used = integers_of(*scope.call.at(SequsedK));
    auto const totals = integers_of(*scope.call.at(CuSeqlensK));
    for (std::size_t n = 0; n < used.size(); ++n) {
        std::int64_t const most = scope.call.has_pages() ? INT32_MAX : std::int64_t{totals[n + 1]} - totals[n];
        if (used[n] >= 0 && used[n] <= most) continue;
        return scope.report(SequsedK, element("seqused_k", n, used[n]),
                            text("a number from 0 to ", most, ", the keys of the sequence"),
                            "pass how many keys each sequence uses");
    }
}

void blocks_are_there(Scope const& scope) {
    Call const& call = scope.call;
    if (!call.has_pages()) return;
    Tensor_view const &table = *call.at(BlockTable), &k = *call.at(K);
    auto const* const entries = static_cast<std::int32_t const*>(table.data);
    std::vector<std::int64_t> const lengths = lengths_of(call).k;
    for (std::size_t n = 0; n < lengths.size(); ++n) {
        std::int64_t const needed = (lengths[n] + k.dim[1] - 1) / k.dim[1];
        if (needed > table.dim[1]) {
            return scope.report(BlockTable, text(table.dim[1], " blocks for each sequence"),
                                text(needed, " for the ", lengths[n], " keys of sequence ", n),
                                "pass a table with as many columns");
        }
        for (std::int64_t column = 0; column < needed; ++column) {
            std::int64_t const block = entries[static_cast<std::int64_t>(n) * table.stride[0] + column];
            if (block >= 0 && block < k.dim[0]) continue;
            return scope.report(BlockTable, text("block ", block, " at [", n, ", ", column, "]"),
                                text("a number from 0 to ", k.dim[0] - 1, ", the blocks of k"), "correct the entry");
        }
    }
}

}  // namespace sdpa_graph::flash::checks
