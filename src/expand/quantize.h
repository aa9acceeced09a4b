// 8-bit attention: numbers are multiplied into the range of a narrow type before they are stored in it, and back after
// they were read or went through a product.
#pragma once

#include "expand/attention_scope.h"

#include <initializer_list>

namespace cudnn_frontend::expand {

// The tensor at the port as a product needs it: in block-scaled attention times its scales.
ir::ValueId operand(AttentionScope& at, int port);
ir::ValueId transposed_operand(AttentionScope& at, int port);

// x as it comes out of 8 bits, with a scale of its own for each 32 numbers along the axis. x itself in attention that
// is not block-scaled.
ir::ValueId requantized(AttentionScope& at, ir::ValueId x, DataType_t type, std::int64_t axis, std::string const& name);

// x times the factors at these ports, one after the other. The results have a wider type and are named
// <name>_by_<port>. x itself in attention that is not 8-bit.
ir::ValueId descaled(AttentionScope& at, ir::ValueId x, std::initializer_list<int> ports, std::string const& name);

// Where a result's greatest magnitude goes, if anywhere, and its factor before it is stored.
struct Quantization {
    int amax_port;
    int scale_port;
};

// out = x times the factor, in out's type.
ir::ValueId quantized(AttentionScope& at, ir::ValueId x, Quantization const& how, ir::ValueId out);

}  // namespace cudnn_frontend::expand
