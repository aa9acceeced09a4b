#include "flash/lengths.h"

namespace sdpa_graph::flash {
namespace {

std::vector<std::int64_t> differences(std::span<std::int32_t const> totals) {
    std::vector<std::int64_t> lengths;
    for (std::size_t n = 1; n < totals.size(); ++n) lengths.push_back(std::int64_t{totals[n]} - totals[n - 1]);
    return lengths;
}

std::int64_t power_of_two_in(std::int64_t rows) { return rows & -rows; }

// The distance from one of the graph's pages to the next within one of the caller's.
std::int64_t elements_of_part(Tensor_view const& pages) { return power_of_two_in(pages.dim[1]) * pages.stride[1]; }

}  // namespace

Lengths lengths_of(Call const& call) {
    Lengths lengths{differences(integers_of(*call.at(Argument::CuSeqlensQ))), {}};
    if (call.has(Argument::SequsedK)) {
        auto const used = integers_of(*call.at(Argument::SequsedK));
        lengths.k.assign(used.begin(), used.end());
    } else {
        lengths.k = differences(integers_of(*call.at(Argument::CuSeqlensK)));
    }
    return lengths;
}

bool has_whole_steps(Call const& call, Argument argument) {
    Tensor_view const &pages = *call.at(argument), &k = *call.at(Argument::K);
    std::int64_t const part = elements_of_part(pages);
    bool const is_one_page = pages.dim[0] <= 1;  // then the first stride does not matter
    if (is_one_page || power_of_two_in(pages.dim[1]) == pages.dim[1]) return true;
    return part > 0 && pages.stride[0] % part == 0 && elements_of_part(k) > 0 &&
           pages.stride[0] / part == k.stride[0] / elements_of_part(k);
}

PageParts pages_of(Call const& call) {
    Tensor_view const& k = *call.at(Argument::K);
    std::int64_t const rows = power_of_two_in(k.dim[1]), parts = k.dim[1] / rows;
    bool const is_one_page = k.dim[0] <= 1;
    std::int64_t const step = is_one_page || parts == 1 ? parts : k.stride[0] / elements_of_part(k);
    std::int64_t const count = (k.dim[0] - 1) * step + parts;
    return {rows, parts, step, count, call.at(Argument::BlockTable)->dim[1]};
}

}  // namespace sdpa_graph::flash
