#include "cpu/neighborhood/neighborhood_pairs.h"

#include <algorithm>

namespace cudnn_frontend::cpu {

using enum neighborhood::Port;

namespace {

bool have_pairs(NeighborhoodProblem const& problem, std::initializer_list<neighborhood::Port> factors) {
    return problem.width > 1 && std::ranges::all_of(factors, [&](neighborhood::Port port) {
               return problem[port].type == DataType_t::BFLOAT16 && problem[port].last == 1;
           });
}

}  // namespace

// Weights are rounded to pairs, so that no result may keep more digits.
PairKernels const* pairs_of_forward(NeighborhoodProblem const& problem) {
    bool const are_rounded = problem[O].type == DataType_t::BFLOAT16;
    return are_rounded && have_pairs(problem, {Q, K, V}) ? cpu::kernels().pairs : nullptr;
}

PairKernels const* pairs_of_backward(NeighborhoodProblem const& problem) {
    return have_pairs(problem, {Q, K, V, DO}) ? cpu::kernels().pairs : nullptr;
}

TokenPairs::TokenPairs(NeighborhoodRun const& run, PairKernels const* pairs, Arena& arena)
    : run_(run), pairs_(pairs), tile_(tile_sizes(run.kernels, pairs)) {
    if (pairs_ != nullptr) gathered_ = arena.take<std::uint16_t>(std::max(kTileKeys, run.lanes()), run.width());
}

std::uint32_t* TokenPairs::take_panel(Arena& arena) const {
    return pairs_ == nullptr ? nullptr : arena.take<std::uint32_t>(run_.lanes(), tile_.pairs_of(run_.width()));
}

std::uint32_t* TokenPairs::take_columns(Arena& arena) const {
    return pairs_ == nullptr ? nullptr : arena.take<std::uint32_t>(kTileKeys, tile_.pairs_of(run_.width()));
}

Slice TokenPairs::gathered(TokenView const& view, Tokens const& tokens) const {
    gather_rows(view, tokens, run_.width(), gathered_);
    return {gathered_, DataType_t::BFLOAT16, 0, run_.width(), 1};
}

void TokenPairs::load_panel(TokenView const& view, Tokens const& queries, std::uint32_t* panel) const {
    std::int64_t const lanes = run_.lanes(), width = run_.width();
    load_pairs_of_columns(gathered(view, queries), {panel, lanes, queries.count, width}, lanes, tile_.pairs_of(width));
}

void TokenPairs::load_columns(TokenView const& view, Tokens const& keys, std::uint32_t* columns) const {
    std::int64_t const width = run_.width(), depth = tile_.pairs_of(width);
    Slice const rows = gathered(view, keys);
    if (is_in_blocks())
        load_pairs_in_blocks(rows, {columns, PairBlocks::stride(depth), keys.count, width}, 0, kTileKeys);
    else load_pairs_of_columns(rows, {columns, kTileKeys, keys.count, width}, kTileKeys, depth);
}

void TokenPairs::multiply(std::uint32_t const* columns, std::uint32_t const* panel, std::int64_t keys, float scale,
                          float* tile) const {
    std::int64_t const lanes = run_.lanes(), depth = tile_.pairs_of(run_.width());
    pairs_->multiply({columns, is_in_blocks() ? PairBlocks::stride(depth) : kTileKeys, panel, lanes, tile, lanes,
                      tile_.padded_rows(keys), lanes, depth},
                     scale);
}

NeighborhoodPairs::NeighborhoodPairs(NeighborhoodRun const& run, Arena& arena)
    : TokenPairs(run, pairs_of_forward(run.problem), arena), q_(take_panel(arena)), k_(take_columns(arena)) {
    if (pairs_ == nullptr) return;
    std::int64_t const padded = rows_of_output();
    v_ = arena.take<std::uint32_t>(kTileKeys / 2, padded);
    if (is_in_blocks()) v_columns_ = arena.take<std::uint32_t>(PairBlocks::size(padded, kTileKeys / 2), 1);
    weights_ = arena.take<std::uint32_t>(kTileKeys / 2, run.lanes());
}

void NeighborhoodPairs::load_queries(Tokens const& queries) const { load_panel(run_.problem[Q], queries, q_); }

void NeighborhoodPairs::load_keys(Tokens const& keys, bool is_careful) const {
    std::int64_t const width = run_.width(), padded = rows_of_output();
    load_columns(run_.problem[K], keys, k_);
    Slice const v = gathered(run_.problem[V], keys);
    load_pairs_of_rows(v, {v_, padded, keys.count, width}, padded);
    std::int64_t const pairs = (keys.count + 1) / 2, all = tile_.pairs_of(keys.count);
    if (is_careful) clear_not_finite(v_, pairs * padded);
    if (!is_in_blocks()) return;
    std::fill(v_ + pairs * padded, v_ + all * padded, 0);
    run_.kernels.transpose({v_, padded, all, padded, v_columns_, PairBlocks::stride(kTileKeys / 2), true});
}

void NeighborhoodPairs::multiply_by_keys(std::int64_t keys, float scale, float* scores) const {
    multiply(k_, q_, keys, scale, scores);
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
