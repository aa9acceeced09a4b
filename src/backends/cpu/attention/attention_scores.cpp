#include "cpu/attention/attention_scores.h"

#include "attention/masks.h"
#include "core/threads.h"
#include "cpu/attention/attention_tile.h"

#include <algorithm>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

void load_scores_like(DataView const& view, ScorePlace const& place, std::int64_t lanes, float* tile) {
    Slice const slice = transposed(slice_of(view, place.b, place.h, place.queries.begin, place.keys.begin));
    load_tile(slice, {tile, lanes, place.keys.size(), place.queries.size()}, lanes);
}

void add_alibi(AttentionProblem const& problem, ScorePlace const& place, std::int64_t lanes, float* scores) {
    auto const slope = static_cast<float>(attention::alibi_slope(place.h, problem.shape.heads));
    for (std::int64_t key = 0; key < place.keys.size(); ++key) {
        auto const distance = static_cast<float>(place.keys.begin + key - place.queries.begin);
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            scores[key * lanes + lane] += slope * (distance - static_cast<float>(lane));
        }
    }
}

void mask_band(Sequence const& sequence, ScorePlace const& place, std::int64_t lanes, float* scores) {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    // The query for which the first key is on the diagonal, as a lane of this tile. Each further key is one lane on.
    std::int64_t const diagonal = place.keys.begin - sequence.shift - place.queries.begin;
    std::int64_t const keys = place.keys.size();
    // Only the keys that are masked for a lane are visited: under a causal mask the last ones.
    std::int64_t const first_hidden = std::clamp<std::int64_t>(sequence.right - diagonal + 1, 0, keys);
    for (std::int64_t key = first_hidden; key < keys; ++key) {
        std::int64_t const first = std::min(diagonal + key - sequence.right, lanes);
        std::fill_n(scores + key * lanes, first, kMasked);
    }
    std::int64_t const end_hidden = std::clamp<std::int64_t>(lanes - sequence.left - diagonal, 0, keys);
    for (std::int64_t key = 0; key < end_hidden; ++key) {
        float* const row = scores + key * lanes;
        std::fill(row + std::max<std::int64_t>(diagonal + key + sequence.left, 0), row + lanes, kMasked);
    }
}

// Calls visit(queries, keys, whether the mask keeps them) for each part of the place within one tile of the mask.
template <class Visit>
void for_each_mask_tile(AttentionProblem const& problem, ScorePlace const& place, Visit const& visit) {
    auto const part = [](Range whole, std::int64_t begin) {
        return Range{begin, std::min(whole.end, (begin / attention::kMaskTile + 1) * attention::kMaskTile)};
    };
    for (Range i = part(place.queries, place.queries.begin); i.size() > 0; i = part(place.queries, i.end)) {
        for (Range j = part(place.keys, place.keys.begin); j.size() > 0; j = part(place.keys, j.end)) {
            visit(i, j, problem.block_mask.keeps(place.b, place.h, i.begin, j.begin));
        }
    }
}

void mask_blocks(AttentionProblem const& problem, ScorePlace const& place, std::int64_t lanes, float* scores) {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    for_each_mask_tile(problem, place, [&](Range queries, Range keys, bool keeps) {
        if (keeps) return;
        for (std::int64_t key = keys.begin; key < keys.end; ++key) {
            float* const row = scores + (key - place.keys.begin) * lanes;
            std::fill(row + queries.begin - place.queries.begin, row + queries.end - place.queries.begin, kMasked);
        }
    });
}

// Tiles start at multiples of a generator's group of four, and have memory for whole groups.
void generate_dropout_mask(AttentionProblem const& problem, Kernels const& kernels, ScorePlace const& place,
                           float* mask) {
    AttentionShape const& shape = problem.shape;
    attention::PhiloxMask const& generator = *problem.generator;
    std::int64_t const first_row = (place.b * shape.heads + place.h) * shape.queries + place.queries.begin;
    kernels.draw({generator.seed(), generator.offset(), generator.counter(first_row, place.keys.begin / 4),
                  generator.groups_per_row(), generator.last_kept(), (place.keys.size() + 3) / 4, mask});
}

}  // namespace

bool is_hidden(AttentionProblem const& problem, ScorePlace const& place) {
    if (!problem.block_mask) return false;
    bool keeps_any = false;
    for_each_mask_tile(problem, place, [&](Range, Range, bool keeps) { keeps_any = keeps_any || keeps; });
    return !keeps_any;
}

void finish_scores(AttentionProblem const& problem, Sequence const& sequence, ScorePlace const& place,
                   std::int64_t lanes, float* scores, float* spare) {
    if (problem.bias) {
        load_scores_like(problem.bias, place, lanes, spare);
        for (std::int64_t i = 0; i < place.keys.size() * lanes; ++i) scores[i] += spare[i];
    }
    if (problem.alibi) add_alibi(problem, place, lanes, scores);
    if (!sequence.sees_all(place.queries, place.keys)) mask_band(sequence, place, lanes, scores);
    if (problem.block_mask) mask_blocks(problem, place, lanes, scores);
}

void load_dropout_mask(AttentionProblem const& problem, Kernels const& kernels, ScorePlace const& place, float* mask) {
    if (problem.dropout_mask) load_scores_like(problem.dropout_mask, place, kernels.lanes, mask);
    else generate_dropout_mask(problem, kernels, place, mask);
}

void dump_dropout_mask(AttentionProblem const& problem, DataView const& dump, int threads) {
    AttentionShape const& shape = problem.shape;
    core::parallel_for(threads, shape.batches * shape.heads * shape.queries, [&](int, std::int64_t row) {
        std::int64_t const i = row % shape.queries, h = row / shape.queries % shape.heads;
        std::int64_t const b = row / shape.queries / shape.heads;
        for (std::int64_t j = 0; j < shape.keys; ++j) {
            core::store(dump.type, dump.data, dump.at(b, h, i, j), problem.generator->keeps(row, j) ? 1.0 : 0.0);
        }
    });
}

}  // namespace cudnn_frontend::cpu
