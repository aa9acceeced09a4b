// Translates the library's texts, which name methods of C++, into the names that Python has.
#pragma once

#include <string>
#include <string_view>

namespace binding {

// "call set_padding_mask(true)" becomes "pass use_padding_mask=True", and "Target::cpu()" becomes "target='cpu'".
std::string in_python(std::string_view text);

}  // namespace binding
