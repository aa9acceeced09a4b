// What checks ask of tensor views.
#pragma once

#include <sdpa_graph/tensor_view.h>

#include <cstdint>
#include <string>

namespace sdpa_graph::calls {

std::int64_t elements_of(Tensor_view const& view);  // the greatest number there is where they are more
bool is_empty(Tensor_view const& view);
bool is_contiguous(Tensor_view const& view);  // strides of dims of 1 say nothing
// Whether no dim is negative, their product is a number, and each has a stride.
bool is_sound(Tensor_view const& view);
std::string device_text(Tensor_view const& view);

}  // namespace sdpa_graph::calls
