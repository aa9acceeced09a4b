// Dropout: which probabilities are kept, and what makes up for the others.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::expand {

// Factors of the probabilities; no values without dropout.
struct Dropout {
    ir::ValueId mask = ir::kNoValue;   // 1 where a probability is kept, 0 where it is dropped
    ir::ValueId scale = ir::kNoValue;  // 1 / (chance to keep)
    // Backward, where the gradients of the probabilities are scaled: with them, for the user's mask, or after the
    // subtraction of the row's sum, for a drawn one. Engines know these two forms and compute others wrong.
    bool scales_gradients_early = false;
};

// mask[b,h,i,j] is drawn by position, so that backward draws what forward drew.
Dropout make_dropout(AttentionScope& at);

// The factor of the row's sum: the chance to keep where the scale comes after the subtraction, otherwise 1.
ir::ValueId row_sum_factor(AttentionScope& at, std::string const& name);

}  // namespace cudnn_frontend::expand
