// Backward's memory between operations for packed sequences, where the user says in which row the last one ends.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::expand {

// Scratch with room for as many rows as the ragged tensor has at most. No value where nobody said how many these are,
// and where room for the longest sequence in each batch entry is no more.
ir::ValueId add_packed_scratch(AttentionScope& at, std::string const& name, DataType_t type, core::Dims const& dim,
                               ir::ValueId ragged);

// The same of FLOAT, or else scratch with that room.
ir::ValueId add_row_scratch(AttentionScope& at, std::string const& name, core::Dims const& dim, ir::ValueId ragged);

}  // namespace cudnn_frontend::expand
