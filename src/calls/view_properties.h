// Properties of tensor views that checks need.
#pragma once

#include <sdpa_graph/tensor_view.h>

#include <cstdint>
#include <string>

namespace sdpa_graph::calls {

std::int64_t elements_of(Tensor_view const& view);  // saturates at the greatest number
bool is_empty(Tensor_view const& view);
bool is_contiguous(Tensor_view const& view);  // strides of dims of 1 do not matter

// Whether no dim is negative, each has a stride, and neither the number of elements nor the distance from the first to
// the last one is more than memory has. Sums and products of such sizes can be computed.
bool is_sound(Tensor_view const& view);
inline constexpr char const* kSoundDims = " dims, with a stride for each, within 2^48 elements";  // as errors word it

std::string device_text(Tensor_view const& view);

}  // namespace sdpa_graph::calls
