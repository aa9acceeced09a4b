// Dropout: the mask of kept probabilities, and the factor that makes up for the others.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::expand {

// Factors of the probabilities; no values without dropout.
struct Dropout {
    ir::ValueId mask = ir::kNoValue;   // 1 where a probability is kept, 0 where it is dropped
    ir::ValueId scale = ir::kNoValue;  // 1 / (chance to keep)
};

// mask[b,h,i,j] is drawn by position, so that backward draws the mask of forward.
Dropout make_dropout(AttentionScope& at);

}  // namespace cudnn_frontend::expand
