// What happens to a tile of scores between the matrix products.
#pragma once

#include "cpu/attention_problem.h"

namespace cudnn_frontend::cpu {

// The part of the score tensor that a tile shows.
struct Place {
    std::int64_t b, h;
    Range queries, keys;
};

// Whether a block mask hides all of it.
bool is_hidden(Problem const& problem, Place const& place);

// Adds bias and alibi to scaled scores and sets what band and blocks hide to -inf. `spare` has the size of a tile.
void finish_scores(Problem const& problem, Sequence const& sequence, Place const& place, std::int64_t lanes,
                   float* scores, float* spare);

// The mask alone, without the scale that goes with it.
void load_dropout_mask(Problem const& problem, Place const& place, std::int64_t lanes, float* mask);

// The generated mask of all scores.
void dump_dropout_mask(Problem const& problem, View const& dump, int threads);

}  // namespace cudnn_frontend::cpu
