#include "pipeline/overlap.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace cudnn_frontend::inline v1::pipeline {
namespace {

// Whether some sum of d[i] * stride[i] with -dim_a[i] < d[i] < dim_b[i] gives the distance. Strides are tried from the
// largest; since the smaller ones reach less than one step of the larger, two quotients are worth trying at each.
bool reaches(std::int64_t distance, Slot const& a, Slot const& b, std::vector<std::size_t> const& order,
             std::size_t depth) {
    if (depth == order.size()) return distance == 0;
    std::size_t const i = order[depth];
    std::int64_t const stride = a.stride[i];
    if (stride == 0) return reaches(distance, a, b, order, depth + 1);
    std::int64_t const quotient = distance / stride;
    for (std::int64_t const d : {quotient - 1, quotient, quotient + 1}) {
        bool const in_range = d > -b.dim[i] && d < a.dim[i];
        if (in_range && reaches(distance - d * stride, a, b, order, depth + 1)) return true;
    }
    return false;
}

bool same_layout_overlaps(Slot const& a, Slot const& b, std::int64_t bytes) {
    if (bytes % a.element_size != 0) return true;
    std::vector<std::size_t> order(a.stride.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return a.stride[x] > a.stride[y]; });
    return reaches(bytes / a.element_size, a, b, order, 0);
}

bool has_gaps(Slot const& slot) {
    return core::volume(slot.dim).value_or(0) * slot.element_size < slot.span;
}

}  // namespace

bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data) {
    auto const a_begin = reinterpret_cast<std::intptr_t>(a_data), b_begin = reinterpret_cast<std::intptr_t>(b_data);
    if (a_begin + a.span <= b_begin || b_begin + b.span <= a_begin) return false;
    if (a_begin == b_begin || (!has_gaps(a) && !has_gaps(b))) return true;
    if (a.element_size == b.element_size && a.stride == b.stride) return same_layout_overlaps(a, b, b_begin - a_begin);
    return false;
}

}  // namespace cudnn_frontend::inline v1::pipeline
