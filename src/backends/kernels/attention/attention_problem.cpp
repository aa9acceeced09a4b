#include "kernels/attention/attention_problem.h"

#include "core/data_type.h"
#include "kernels/attention/tile_order.h"
#include "kernels/device/attention/attention_arguments.h"

#include <algorithm>
#include <climits>
#include <iterator>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;

constexpr Port kForwardMatrices[] = {attention::Q, attention::K, attention::V, attention::O};
constexpr Port kBackwardMapped[] = {attention::Q,  attention::K,  attention::V,
                                    attention::DO, attention::DK, attention::DV};
constexpr Port kBackwardMatrices[] = {attention::Q,  attention::K,  attention::V,  attention::O,
                                      attention::DO, attention::DQ, attention::DK, attention::DV};

// The rows of the blocks that tiles go through.
std::int64_t rows_of_blocks(AttentionKernelProblem const& problem) {
    return problem.is_backward ? problem.queries() : problem.keys();
}

bool is_plain(std::optional<SequenceLengths> const& lengths) {
    return !lengths || (!lengths->is_wide && !lengths->are_sums);
}

// Whether the copy engine moves the bias, and its gradient where there is one.
bool moves_bias(AttentionKernelProblem const& problem) {
    return moves_in_boxes(problem, attention::Bias) &&
           (!problem.has(attention::DBias) || moves_in_boxes(problem, attention::DBias));
}

// The number of queries or of keys, whichever is less.
std::int64_t shorter_rows(AttentionKernelProblem const& problem) { return std::min(problem.queries(), problem.keys()); }

bool has_lengths(AttentionKernelProblem const& problem) { return problem.query_lengths || problem.key_lengths; }

// Whether all columns of the class are used, and nothing but a causal mask is asked for: no other bound, lengths, terms
// of scores, block mask, dropout, gradient of a sink, Max or Sum_exp. A sink and deterministic gradients are left to
// the caller.
bool is_plain(AttentionKernelProblem const& problem, AttentionClass const& columns) {
    bool const has_all_columns = problem.operand(attention::Q).dims[3] == columns.columns &&
                                 problem.operand(attention::V).dims[3] == columns.value_columns;
    bool const is_banded = problem.left || problem.right.value_or(0) != 0;
    bool const has_row_results =
        problem.has(attention::DSinkToken) || problem.has(attention::Max) || problem.has(attention::SumExp);
    bool const has_terms = problem.needs_registers() || problem.hides_blocks();
    return has_all_columns && !is_banded && !has_row_results && !has_lengths(problem) && !has_terms;
}

// Gradients of shared keys are fast with a causal mask and two tiles of keys for each multiprocessor: the longest tiles
// then end with the others.
bool has_fast_shared_gradients(AttentionKernelProblem const& problem, AttentionClass const& columns) {
    constexpr std::int64_t kMostSharing = 8, kLeastTiles = std::int64_t{2} * kOrderedMultiprocessors, kLeastRows = 2048;
    std::int64_t const tiles = tiles_of(problem.keys(), gradient_tile_keys(problem)) * problem.all_key_heads();
    return problem.right && !problem.is_deterministic && columns.columns == 128 && tiles >= kLeastTiles &&
           shorter_rows(problem) >= kLeastRows && problem.heads() <= kMostSharing * problem.key_heads();
}

// By measurements on an H200 (docs/performance.md). With 192 columns and a causal mask this engine takes 0.82 to 1.10
// of the others' time, depending on the shape, and stays behind. Deterministic gradients of 192 columns stay with
// others, since the rewrite 'deterministic' estimates its program by their figures.
bool has_fast_gradients(AttentionKernelProblem const& problem) {
    auto const columns = class_of(problem);
    if (!problem.is_backward || !columns || !is_plain(problem, *columns)) return false;
    if (problem.heads() != problem.key_heads()) return has_fast_shared_gradients(problem, *columns);
    bool const is_causal = problem.right.has_value(), has_any_order = !problem.is_deterministic;
    std::int64_t const least_rows = is_causal && has_any_order && columns->columns <= 128 ? 1024 : 2048;
    if (shorter_rows(problem) < least_rows) return false;
    return columns->columns != 192 || (!is_causal && has_any_order);
}

// The least number of rows from which forward was faster than other engines in every case on an H200
// (docs/performance.md).
std::int64_t rows_of_fast_forward(int columns, bool is_causal) {
    switch (columns) {
        case 64: return is_causal ? 3000 : 2048;
        case 128: return is_causal ? 2048 : 8192;
        case 192: return 1024;
        default: return 2048;
    }
}

bool has_fast_forward(AttentionKernelProblem const& problem) {
    auto const columns = class_of(problem);
    if (problem.is_backward || !columns || !is_plain(problem, *columns) || problem.has(attention::SinkToken))
        return false;
    bool const is_causal = problem.right.has_value();
    if (shorter_rows(problem) < rows_of_fast_forward(columns->columns, is_causal)) return false;
    if (is_causal) return problem.queries() == problem.keys();
    // With fewer tiles the last round of blocks costs much, or programs that split the keys are faster.
    std::int64_t const least_rounds = columns->columns == 64 ? 7 : 3;
    std::int64_t const tiles = tiles_of(problem.queries(), tile_sizes(problem).rows) * problem.all_heads();
    return tiles >= least_rounds * kOrderedMultiprocessors;
}

// Measured without other terms of scores, and for sequences whose rows are where the strides say.
bool has_fast_sigmoid(AttentionKernelProblem const& problem) {
    bool const has_other_terms = problem.has(attention::Bias) || problem.has(attention::SinkToken) || problem.has_alibi;
    return problem.modifier.has_sigmoid && !has_other_terms && !problem.needs_entries();
}

// Whether most columns of the class are used.
bool fits(AttentionClass const& columns, AttentionKernelProblem const& problem) {
    constexpr std::int64_t kUsed = 3, kOf = 4;
    return kOf * problem.operand(attention::Q).dims[3] >= kUsed * columns.columns &&
           kOf * problem.operand(attention::V).dims[3] >= kUsed * columns.value_columns;
}

// Sums of gradients have as many rows for each sequence as the longest one. Whether these are many times as many as the
// sequences have in all.
bool has_sparse_sums(AttentionKernelProblem const& problem) {
    constexpr std::int64_t kMostTimes = 8;
    auto const& offsets = problem.packed[attention::Q];
    return offsets && offsets->most_rows > 0 && problem.batches() * problem.queries() > kMostTimes * offsets->most_rows;
}

// Other backends' engines skip hidden scores of sequences with lengths only where the diagonal starts at the top left.
// At least a quarter of the scores is hidden, and one sequence alone fills half of a GPU.
bool skips_more_scores(AttentionKernelProblem const& problem) {
    constexpr std::int64_t kLeastRows = 1024, kLeastTiles = 64;
    bool const is_causal = problem.right == 0 && !problem.left && problem.is_bottom_right;
    if (!problem.is_backward || !has_lengths(problem) || !is_causal || has_sparse_sums(problem)) return false;
    bool const has_options =
        problem.needs_registers() || problem.is_deterministic || problem.has(attention::DSinkToken);
    auto const columns = class_of(problem);
    if (has_options || !columns || columns->columns > 128 || !fits(*columns, problem)) return false;
    return shorter_rows(problem) >= kLeastRows && problem.keys() <= 2 * problem.queries() &&
           tiles_of(problem.keys(), gradient_tile_keys(problem)) * problem.key_heads() >= kLeastTiles;
}

}  // namespace

bool AttentionKernelProblem::needs_entries() const {
    return is_packed() || !is_plain(query_lengths) || !is_plain(key_lengths);
}

PlacedOperand const* AttentionKernelProblem::page_table(Port port) const {
    bool const may_be_paged = port == attention::K || port == attention::V;
    auto const& table = operands[port == attention::K ? attention::PageTableK : attention::PageTableV];
    return may_be_paged && table ? &*table : nullptr;
}

bool AttentionKernelProblem::sums_bias_gradient() const {
    core::Dims const scores{batches(), heads(), queries(), keys()};
    return is_backward && has(attention::DBias) && operand(attention::DBias).dims != scores;
}

// A block has a tile of keys of one head of keys, and goes through the queries of all heads that share them.
bool AttentionKernelProblem::shares_bias_sums() const {
    if (!sums_bias_gradient()) return false;
    core::Dims const& dims = operand(attention::DBias).dims;
    return dims[0] != batches() || (dims[1] != heads() && key_heads() > 1) || dims[3] != keys();
}

std::vector<AttentionWork> works_of(AttentionKernelProblem const& problem) {
    std::vector<AttentionWork> works;
    if (problem.needs_entries()) works.push_back(AttentionWork::Entries);
    if (problem.finds_blocks()) works.push_back(AttentionWork::BlockBits);
    if (looks_at_scores(problem)) works.push_back(AttentionWork::BlockScores);
    if (problem.has(attention::BlockMask)) works.push_back(AttentionWork::BlockMask);
    if (problem.has(attention::RngDump)) works.push_back(AttentionWork::DropoutMask);
    if (!problem.is_backward) {
        works.push_back(AttentionWork::Forward);
    } else {
        works.insert(works.end(), {AttentionWork::GradientStart, AttentionWork::Gradients, AttentionWork::GradientEnd});
        if (problem.sums_bias_gradient()) works.push_back(AttentionWork::BiasGradientEnd);
    }
    return works;
}

std::optional<AttentionClass> class_of(AttentionKernelProblem const& problem) {
    auto const holds = [&](AttentionClass const& candidate) {
        return problem.operand(attention::Q).dims[3] <= candidate.columns &&
               problem.operand(attention::V).dims[3] <= candidate.value_columns;
    };
    auto const found = std::ranges::find_if(kAttentionClasses, holds);
    return found == kAttentionClasses.end() ? std::nullopt : std::optional(*found);
}

bool is_fast_and_plain(AttentionKernelProblem const& problem) {
    return has_fast_gradients(problem) || has_fast_forward(problem);
}

std::string advantage_of(AttentionKernelProblem const& problem) {
    if (problem.keys_in_pages) return "";  // not measured next to programs for few queries
    if (problem.modifier.hides_scores) return "they leave out the blocks of scores that the modifier hides";
    if (problem.has(attention::BlockMask)) return "they leave out the blocks of scores that the block mask hides";
    if (problem.queries() < kWarpgroupQueries) return "";
    auto const varies_by_key = [](PlacedOperand const& tensor) { return tensor.dims[3] > 1; };
    bool const reads_keys = std::ranges::any_of(problem.score_tensors, varies_by_key);
    if (problem.is_backward && reads_keys && !problem.has(attention::Bias))
        return "their gradients need less time for a modifier that reads numbers of each key";
    if (has_fast_sigmoid(problem)) return "the sigmoid of their scores needs less time";
    if (has_fast_gradients(problem))
        return "their gradients need less time where a causal mask is the only option, or there is none";
    if (has_fast_forward(problem))
        return "they need less time for long sequences where a causal mask is the only option, or there is none";
    if (skips_more_scores(problem)) return "their gradients leave out the scores that a causal mask hides";
    return !problem.has_modifier() && moves_bias(problem) ? "the copy engine moves the tiles of their bias" : "";
}

bool fills(AttentionKernelProblem const& problem, DeviceFacts const& device) {
    constexpr std::int64_t kShort = 1024;  // as many rows take no longer than what else a launch costs
    constexpr std::int64_t kRows = 128;    // of a tile, in most classes
    std::int64_t const heads = problem.is_backward ? problem.all_key_heads() : problem.all_heads();
    std::int64_t const tiles = tiles_of(rows_of_tiles(problem), kRows) * heads;
    return rows_of_blocks(problem) <= kShort || tiles >= device.multiprocessors / 2;
}

std::span<Port const> matrix_ports(AttentionKernelProblem const& problem) {
    return problem.is_backward ? std::span<Port const>(kBackwardMatrices) : std::span<Port const>(kForwardMatrices);
}

bool has_legal_strides(Operand const& matrix) {
    if (matrix.strides[3] != 1) return false;
    for (std::size_t dim = 0; dim < 3; ++dim) {
        std::int64_t const stride = matrix.strides[dim];
        if (matrix.dims[dim] > 1 && (stride % kVectorElements != 0 || stride < matrix.dims[3])) return false;
    }
    return true;
}

std::span<Port const> mapped_ports(AttentionKernelProblem const& problem) {
    return problem.is_backward ? std::span<Port const>(kBackwardMapped) : std::span<Port const>(kForwardMatrices);
}

std::vector<Port> packed_ports(AttentionKernelProblem const& problem) {
    std::span<Port const> const mapped = mapped_ports(problem);
    std::vector<Port> ports(mapped.begin(), mapped.end());
    if (problem.is_backward) ports.insert(ports.end(), {attention::O, attention::DQ});
    std::ranges::copy_if(kRowNumbers, std::back_inserter(ports),
                         [&](Port port) { return problem.has(port) && problem.packed[port]; });
    return ports;
}

std::int64_t tiles_of(std::int64_t rows, std::int64_t rows_of_tile) { return (rows + rows_of_tile - 1) / rows_of_tile; }

// Each head has the same number of rows in a tile, a multiple of a warp's. A tile for each multiprocessor is left.
int heads_of_tile(AttentionKernelProblem const& problem) {
    int const warpgroups = forward_warpgroups(problem), rows = tile_queries(warpgroups);
    bool const may_share = may_share_tiles(warpgroups) && !problem.has(attention::Bias) && !problem.hides_blocks();
    if (problem.is_backward || !may_share) return 1;
    int heads = 1;
    for (int next = 2; next <= rows / kRowsOfWarp; next *= 2) {
        bool const has_tiles = problem.all_heads() / next >= kOrderedMultiprocessors;
        if (problem.heads_of_key_head() % next != 0 || rows / next < problem.queries() || !has_tiles) break;
        heads = next;
    }
    return heads;
}

int queries_of_tile(AttentionKernelProblem const& problem) {
    return tile_queries(forward_warpgroups(problem)) / heads_of_tile(problem);
}

int forward_warpgroups(AttentionKernelProblem const& problem) {
    bool const has_small_tiles =
        problem.needs_registers() || problem.has(attention::BlockMask) || problem.keys_in_pages;
    return attention_warpgroups(class_of(problem)->columns, has_small_tiles);
}

int gradient_tile_keys(AttentionKernelProblem const& problem) { return gradient_keys(class_of(problem)->columns); }

int gradient_tile_queries(AttentionKernelProblem const& problem) {
    return gradient_queries(class_of(problem)->columns, problem.needs_registers());
}

bool has_bias_memory(AttentionKernelProblem const& problem) {
    auto const columns = class_of(problem);
    if (!problem.has(attention::Bias) || !columns) return false;
    return has_bias_memory(columns->columns, static_cast<int>(core::size_of(problem.operand(attention::Bias).type)));
}

bool moves_in_boxes(AttentionKernelProblem const& problem, Port port) {
    if (!has_bias_memory(problem) || (port == attention::DBias && problem.sums_bias_gradient())) return false;
    PlacedOperand const& scores = problem.operand(port);
    bool const has_all_rows = scores.dims[2] == problem.queries() && scores.dims[3] == problem.keys();
    return core::is_half(scores.type) && has_all_rows && has_legal_strides(scores);
}

int shared_bytes_of(AttentionKernelProblem const& problem) {
    auto const [columns, value_columns] = *class_of(problem);
    bool const has_bias = has_bias_memory(problem);
    return problem.is_backward ? gradient_shared_bytes(columns, value_columns, gradient_tile_queries(problem), has_bias,
                                                       problem.has_modifier())
                               : attention_shared_bytes(columns, value_columns, forward_warpgroups(problem), has_bias,
                                                        problem.has_modifier());
}

std::int64_t rows_of_tiles(AttentionKernelProblem const& problem) {
    return problem.is_backward ? problem.keys() : problem.queries();
}

TileSizes tile_sizes(AttentionKernelProblem const& problem) {
    if (problem.is_backward) return {gradient_tile_keys(problem), gradient_tile_queries(problem)};
    return {tile_queries(forward_warpgroups(problem)), tile_keys(class_of(problem)->columns)};
}

HiddenBlocks hidden_blocks(AttentionKernelProblem const& problem) {
    constexpr std::int64_t kBitsOfWord = 32;
    HiddenBlocks blocks{};
    auto const [rows, rows_of_block] = tile_sizes(problem);
    blocks.tile_rows = rows;
    blocks.block_rows = rows_of_block;
    blocks.tiles = tiles_of(rows_of_tiles(problem), blocks.tile_rows);
    blocks.blocks_of_tile = tiles_of(rows_of_blocks(problem), blocks.block_rows);
    blocks.words_of_tile = tiles_of(blocks.blocks_of_tile, kBitsOfWord);
    blocks.heads = problem.hides_by_head() ? problem.heads() : 1;
    blocks.heads_of_all = blocks.heads * (problem.hides_by_batch() ? problem.batches() : 1);
    return blocks;
}

bool looks_at_scores(AttentionKernelProblem const& problem) {
    // It takes as long as attention to the same scores by eight heads at most.
    constexpr std::int64_t kLeastHeads = 16;
    if (!problem.modifier.scatters_hidden) return false;
    HiddenBlocks const blocks = hidden_blocks(problem);
    bool const is_in_range = blocks.heads_of_all * blocks.tiles * blocks.blocks_of_tile <= INT_MAX;
    return is_in_range && problem.all_heads() >= kLeastHeads * blocks.heads_of_all;
}

std::array<std::int64_t, 4> bias_sum_tiles(AttentionKernelProblem const& problem) {
    core::Dims const& dims = problem.operand(attention::DBias).dims;
    return {dims[0], dims[1], tiles_of(dims[2], gradient_tile_queries(problem)),
            tiles_of(dims[3], gradient_tile_keys(problem))};
}

AttentionWorkspace workspace_of(AttentionKernelProblem const& problem) {
    constexpr std::int64_t kAlignment = 256;
    AttentionWorkspace workspace;
    auto const reserve = [&](std::int64_t bytes) {
        std::int64_t const start = workspace.bytes;
        workspace.bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
        return start;
    };
    if (problem.needs_entries()) {
        constexpr std::int64_t kLength = 4, kOffset = 8;
        workspace.query_lengths = reserve(problem.batches() * kLength);
        workspace.key_lengths = reserve(problem.batches() * kLength);
        if (problem.is_packed()) {
            workspace.maps =
                reserve(problem.batches() * std::ssize(mapped_ports(problem)) * std::int64_t{sizeof(TensorMap)});
            workspace.offsets = reserve(problem.batches() * std::ssize(packed_ports(problem)) * kOffset);
        }
    }
    if (problem.hides_blocks()) {
        constexpr std::int64_t kWord = 4, kKinds = 2;
        HiddenBlocks const blocks = hidden_blocks(problem);
        workspace.block_bits = reserve(blocks.heads_of_all * blocks.tiles * blocks.words_of_tile * kKinds * kWord);
    }
    if (problem.hands_out_tiles()) workspace.places_taken = reserve(sizeof(int));
    if (problem.is_backward) {
        constexpr std::int64_t kFloat = 4, kNumbers = 2;
        int const columns = class_of(problem)->columns, rows_of_tile = gradient_tile_queries(problem);
        std::int64_t const tiles = tiles_of(problem.queries(), rows_of_tile);
        std::int64_t const rows = problem.all_heads() * tiles * rows_of_tile;
        workspace.statistics = reserve(rows * kNumbers * kFloat);
        std::int64_t const numbers_of_order = problem.is_deterministic ? 1 + rows / rows_of_tile : 0;
        workspace.sums = reserve((rows * columns + numbers_of_order) * kFloat);
        if (problem.sums_bias_gradient()) {
            auto const [batches, heads, query_tiles, key_tiles] = bias_sum_tiles(problem);
            std::int64_t const scores = std::int64_t{gradient_tile_keys(problem)} * rows_of_tile;
            workspace.bias_sums = reserve(batches * heads * query_tiles * key_tiles * scores * kFloat);
        }
    }
    return workspace;
}

}  // namespace cudnn_frontend::kernels
