// The steps on a tile of scores between the matrix products.
#pragma once

#include "cpu/attention/attention_problem.h"

namespace cudnn_frontend::cpu {

// Whether a block mask hides all of it.
bool is_hidden(AttentionProblem const& problem, ScorePlace const& place);

// Adds bias and ALiBi to scaled scores and sets the scores that band and block mask hide to -inf. `spare` has the size
// of a tile.
void finish_scores(AttentionProblem const& problem, Sequence const& sequence, ScorePlace const& place,
                   std::int64_t lanes, float* scores, float* spare);

// Loads the mask alone, without its scale.
void load_dropout_mask(AttentionProblem const& problem, Kernels const& kernels, ScorePlace const& place, float* mask);

// Writes the generated mask of all scores.
void dump_dropout_mask(AttentionProblem const& problem, DataView const& dump, int threads);

}  // namespace cudnn_frontend::cpu
