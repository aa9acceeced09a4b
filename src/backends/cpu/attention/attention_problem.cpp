#include "cpu/attention/attention_problem.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <utility>

namespace cudnn_frontend::cpu {
namespace {

// Farther from the diagonal than any key, and small enough to add up without overflow.
constexpr std::int64_t kUnbounded = std::int64_t{1} << 60;

std::int64_t bound(std::optional<std::int64_t> const& user) {
    return std::clamp(user.value_or(kUnbounded), -kUnbounded, kUnbounded);
}

float load_float(DataView const& view, float otherwise) {
    return view ? static_cast<float>(core::load(view.type, view.data, 0)) : otherwise;
}

std::int64_t load_integer(DataView const& view) { return view ? core::load_integer(view.type, view.data, 0) : 0; }

std::int64_t load_length(DataView const& view, std::int64_t b, std::int64_t most) {
    if (!view) return most;
    return std::clamp<std::int64_t>(core::load_integer(view.type, view.data, view.at(b, 0, 0, 0)), 0, most);
}

// Whether the factors are BFLOAT16 numbers whose pairs can be loaded, and no result keeps more digits, so that
// probabilities may be rounded to that type before products.
bool have_pairs(AttentionTensors const& tensors, std::initializer_list<Port> factors,
                std::initializer_list<Port> results) {
    bool const fit = std::ranges::all_of(factors, [&](Port port) {
        DataView const& view = tensors[port];
        bool const is_even = !view.pages || view.pages.rows % 2 == 0;  // a pair of rows is in one page
        return view.type == DataType_t::BFLOAT16 && view.dim[3] > 1 && view.stride[3] == 1 && is_even;
    });
    return fit && std::ranges::all_of(
                      results, [&](Port port) { return !tensors[port] || tensors[port].type == DataType_t::BFLOAT16; });
}

// The number of queries that a worker processes together: many, so that each load of a key serves many queries, but at
// most so many, and few enough that all threads have work. Results do not depend on it.
std::int64_t query_block(AttentionShape const& shape, std::int64_t lanes, int threads, std::int64_t most) {
    constexpr std::int64_t kTasksPerThread = 4;
    std::int64_t const sequences = shape.batches * shape.heads;
    std::int64_t block = most;
    while (block / 2 >= lanes && (shape.queries + block - 1) / block * sequences < kTasksPerThread * threads)
        block /= 2;
    return std::min(block, round_up(shape.queries, lanes));
}

}  // namespace

AttentionShape shape_of(DataView const& q, DataView const& k, DataView const& v) {
    return {q.dim[0], q.dim[1], k.dim[1], v.dim[1], q.dim[2], k.dim[2], q.dim[3], v.dim[3]};
}

Range Sequence::keys_of(Range query_range) const {
    if (query_range.size() == 0) return {0, 0};
    std::int64_t const begin = query_range.begin + shift - left + 1;
    std::int64_t const end = query_range.end + shift + right;
    return {std::clamp<std::int64_t>(begin, 0, keys), std::clamp<std::int64_t>(end, 0, keys)};
}

bool Sequence::sees_all(Range query_range, Range key_range) const {
    bool const right_of_left_bound = key_range.begin > query_range.end - 1 + shift - left;
    bool const left_of_right_bound = key_range.end - 1 <= query_range.begin + shift + right;
    return right_of_left_bound && left_of_right_bound;
}

Sequence AttentionProblem::sequence(std::int64_t b) const {
    std::int64_t const queries = load_length(seq_len_q, b, shape.queries);
    std::int64_t const keys = load_length(seq_len_kv, b, shape.keys);
    return {queries, keys, is_bottom_right ? keys - queries : 0, left, right};
}

float AttentionProblem::sink_of(std::int64_t h) const {
    if (!sink) return -std::numeric_limits<float>::infinity();
    return static_cast<float>(core::load(sink.type, sink.data, sink.at(0, h, 0, 0)));
}

RowSoftmax AttentionProblem::before_keys(std::int64_t h) const {
    float const sink_score = sink_of(h);
    return {sink_score, sink_score == -std::numeric_limits<float>::infinity() ? 0.0f : 1.0f};
}

AttentionProblem make_problem(AttentionTensors const& tensors, ir::AttentionOptions const& options,
                              ScoreProgram modifier) {
    AttentionProblem problem{shape_of(tensors[Port::Q], tensors[Port::K], tensors[Port::V])};
    AttentionShape const& shape = problem.shape;
    problem.modifier = std::move(modifier);
    problem.modifier.choose_precision({shape.batches, shape.heads, shape.queries, shape.keys});
    problem.bias = tensors[Port::Bias];
    problem.sink = tensors[Port::SinkToken];
    problem.block_mask = BlockMask(tensors[Port::BlockMask]);
    if (options.padding) {
        problem.seq_len_q = tensors[Port::SeqLenQ];
        problem.seq_len_kv = tensors[Port::SeqLenKv];
    }
    problem.scale = load_float(tensors[Port::AttnScale], options.scale_value.value_or(1.0f));
    problem.alibi = options.alibi;
    problem.is_bottom_right = options.alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    problem.left = bound(options.left_bound);
    problem.right = bound(options.right_bound);
    if (options.stats_in_base_2) problem.log_of_base = std::numbers::ln2_v<float>;
    if (options.dropout_probability) {
        double const keep = 1.0 - *options.dropout_probability;
        problem.generator.emplace(load_integer(tensors[Port::Seed]), load_integer(tensors[Port::Offset]), keep,
                                  shape.keys);
        problem.dropout_scale = static_cast<float>(1.0 / keep);
    } else if (tensors[Port::DropoutMask]) {
        problem.dropout_mask = tensors[Port::DropoutMask];
        problem.dropout_scale = load_float(tensors[Port::DropoutScale], 1.0f);
    }
    return problem;
}

TileSizes tile_sizes(Kernels const& kernels, PairKernels const* pairs) {
    if (pairs == nullptr) return {kTileKeys, kernels.row_step, 1};
    return {pairs->tile_keys, pairs->row_step, pairs->depth_step};
}

AttentionRun make_run(AttentionTensors const& tensors, ScoreProgram const& modifier, RunOperands const& operands,
                      int threads) {
    constexpr std::int64_t kMostOfFloats = 256;
    AttentionShape const shape = shape_of(tensors[Port::Q], tensors[Port::K], tensors[Port::V]);
    Kernels const& best = kernels();
    bool const are_paired = have_pairs(tensors, operands.factors, operands.results);
    PairKernels const* const pairs = are_paired ? best.pairs : nullptr;
    std::int64_t const most = have_blocks(pairs) ? operands.most_queries : kMostOfFloats;
    std::int64_t const block = query_block(shape, best.lanes, threads, most);
    return {tensors, modifier, shape, best, pairs, tile_sizes(best, pairs), block};
}

}  // namespace cudnn_frontend::cpu
