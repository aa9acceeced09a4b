// Masks of the scores: the scores of keys that are not visible to a query become -inf.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::expand {

// Keeps s[b,h,i,j] where i < seq_len_q[b] and j < seq_len_kv[b].
ir::ValueId mask_padding(AttentionScope& at, ir::ValueId s);

// Keeps s[b,h,i,j] where i + shift - left < j <= i + shift + right; a bound that is not set keeps everything on its
// side. shift moves the diagonal to the bottom right corner: seq_len_kv[b] - seq_len_q[b] there, 0 for the top left.
ir::ValueId mask_band(AttentionScope& at, ir::ValueId s);

// Keeps the tiles of s whose bit is set, where the node has a block mask.
ir::ValueId mask_blocks(AttentionScope& at, ir::ValueId s);

}  // namespace cudnn_frontend::expand
