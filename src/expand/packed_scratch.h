// Backward's memory between operations for packed sequences of whose rows the user says how many there are.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::inline v1::expand {

// Scratch with room for all rows of the ragged tensor, and no more. No value where nothing bounds them, where engines
// do not take it, and where room for the longest sequence in each batch entry is no more.
ir::ValueId add_packed_scratch(AttentionScope& at, std::string const& name, DataType_t type, core::Dims const& dim,
                               ir::ValueId ragged);

}  // namespace cudnn_frontend::inline v1::expand
