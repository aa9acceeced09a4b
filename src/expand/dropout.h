// Dropout: which probabilities are kept, and what makes up for the others.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::inline v1::expand {

// Factors of the probabilities; no values without dropout.
struct Dropout {
    ir::ValueId mask = ir::kNoValue;   // 1 where a probability is kept, 0 where it is dropped
    ir::ValueId scale = ir::kNoValue;  // 1 / (chance to keep)
};

// mask[b,h,i,j] is drawn by position, so that backward draws what forward drew.
Dropout make_dropout(AttentionScope& at);

// The chance to keep, as a factor; 1 without dropout.
ir::ValueId inverse_dropout_scale(AttentionScope& at, std::string const& name);

}  // namespace cudnn_frontend::inline v1::expand
