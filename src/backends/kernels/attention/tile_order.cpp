#include "kernels/attention/tile_order.h"

#include "core/data_type.h"

#include <algorithm>
#include <bit>
#include <optional>

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

// Whether each query sees the keys of those before it, and more, as with a causal mask.
bool sees_more_later(AttentionKernelProblem const& problem) { return problem.right && !problem.left; }

// --- Tiles of queries

std::int64_t visible_keys(AttentionKernelProblem const& problem, std::int64_t query) {
    std::int64_t const diagonal = query + (problem.is_bottom_right ? problem.keys() - problem.queries() : 0);
    auto const place = [&](std::int64_t key) { return std::clamp<std::int64_t>(key, 0, problem.keys()); };
    std::int64_t const begin = problem.left ? place(diagonal - *problem.left) : 0;
    return (problem.right ? place(diagonal + *problem.right + 1) : problem.keys()) - begin;
}

// Where each tile of a head has one tile of keys less than the tile before it in the order: the keys of the last one,
// counted in tiles. Nothing where the number of keys changes in another way.
std::optional<double> least_keys_of_falling(AttentionKernelProblem const& problem, TileOrder const& order) {
    std::int64_t const rows = tile_queries(forward_warpgroups(problem));
    std::int64_t const first = visible_keys(problem, std::min(rows, problem.queries()) - 1);
    std::int64_t const last = visible_keys(problem, problem.queries() - 1);
    std::int64_t const difference = std::max(first, last) - std::min(first, last);
    if (difference + rows < (order.tiles - 1) * rows) return std::nullopt;
    return static_cast<double>(std::min(first, last)) / static_cast<double>(rows);
}

// Sections of heads whose tiles have such falling numbers of keys. Blocks take a section's tiles in rounds, in every
// second round in reverse order, so that all blocks have equally many keys after each pair of rounds.
class SectionRounds {
   public:
    SectionRounds(TileOrder const& order, double least_keys, int blocks)
        : tiles_(order.tiles), heads_(order.heads), blocks_(blocks), least_keys_(least_keys) {}

    // By how many tiles of keys the block with most of them exceeds the mean, with that many heads in a section.
    double excess(std::int64_t heads) const {
        std::int64_t const before = sections_of(heads) - 1;
        return static_cast<double>(before) * excess_of_section(heads) + excess_of_section(heads_ - before * heads);
    }
    double tiles_of_block() const { return static_cast<double>(heads_ * tiles_) / static_cast<double>(blocks_); }
    // The last section has the heads that are left: from half as many as the others on.
    std::int64_t sections_of(std::int64_t heads) const {
        return std::max<std::int64_t>(1, (heads_ + heads / 2) / heads);
    }
    // Whole pairs of rounds.
    std::int64_t places_of(std::int64_t heads) const { return tiles_of(heads * tiles_, 2 * blocks_) * 2 * blocks_; }

   private:
    // It comes from the tiles that are left after the last whole pair of rounds.
    double excess_of_section(std::int64_t heads) const {
        auto const left = static_cast<double>(heads * tiles_ % (2 * blocks_)), blocks = static_cast<double>(blocks_);
        double const step = 1 / static_cast<double>(heads);
        double const of_first = least_keys_ + left * step, of_two = 2 * (least_keys_ + (left - blocks) * step);
        double const longest = left > blocks ? std::max(of_first, of_two) : of_first;
        return left > 0 ? longest - left * (least_keys_ + left * step / 2) / blocks : 0;
    }

    std::int64_t tiles_, heads_, blocks_;
    double least_keys_;
};

// Makes sections of at most so many heads in which all blocks have about equally many keys. False if there are none. A
// block that begins for a tile takes about as long as for one tile of keys, which blocks that go on to the next tile
// save.
bool balance(TileOrder& order, std::int64_t most_heads, SectionRounds const& rounds) {
    constexpr double kSaved = 0.7, kSmall = 0.1;  // for each tile
    constexpr std::int64_t kMostTries = 64;
    std::int64_t best = 0;
    double const small = kSmall * rounds.tiles_of_block();
    double least = kSaved * rounds.tiles_of_block();
    std::int64_t const first = std::min<std::int64_t>(most_heads, order.heads), last = first - kMostTries;
    for (std::int64_t heads = first; heads > std::max<std::int64_t>(0, last) && least > small; --heads) {
        if (double const excess = rounds.excess(heads); excess < least) {
            best = heads;
            least = excess;
        }
    }
    if (best == 0) return false;
    order.heads_of_section = static_cast<int>(best);
    order.sections = static_cast<int>(rounds.sections_of(best));
    order.places_of_section = static_cast<int>(rounds.places_of(best));
    int const before = order.sections - 1;
    order.places = before * order.places_of_section + (order.heads - before * order.heads_of_section) * order.tiles;
    return true;
}

bool balance(TileOrder& order, AttentionKernelProblem const& problem, std::int64_t most_heads, int blocks) {
    auto const least_keys = least_keys_of_falling(problem, order);
    return least_keys && balance(order, most_heads, SectionRounds(order, *least_keys, blocks));
}

}  // namespace

QuerySchedule query_schedule(AttentionKernelProblem const& problem, int multiprocessors) {
    int const heads_of_one = heads_of_tile(problem);
    std::int64_t const heads = problem.all_heads() / heads_of_one, group = problem.heads_of_key_head() / heads_of_one;
    std::int64_t const row = row_bytes(problem.operand(attention::K)) + row_bytes(problem.operand(attention::V));
    std::int64_t const fitting = fitting_heads(problem.keys() * row / group);
    std::int64_t const tiles = tiles_of(problem.queries(), queries_of_tile(problem));
    TileOrder order = order_of(tiles, heads, power_of_two(std::min(fitting, heads)));
    order.is_backwards = sees_more_later(problem);
    // Otherwise each tile has a block of its own, which begins as multiprocessors become free.
    bool const has_known_keys = !problem.key_lengths && !problem.hides_blocks();
    bool const has_equal_tiles = problem.right.has_value() == problem.left.has_value();
    bool const is_shared_out = has_known_keys && (has_equal_tiles || balance(order, problem, fitting, multiprocessors));
    bool const are_persistent = is_shared_out || problem.hands_out_tiles();
    return {order, are_persistent ? std::min(multiprocessors, order.places) : order.places};
}

// Blocks that go through the same queries at the same time read them once from memory. With a causal mask, a block that
// begins after another one of its head is behind it by one tile of keys, times the heads that share keys: if these are
// many, runs of tiles begin together. Sections then have about as many tiles as two rounds of blocks, so that the last
// blocks, which have fewest queries, end together; few tiles need that in any case.
TileOrder key_order(AttentionKernelProblem const& problem, int multiprocessors) {
    std::int64_t const heads = problem.all_key_heads(), group = problem.heads_of_key_head();
    std::int64_t const tiles = tiles_of(problem.keys(), gradient_tile_keys(problem));
    // Queries, their output's gradient, and the sums in float.
    std::int64_t const bytes_of_query = 4 * row_bytes(problem.operand(attention::Q));
    std::int64_t const fitting =
        power_of_two(std::min(fitting_heads(problem.queries() * group * bytes_of_query), heads));
    bool const has_few_tiles = tiles * heads < std::int64_t{4} * multiprocessors;
    bool const has_large_sections = sees_more_later(problem) && (has_few_tiles || group > 1);
    TileOrder order = order_of(tiles, heads, fitting);
    if (has_large_sections) {
        order = order_of(tiles, heads, std::max(fitting, power_of_two(std::int64_t{2} * multiprocessors / tiles)));
        std::int64_t const most_of_run = std::clamp<std::int64_t>(tiles / 8, 1, 8);
        order.tiles_of_run = static_cast<int>(std::clamp<std::int64_t>(group / 2, 1, most_of_run));
    }
    order.is_backwards = problem.is_deterministic && !has_large_sections;
    return order;
}

}  // namespace cudnn_frontend::kernels
