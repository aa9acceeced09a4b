// Boxes, and arrows between them.
#pragma once

#include <string>

namespace sdpa {

// The picture of DOT text as this command and the library write it, without Graphviz: each line with a
// label is a box or an arrow, and others are left out. Arrows lead down; in a circle at least one leads up. A box
// without arrows to it is a layer above the first one that it leads to.
std::string svg_of_dot(std::string const& dot);

}  // namespace sdpa
