#include "kernels/attention/tile_order.h"

#include "core/data_type.h"

#include <algorithm>
#include <bit>

namespace cudnn_frontend::kernels {
namespace {

// The part of the L2 cache for the rows that blocks read at the same time.
constexpr std::int64_t kSectionBytes = std::int64_t{24} << 20;

std::int64_t row_bytes(PlacedOperand const& matrix) { return matrix.dims[3] * core::size_of(matrix.type); }

std::int64_t fitting_heads(std::int64_t bytes_of_head) {
    return std::max<std::int64_t>(1, kSectionBytes / std::max<std::int64_t>(1, bytes_of_head));
}

std::int64_t power_of_two(std::int64_t most) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, most))));
}

// A number of rounds in which each of the blocks works on a tile, rounded up to whole pairs of rounds.
std::int64_t in_pairs_of_rounds(std::int64_t tiles, int blocks) { return tiles_of(tiles, 2 * blocks) * (2 * blocks); }

TileOrder order_of(std::int64_t tiles, std::int64_t heads, std::int64_t heads_of_section) {
    TileOrder order{};
    order.tiles = static_cast<int>(tiles);
    order.heads = static_cast<int>(heads);
    order.heads_of_section = static_cast<int>(std::min(heads_of_section, heads));
    order.sections = static_cast<int>(tiles_of(heads, order.heads_of_section));
    order.places_of_section = order.tiles * order.heads_of_section;
    order.tiles_of_run = 1;
    order.places = static_cast<int>(tiles * heads);
    return order;
}

// Whether the number of keys falls from each tile to the next one in the order, as far as that is known without
// lengths.
bool has_one_bound(AttentionKernelProblem const& problem) {
    return problem.right.has_value() != problem.left.has_value();
}

// Makes sections in which each of the blocks has as many keys: in pairs of rounds it works on a tile from the front and
// one from the back. False if tiles leave too many places of such rounds empty.
bool balance(TileOrder& order, std::int64_t most_heads, int blocks) {
    constexpr double kLeastFilled = 0.95, kEqual = 0.01;
    auto const filled = [&](std::int64_t heads) {
        std::int64_t const tiles = heads * order.tiles;
        return static_cast<double>(tiles) / static_cast<double>(in_pairs_of_rounds(tiles, blocks));
    };
    std::int64_t best = 1;
    double most = 0;
    for (std::int64_t heads = 1; heads <= std::min<std::int64_t>(most_heads, order.heads); ++heads) {
        if (filled(heads) > most - kEqual) best = heads;
        most = std::max(most, filled(heads));
    }
    if (filled(best) < kLeastFilled) return false;
    order.heads_of_section = static_cast<int>(best);
    order.sections = std::max(1, static_cast<int>((order.heads + best / 2) / best));
    order.places_of_section = static_cast<int>(in_pairs_of_rounds(best * order.tiles, blocks));
    int const sections_before = order.sections - 1;
    order.places = sections_before * order.places_of_section +
                   (order.heads - sections_before * order.heads_of_section) * order.tiles;
    return true;
}

}  // namespace

QuerySchedule query_schedule(AttentionKernelProblem const& problem, int multiprocessors) {
    std::int64_t const heads = problem.batches() * problem.heads(), group = problem.heads() / problem.key_heads();
    std::int64_t const row = row_bytes(problem.operand(attention::K)) + row_bytes(problem.operand(attention::V));
    std::int64_t const fitting = fitting_heads(problem.keys() * row / group);
    std::int64_t const tiles = tiles_of(problem.queries(), tile_queries(forward_warpgroups(problem)));
    TileOrder order = order_of(tiles, heads, power_of_two(std::min(fitting, heads)));
    order.is_backwards = problem.right && !problem.left;
    // Otherwise the device hands tiles out as multiprocessors become free.
    bool const has_known_keys = !problem.key_lengths && !problem.hides_blocks();
    bool const is_shared_out = has_known_keys && (!has_one_bound(problem) || balance(order, fitting, multiprocessors));
    return {order, is_shared_out ? std::min(multiprocessors, order.places) : order.places};
}

// Blocks that go through the same queries at the same time read them once from memory. With one bound, such as that of
// a causal mask, a block that begins after another one of its head is behind it by two tiles of queries, times the
// heads that share keys: if these are many, runs of tiles begin together. Sections then have as many tiles as two
// rounds of blocks, so that the last blocks, which have fewest queries, end together; few tiles need that in any case.
TileOrder key_order(AttentionKernelProblem const& problem, int multiprocessors) {
    std::int64_t const heads = problem.batches() * problem.key_heads(), group = problem.heads() / problem.key_heads();
    std::int64_t const tiles = tiles_of(problem.keys(), kGradientKeys);
    // Queries, their output's gradient, and the sums in float.
    std::int64_t const bytes_of_query = 4 * row_bytes(problem.operand(attention::Q));
    std::int64_t const fitting =
        power_of_two(std::min(fitting_heads(problem.queries() * group * bytes_of_query), heads));
    bool const has_few_tiles = tiles * heads < 4 * multiprocessors;
    bool const has_large_sections = has_one_bound(problem) && (has_few_tiles || group > 1);
    TileOrder order = order_of(tiles, heads, fitting);
    if (has_large_sections) {
        order = order_of(tiles, heads, std::max(fitting, power_of_two(2 * multiprocessors / tiles)));
        order.tiles_of_run =
            static_cast<int>(std::clamp<std::int64_t>(group / 2, 1, std::max<std::int64_t>(1, tiles / 8)));
    }
    order.is_backwards = problem.is_deterministic && !has_large_sections;
    return order;
}

}  // namespace cudnn_frontend::kernels
