// Attention as one of a class of shapes, whose graphs differ from each other in nothing: over packed sequences, with
// sizes that are rounded up and tables that say where each sequence is. So that one plan serves all shapes of a class.
#pragma once

#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

inline constexpr char const* kNameOfClasses = "classes";

Result<Program> classes(Attention const& attention);

}  // namespace cudnn_frontend::rewrite
