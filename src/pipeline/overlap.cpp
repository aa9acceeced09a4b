#include "pipeline/overlap.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace cudnn_frontend::inline v1::pipeline {
namespace {

// Whether some sum of d[i] * stride[i] with -dim_b[i] < d[i] < dim_a[i] gives the distance. Strides are tried from the
// largest; since the smaller ones of a nested layout reach less than one step of the larger, the quotients next to the
// exact one are all that is worth trying at each.
bool reaches(std::int64_t distance, Slot const& a, Slot const& b, std::vector<std::size_t> const& order,
             std::size_t depth) {
    if (depth == order.size()) return distance == 0;
    std::size_t const i = order[depth];
    std::int64_t const stride = a.stride[i];
    if (stride == 0 || (a.dim[i] == 1 && b.dim[i] == 1)) return reaches(distance, a, b, order, depth + 1);
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

// Whether some element within the span is not the tensor's. Repeated elements, with a stride of 0, count once.
bool has_gaps(Slot const& slot) {
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < slot.dim.size(); ++i) {
        if (slot.stride[i] > 0) elements *= slot.dim[i];
    }
    return elements * slot.element_size < slot.span;
}

// The stride of a dim of size 1 says nothing.
bool have_one_layout(Slot const& a, Slot const& b) {
    if (a.element_size != b.element_size || a.stride.size() != b.stride.size()) return false;
    for (std::size_t i = 0; i < a.stride.size(); ++i) {
        bool const matters = a.dim[i] > 1 || b.dim[i] > 1;
        if (matters && a.stride[i] != b.stride[i]) return false;
    }
    return true;
}

}  // namespace

bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data) {
    auto const a_begin = reinterpret_cast<std::intptr_t>(a_data), b_begin = reinterpret_cast<std::intptr_t>(b_data);
    if (a_begin + a.span <= b_begin || b_begin + b.span <= a_begin) return false;
    if (a_begin == b_begin || (!has_gaps(a) && !has_gaps(b))) return true;
    if (have_one_layout(a, b)) return same_layout_overlaps(a, b, b_begin - a_begin);
    return false;
}

}  // namespace cudnn_frontend::inline v1::pipeline
