// What checks ask of tensor views.
#pragma once

#include <sdpa_graph/tensor_view.h>

#include <cstdint>
#include <string>

namespace sdpa_graph::calls {

std::int64_t elements_of(Tensor_view const& view);  // the greatest number there is where they are more
bool is_empty(Tensor_view const& view);
bool is_contiguous(Tensor_view const& view);  // strides of dims of 1 say nothing

// Whether no dim is negative, each has a stride, and neither the elements nor the way from the first to the last are
// more than memory has: sums and products of such sizes can be computed.
bool is_sound(Tensor_view const& view);
inline constexpr char const* kSoundDims = " dims, with a stride for each, within 2^48 elements";  // as errors put it

std::string device_text(Tensor_view const& view);

}  // namespace sdpa_graph::calls
