// Boxes, and arrows between them.
#pragma once

#include <string>

namespace sdpa {

// The picture of DOT text as this command and the library write it, without Graphviz: each line is a box or an arrow
// and has a label. Arrows lead down, except one of each circle, and boxes without one to them are above the first that
// they lead to.
std::string svg_of_dot(std::string const& dot);

}  // namespace sdpa
