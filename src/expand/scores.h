// The scores of attention before the softmax, which forward computes first and backward computes again.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::expand {

// The factor of the scores; no value where it is 1. Backward needs it twice.
ir::ValueId attention_scale(AttentionScope& at);

// s[b,h,i,j] = scale * sum_d q[b,h,i,d] k[b,h,j,d] + bias[b,h,i,j] + slope[h] (j - i), and -inf outside the lengths.
ir::ValueId scores(AttentionScope& at, ir::ValueId k_transposed, ir::ValueId scale);

}  // namespace cudnn_frontend::expand
