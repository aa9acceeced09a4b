// Views of views: a part of a tensor, or its elements in other dims.
#pragma once

#include "rewrite/program.h"

namespace cudnn_frontend::rewrite {

// `count` indices of a dim, from `first` on.
View part_of(View view, std::size_t dim, std::int64_t first, std::int64_t count);

// A dim as two: index i becomes (i / inner, i % inner).
View split(View view, std::size_t dim, std::int64_t inner);

// A dim and its successor as one, the successor varying fastest; nothing where no single stride does it.
std::optional<View> join(View view, std::size_t dim);

// A new dim before `dim` that repeats the elements.
View repeat(View view, std::size_t dim, std::int64_t count);

// Index d of the result is index order[d] of the view.
View permute(View const& view, core::Dims const& order);

// Whether the elements follow each other in the order of the dims, the last one fastest.
bool is_without_gaps(View const& view);

}  // namespace cudnn_frontend::rewrite
