#include "cpu/neighborhood/neighborhood_pairs.h"

#include <algorithm>

namespace cudnn_frontend::cpu {

using enum neighborhood::Port;

PairKernels const* pairs_of_forward(NeighborhoodProblem const& problem) {
    bool const has_pairs = std::ranges::all_of(std::array{Q, K, V, O}, [&](neighborhood::Port port) {
        TokenView const& view = problem[port];
        return view.type == DataType_t::BFLOAT16 && (port == O || view.last == 1);
    });
    return has_pairs && problem.width > 1 ? kernels().pairs : nullptr;
}

NeighborhoodPairs::NeighborhoodPairs(NeighborhoodRun const& run, Arena& arena)
    : run_(run), pairs_(pairs_of_forward(run.problem)), tile_(tile_sizes(run.kernels, pairs_)) {
    if (pairs_ == nullptr) return;
    std::int64_t const lanes = run.lanes(), depth = tile_.pairs_of(run.width()), padded = rows_of_output();
    gathered_ = arena.take<std::uint16_t>(std::max(kTileKeys, lanes), run.width());
    q_ = arena.take<std::uint32_t>(lanes, depth);
    k_ = arena.take<std::uint32_t>(kTileKeys, depth);
    v_ = arena.take<std::uint32_t>(kTileKeys / 2, padded);
    if (is_in_blocks()) v_columns_ = arena.take<std::uint32_t>(PairBlocks::size(padded, kTileKeys / 2), 1);
    weights_ = arena.take<std::uint32_t>(kTileKeys / 2, lanes);
}

// A tensor's rows of these tokens, one after the other in memory.
Slice NeighborhoodPairs::gathered(TokenView const& view, Tokens const& tokens) const {
    gather_rows(view, tokens, run_.width(), gathered_);
    return {gathered_, DataType_t::BFLOAT16, 0, run_.width(), 1};
}

void NeighborhoodPairs::load_queries(Tokens const& queries) const {
    load_pairs_of_columns(gathered(run_.problem[Q], queries), {q_, run_.lanes(), queries.count, run_.width()},
                          run_.lanes(), tile_.pairs_of(run_.width()));
}

void NeighborhoodPairs::load_keys(Tokens const& keys, bool is_careful) const {
    std::int64_t const width = run_.width(), depth = tile_.pairs_of(width), padded = rows_of_output();
    Slice const k = gathered(run_.problem[K], keys);
    if (is_in_blocks()) load_pairs_in_blocks(k, {k_, PairBlocks::stride(depth), keys.count, width}, 0, kTileKeys);
    else load_pairs_of_columns(k, {k_, kTileKeys, keys.count, width}, kTileKeys, depth);
    Slice const v = gathered(run_.problem[V], keys);
    load_pairs_of_rows(v, {v_, padded, keys.count, width}, padded);
    std::int64_t const pairs = (keys.count + 1) / 2, all = tile_.pairs_of(keys.count);
    if (is_careful) clear_not_finite(v_, pairs * padded);
    if (!is_in_blocks()) return;
    std::fill(v_ + pairs * padded, v_ + all * padded, 0);
    run_.kernels.transpose({v_, padded, all, padded, v_columns_, PairBlocks::stride(kTileKeys / 2), true});
}

void NeighborhoodPairs::multiply_by_keys(std::int64_t keys, float scale, float* scores) const {
    std::int64_t const lanes = run_.lanes(), depth = tile_.pairs_of(run_.width());
    pairs_->multiply({k_, is_in_blocks() ? PairBlocks::stride(depth) : kTileKeys, q_, lanes, scores, lanes,
                      tile_.padded_rows(keys), lanes, depth},
                     scale);
}

void NeighborhoodPairs::take_softmax_step(float const* scores, std::int64_t keys, float scale, float* max, float* sum,
                                          float* rescale) const {
    pairs_->softmax_step({scores, keys, scale, max, sum, rescale, weights_, {}, kMostLag});
}

void NeighborhoodPairs::unpack_weights(std::int64_t keys, float* weights) const {
    unpack_pairs_of_rows(weights_, keys, run_.lanes(), weights);
}

void NeighborhoodPairs::multiply_by_values(std::int64_t keys, float const* rescale, float* o) const {
    std::int64_t const lanes = run_.lanes(), padded = rows_of_output();
    pairs_->rescale_and_multiply(
        {is_in_blocks() ? v_columns_ : v_, is_in_blocks() ? PairBlocks::stride(kTileKeys / 2) : padded, weights_, lanes,
         o, lanes, padded, lanes, tile_.pairs_of(keys)},
        rescale);
}

}  // namespace cudnn_frontend::cpu
