// The library's texts name what programs in C++ call; Python's programs call the same by other names.
#pragma once

#include <string>
#include <string_view>

namespace binding {

// "call set_padding_mask(true)" becomes "pass use_padding_mask=True", and "Target::cpu()" becomes "target='cpu'".
std::string in_python(std::string_view text);

}  // namespace binding
