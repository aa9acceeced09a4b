#include "rewrite/view_moves.h"

#include "core/data_type.h"

namespace cudnn_frontend::rewrite {
namespace {

auto at(core::Dims& list, std::size_t dim) { return list.begin() + static_cast<std::ptrdiff_t>(dim); }

}  // namespace

View part_of(View view, std::size_t dim, std::int64_t first, std::int64_t count) {
    std::int64_t const distance = first * view.stride[dim] * core::size_of(view.type);
    view.place.offset += distance;
    while (distance % view.alignment != 0) view.alignment /= 2;
    view.dim[dim] = count;
    return view;
}

View split(View view, std::size_t dim, std::int64_t inner) {
    std::int64_t const outer = view.dim[dim] / inner;
    view.dim[dim] = inner;
    view.dim.insert(at(view.dim, dim), outer);
    view.stride.insert(at(view.stride, dim), inner * view.stride[dim]);
    return view;
}

std::optional<View> join(View view, std::size_t dim) {
    bool const is_uniform = view.stride[dim] == view.dim[dim + 1] * view.stride[dim + 1];
    if (!is_uniform && view.dim[dim] != 1 && view.dim[dim + 1] != 1) return {};
    // The stride of a dim of size 1 means nothing.
    if (view.dim[dim + 1] == 1) view.stride[dim + 1] = view.stride[dim];
    view.dim[dim + 1] *= view.dim[dim];
    view.dim.erase(at(view.dim, dim));
    view.stride.erase(at(view.stride, dim));
    return view;
}

View repeat(View view, std::size_t dim, std::int64_t count) {
    view.dim.insert(at(view.dim, dim), count);
    view.stride.insert(at(view.stride, dim), 0);
    return view;
}

View permute(View const& view, core::Dims const& order) {
    return {view.place, view.type, core::permuted(view.dim, order), core::permuted(view.stride, order), view.alignment};
}

bool is_without_gaps(View const& view) {
    core::Dims const packed = core::packed_strides(view.dim);
    for (std::size_t i = 0; i < packed.size(); ++i) {
        if (view.dim[i] != 1 && view.stride[i] != packed[i]) return false;
    }
    return true;
}

}  // namespace cudnn_frontend::rewrite
