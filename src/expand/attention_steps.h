// The steps of attention as primitive operations, each a small function: masks, scores, dropout, 8-bit numbers.
#pragma once

#include "expand/attention_scope.h"

#include <initializer_list>

namespace cudnn_frontend::expand {

// Masks: the scores of keys that are not visible to a query become -inf.

// Keeps s[b,h,i,j] where i < seq_len_q[b] and j < seq_len_kv[b].
ir::ValueId mask_padding(AttentionScope& at, ir::ValueId s);

// Keeps s[b,h,i,j] where i + shift - left < j <= i + shift + right; a bound that is not set keeps everything on its
// side. shift moves the diagonal to the bottom right corner: seq_len_kv[b] - seq_len_q[b] there, 0 for the top left.
ir::ValueId mask_band(AttentionScope& at, ir::ValueId s);

// Keeps the tiles of s whose bit is set, where the node has a block mask.
ir::ValueId mask_blocks(AttentionScope& at, ir::ValueId s);

// The scores of attention before the softmax, which forward computes first and backward computes again.

// The factor of the scores; no value where it is 1. Backward needs it twice.
ir::ValueId attention_scale(AttentionScope& at);

// s[b,h,i,j] = scale * sum_d q[b,h,i,d] k[b,h,j,d] + bias[b,h,i,j] + slope[h] (j - i), and -inf outside the lengths.
ir::ValueId scores(AttentionScope& at, ir::ValueId k_transposed, ir::ValueId scale);

// Dropout: the mask of kept probabilities, and the factor that makes up for the others.

// Factors of the probabilities; no values without dropout.
struct Dropout {
    ir::ValueId mask = ir::kNoValue;   // 1 where a probability is kept, 0 where it is dropped
    ir::ValueId scale = ir::kNoValue;  // 1 / (chance to keep)
};

// mask[b,h,i,j] is drawn by position, so that backward draws the mask of forward.
Dropout make_dropout(AttentionScope& at);

// 8-bit attention: numbers are multiplied into the range of a narrow type before they are stored in it, and back after
// they were read or went through a product.

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
