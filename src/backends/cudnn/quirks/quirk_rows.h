// The rows of the table, by verdict and subject.
#pragma once

#include "cudnn/quirks/limit_tools.h"
#include "cudnn/quirks/quirk.h"

namespace cudnn_frontend::quirks {

// Rows that refuse graphs.
std::span<Quirk const> general_limits();
std::span<Quirk const> type_limits();
std::span<Quirk const> head_dim_limits();
std::span<Quirk const> layout_limits();
std::span<Quirk const> mask_limits();
std::span<Quirk const> column_limits();
std::span<Quirk const> bias_gradient_limits();
std::span<Quirk const> softmax_limits();
std::span<Quirk const> modifier_limits();
std::span<Quirk const> one_query_limits();
std::span<Quirk const> ragged_limits();
std::span<Quirk const> unified_limits();
std::span<Quirk const> float_limits();
std::span<Quirk const> fp8_limits();
std::span<Quirk const> block_scale_limits();
std::span<Quirk const> move_limits();

// Rows that bar engines.
std::span<Quirk const> engine_bars();

// Rows that passes answer: cuDNN gets another form of these graphs.
std::span<Quirk const> rewrites();

}  // namespace cudnn_frontend::quirks
