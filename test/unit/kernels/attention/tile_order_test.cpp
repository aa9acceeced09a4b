// The order in which blocks of the attention kernels work on tiles.
#include "kernels/attention/tile_order.h"
#include "support/catch.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

using namespace cudnn_frontend;
using kernels::AttentionKernelProblem;
using kernels::TileOrder;
using kernels::TilePlace;

namespace {

constexpr int kHopper = 132;

struct Sizes {
    std::int64_t b, h_q, h_kv, s, d;
};

AttentionKernelProblem causal(Sizes const& sizes, bool is_deterministic = false) {
    auto const matrix = [&](std::int64_t heads) {
        kernels::PlacedOperand operand;
        operand.dims = {sizes.b, heads, sizes.s, sizes.d};
        operand.strides = {heads * sizes.s * sizes.d, sizes.s * sizes.d, sizes.d, 1};
        operand.type = DataType_t::BFLOAT16;
        return operand;
    };
    AttentionKernelProblem problem;
    problem.operands[attention::Q] = matrix(sizes.h_q);
    problem.operands[attention::K] = problem.operands[attention::V] = matrix(sizes.h_kv);
    problem.right = 0;
    problem.is_deterministic = is_deterministic;
    return problem;
}

std::vector<TilePlace> tiles_in(TileOrder const& order) {
    std::vector<TilePlace> tiles;
    for (int i = 0; i < order.places; ++i) {
        if (TilePlace const place(order, i); !place.is_empty) tiles.push_back(place);
    }
    return tiles;
}

void check_each_tile_once(TileOrder const& order) {
    std::set<std::pair<int, int>> seen;
    for (TilePlace const& tile : tiles_in(order)) {
        CHECK((tile.number >= 0 && tile.number < order.tiles && tile.head >= 0 && tile.head < order.heads));
        CHECK(seen.emplace(tile.head, tile.number).second);
    }
    CHECK(std::ssize(seen) == std::int64_t{order.tiles} * order.heads);
}

// The tiles of keys that the busiest of the blocks goes through, compared with what each has if all have as many: the
// blocks as attention_forward.cu has them work on places.
double imbalance(kernels::QuerySchedule const& schedule) {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(schedule.blocks));
    for (int block = 0; block < schedule.blocks; ++block) {
        for (int first = 0, own = block; first + own < schedule.order.places;
             first += schedule.blocks, own = schedule.blocks - 1 - own) {
            TilePlace const place(schedule.order, first + own);
            if (!place.is_empty) keys[static_cast<std::size_t>(block)] += place.number + 1;
        }
    }
    auto const all = std::accumulate(keys.begin(), keys.end(), std::int64_t{0});
    auto const most = *std::max_element(keys.begin(), keys.end());
    return static_cast<double>(most) * static_cast<double>(schedule.blocks) / static_cast<double>(all);
}

std::vector<Sizes> const kSizes = {{2, 16, 16, 8192, 128}, {2, 32, 32, 8192, 64},   {1, 64, 8, 8192, 128},
                                   {4, 16, 16, 2048, 128}, {8, 12, 12, 1024, 64},   {1, 16, 16, 2048, 128},
                                   {2, 32, 8, 4096, 128},  {1, 128, 128, 4096, 64}, {3, 5, 5, 700, 64},
                                   {1, 1, 1, 100, 128},    {1, 40, 8, 5000, 128},   {2, 8, 1, 333, 64},
                                   {1, 8, 8, 33000, 128}};

}  // namespace

TEST_CASE("each tile has one place, whatever the sizes") {
    for (Sizes const& sizes : kSizes) {
        INFO(sizes.b << ' ' << sizes.h_q << '/' << sizes.h_kv << ' ' << sizes.s << ' ' << sizes.d);
        check_each_tile_once(kernels::query_schedule(causal(sizes), kHopper).order);
        check_each_tile_once(kernels::key_order(causal(sizes), kHopper));
        check_each_tile_once(kernels::key_order(causal(sizes, true), kHopper));
    }
}

TEST_CASE("with a causal mask, blocks of forward that work on several tiles have as many keys") {
    for (Sizes const& sizes : {kSizes[0], kSizes[2], kSizes[3], kSizes[6], kSizes[7]}) {
        INFO(sizes.b << ' ' << sizes.h_q << '/' << sizes.h_kv << ' ' << sizes.s << ' ' << sizes.d);
        kernels::QuerySchedule const schedule = kernels::query_schedule(causal(sizes), kHopper);
        CHECK(schedule.blocks == kHopper);
        CHECK(imbalance(schedule) < 1.05);
    }
}

TEST_CASE("where no sections give blocks as many keys, each tile of forward has a block") {
    Sizes const sizes{1, 6, 6, 128 * 98, 128};  // two heads have 196 tiles, of 264 in two rounds
    kernels::QuerySchedule const schedule = kernels::query_schedule(causal(sizes), kHopper);
    CHECK(schedule.blocks == 6 * 98);
}

TEST_CASE("tiles of keys whose gradients are added first begin first") {
    for (Sizes const& sizes : kSizes) {
        TileOrder const order = kernels::key_order(causal(sizes, true), kHopper);
        std::vector<int> next(static_cast<std::size_t>(order.heads), order.is_backwards ? order.tiles - 1 : 0);
        for (TilePlace const& tile : tiles_in(order)) {
            int& expected = next[static_cast<std::size_t>(tile.head)];
            CHECK(tile.number == expected);
            expected += order.is_backwards ? -1 : 1;
        }
    }
}

TEST_CASE("tiles of keys that many query heads share begin in runs of neighbors") {
    CHECK(kernels::key_order(causal({1, 64, 8, 8192, 128}), kHopper).tiles_of_run == 4);
    CHECK(kernels::key_order(causal({2, 32, 8, 4096, 128}), kHopper).tiles_of_run == 2);
    CHECK(kernels::key_order(causal({2, 16, 16, 8192, 128}), kHopper).tiles_of_run == 1);
    CHECK(kernels::key_order(causal({1, 32, 1, 300, 128}), kHopper).tiles_of_run == 1);
}
