// The order in which blocks of the attention kernels work on tiles.
#include "kernels/attention/tile_order.h"
#include "support/catch.h"
#include "support/random.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace cudnn_frontend;
using kernels::AttentionKernelProblem;
using kernels::TileOrder;
using kernels::TilePlace;

namespace {

constexpr int kHopper = 132;

struct Shape {
    std::int64_t b, h_q, h_kv, s_q, s_kv, d;
    std::optional<std::int64_t> left = {}, right = 0;
    bool is_bottom_right = false, is_deterministic = false;
};

Shape square(std::int64_t b, std::int64_t h_q, std::int64_t h_kv, std::int64_t s, std::int64_t d = 128) {
    return {b, h_q, h_kv, s, s, d};
}

std::string text_of(Shape const& shape) {
    std::ostringstream text;
    text << 'b' << shape.b << " h" << shape.h_q << '/' << shape.h_kv << " s" << shape.s_q << 'x' << shape.s_kv << " d"
         << shape.d << (shape.left ? " left " + std::to_string(*shape.left) : "")
         << (shape.right ? " right " + std::to_string(*shape.right) : "")
         << (shape.is_bottom_right ? " bottom right" : "");
    return text.str();
}

AttentionKernelProblem problem_of(Shape const& shape) {
    auto const matrix = [&](std::int64_t heads, std::int64_t rows) {
        kernels::PlacedOperand operand;
        operand.dims = {shape.b, heads, rows, shape.d};
        operand.strides = {heads * rows * shape.d, rows * shape.d, shape.d, 1};
        operand.type = DataType_t::BFLOAT16;
        return operand;
    };
    AttentionKernelProblem problem;
    problem.operands[attention::Q] = matrix(shape.h_q, shape.s_q);
    problem.operands[attention::K] = problem.operands[attention::V] = matrix(shape.h_kv, shape.s_kv);
    problem.left = shape.left;
    problem.right = shape.right;
    problem.is_bottom_right = shape.is_bottom_right;
    problem.is_deterministic = shape.is_deterministic;
    return problem;
}

kernels::QuerySchedule schedule_of(Shape const& shape, int multiprocessors = kHopper) {
    return kernels::query_schedule(problem_of(shape), multiprocessors);
}
TileOrder key_order_of(Shape const& shape, int multiprocessors = kHopper) {
    return kernels::key_order(problem_of(shape), multiprocessors);
}

// Shapes with no more tiles than a test can count.
Shape random_shape(sdpa_test::Random& random) {
    Shape shape{};
    shape.h_kv = random.pick({1, 2, 3, 8, 16});
    shape.h_q = shape.h_kv * random.pick({1, 1, 2, 4, 8});
    shape.b = random.pick({1, 2, 5});
    shape.s_q = random.between(1, 9000);
    shape.s_kv = random.chance(0.6) ? shape.s_q : random.between(1, 9000);
    shape.d = random.pick({64, 128, 192, 256});
    shape.is_bottom_right = random.flip();
    if (random.chance(0.2)) shape.right.reset();
    if (random.chance(0.3)) shape.left = random.between(0, 3000);
    shape.is_deterministic = random.flip();
    return shape;
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

std::int64_t visible_keys(Shape const& shape, std::int64_t query) {
    std::int64_t const diagonal = query + (shape.is_bottom_right ? shape.s_kv - shape.s_q : 0);
    std::int64_t const first = shape.left ? std::max<std::int64_t>(0, diagonal - *shape.left) : 0;
    std::int64_t const last = shape.right ? std::min(shape.s_kv - 1, diagonal + *shape.right) : shape.s_kv - 1;
    return std::max<std::int64_t>(0, last - first + 1);
}

// The keys of the busiest block, divided by those that each would have if all had equally many. Blocks take tiles as in
// attention_forward.cu.
double imbalance(Shape const& shape, kernels::QuerySchedule const& schedule) {
    std::int64_t const rows = shape.d == 64 ? 192 : 128;
    std::vector<std::int64_t> keys(static_cast<std::size_t>(schedule.blocks));
    for (int block = 0; block < schedule.blocks; ++block) {
        for (int first = 0, own = block; first + own < schedule.order.places;
             first += schedule.blocks, own = schedule.blocks - 1 - own) {
            TilePlace const place(schedule.order, first + own);
            if (place.is_empty) continue;
            std::int64_t const last_query = std::min((place.number + 1) * rows, shape.s_q) - 1;
            keys[static_cast<std::size_t>(block)] += visible_keys(shape, last_query);
        }
    }
    auto const all = std::accumulate(keys.begin(), keys.end(), std::int64_t{0});
    auto const most = *std::max_element(keys.begin(), keys.end());
    return static_cast<double>(most) * static_cast<double>(schedule.blocks) / static_cast<double>(all);
}

std::vector<Shape> const kShapes = {square(2, 16, 16, 8192),     square(2, 32, 32, 8192, 64), square(1, 64, 8, 8192),
                                    square(4, 16, 16, 2048),     square(8, 12, 12, 1024, 64), square(1, 16, 16, 2048),
                                    square(2, 32, 8, 4096),      square(1, 128, 128, 4096),   square(3, 5, 5, 700, 64),
                                    square(1, 1, 1, 100),        square(1, 40, 8, 5000),      square(2, 8, 1, 333, 64),
                                    square(1, 8, 8, 33000),      square(2, 16, 8, 1664),      square(64, 32, 8, 128),
                                    {2, 4, 2, 13312, 3328, 128}, square(1, 5, 5, 8192)};

}  // namespace

TEST_CASE("each tile has one place, whatever the shape and the number of multiprocessors") {
    std::vector<Shape> shapes = kShapes;
    sdpa_test::Random random(1);
    for (int i = 0; i < 60; ++i) shapes.push_back(random_shape(random));
    for (Shape const& shape : shapes) {
        int const multiprocessors = random.pick({1, 2, 78, 114, 132});
        INFO(text_of(shape) << ", " << multiprocessors);
        check_each_tile_once(schedule_of(shape, multiprocessors).order);
        check_each_tile_once(key_order_of(shape, multiprocessors));
    }
}

TEST_CASE("with a causal mask, blocks of forward that work on several tiles have about equally many keys") {
    for (Shape shape : kShapes) {
        for (bool const is_bottom_right : {false, true}) {
            shape.is_bottom_right = is_bottom_right;
            INFO(text_of(shape));
            kernels::QuerySchedule const schedule = schedule_of(shape);
            if (schedule.blocks < schedule.order.tiles * schedule.order.heads) CHECK(imbalance(shape, schedule) < 1.09);
        }
    }
    for (std::size_t const shape : {0, 1, 2, 3, 4, 6, 7}) {
        INFO(text_of(kShapes[shape]));
        CHECK(schedule_of(kShapes[shape]).blocks == kHopper);
    }
}

TEST_CASE("a tile of forward has a block where no sections give blocks equally many keys, or tiles have other keys") {
    auto const has_a_block = [](Shape const& shape) {
        kernels::QuerySchedule const schedule = schedule_of(shape);
        return schedule.blocks == schedule.order.tiles * schedule.order.heads;
    };
    CHECK(has_a_block(square(1, 6, 6, 128 * 98)));  // of two rounds, 264 tiles, two heads have 196
    Shape more_queries{2, 4, 2, 13312, 3328, 128};  // the first ones see nothing, or the last ones everything
    CHECK(has_a_block(more_queries));
    more_queries.is_bottom_right = true;
    CHECK(has_a_block(more_queries));
}

TEST_CASE("where tiles of forward are handed out, a kernel before sets their count to 0") {
    using kernels::AttentionWork;
    auto const clears_count = [](AttentionKernelProblem const& problem) {
        auto const works = kernels::works_of(problem);
        auto const clears = [](AttentionWork work) {
            return work == AttentionWork::Entries || work == AttentionWork::BlockBits ||
                   work == AttentionWork::BlockMask;
        };
        auto const forward = std::ranges::find(works, AttentionWork::Forward);
        return forward != works.end() && std::any_of(works.begin(), forward, clears);
    };
    int handed_out = 0;
    for (unsigned options = 0; options < 32; ++options) {
        AttentionKernelProblem problem = problem_of({4, 16, 16, 2048, 2048, 128});
        if (options & 1) problem.key_lengths.emplace();
        if (options & 2) problem.query_lengths.emplace().is_wide = true;
        if (options & 4) problem.modifier.text_of_bounds = "text";
        if (options & 8) problem.operands[attention::BlockMask] = problem.operand(attention::Q);
        if (options & 16) problem.packed[attention::Q].emplace();
        if (!problem.hands_out_tiles()) continue;
        INFO("options " << options);
        CHECK(clears_count(problem));
        ++handed_out;
    }
    CHECK(handed_out == 27);
}

TEST_CASE("tiles of forward are handed out to a block for each multiprocessor where a kernel before clears a count") {
    Shape const shape{4, 16, 16, 2048, 2048, 128};
    auto const blocks_of = [](AttentionKernelProblem const& problem) {
        return kernels::query_schedule(problem, kHopper).blocks;
    };
    AttentionKernelProblem problem = problem_of(shape);
    CHECK_FALSE(problem.hands_out_tiles());
    problem.key_lengths = kernels::SequenceLengths{};
    CHECK_FALSE(problem.hands_out_tiles());
    CHECK(blocks_of(problem) == 4 * 16 * 2048 / 128);
    problem.key_lengths->are_sums = true;
    CHECK(problem.hands_out_tiles());
    CHECK(blocks_of(problem) == kHopper);
    problem.key_lengths.reset();
    problem.modifier.text_of_bounds = "text";
    CHECK(problem.hands_out_tiles());
    CHECK(blocks_of(problem) == kHopper);
    CHECK(kernels::query_schedule(problem, 4096).blocks == 4 * 16 * 2048 / 128);
    problem.is_backward = true;
    CHECK_FALSE(problem.hands_out_tiles());
}

TEST_CASE("tiles of keys whose gradients are added first begin first") {
    for (Shape shape : kShapes) {
        shape.is_deterministic = true;
        TileOrder const order = key_order_of(shape);
        std::vector<int> next(static_cast<std::size_t>(order.heads), order.is_backwards ? order.tiles - 1 : 0);
        for (TilePlace const& tile : tiles_in(order)) {
            int& expected = next[static_cast<std::size_t>(tile.head)];
            CHECK(tile.number == expected);
            expected += order.is_backwards ? -1 : 1;
        }
    }
}

TEST_CASE("tiles of keys that many query heads share begin in runs of neighbors") {
    CHECK(key_order_of(square(1, 64, 8, 8192)).tiles_of_run == 4);
    CHECK(key_order_of(square(2, 32, 8, 4096)).tiles_of_run == 2);
    CHECK(key_order_of(square(2, 16, 16, 8192)).tiles_of_run == 1);
    CHECK(key_order_of(square(1, 32, 1, 300)).tiles_of_run == 1);
    CHECK(key_order_of(square(1, 64, 1, 65536)).tiles_of_run == 8);
    Shape full = square(1, 64, 8, 8192);
    full.right.reset();
    CHECK(key_order_of(full).tiles_of_run == 1);
}

TEST_CASE("deterministic gradients of few tiles or shared keys add in the order of the keys, others from the last") {
    auto const is_backwards = [](Shape shape) {
        shape.is_deterministic = true;
        return key_order_of(shape).is_backwards != 0;
    };
    CHECK(is_backwards(square(2, 16, 16, 8192)));
    CHECK_FALSE(is_backwards(square(1, 16, 16, 2048)));
    CHECK_FALSE(is_backwards(square(2, 32, 8, 4096)));
    Shape to_the_right = square(1, 16, 16, 2048);  // the last tiles have the most queries
    to_the_right.left = 0;
    to_the_right.right.reset();
    CHECK(is_backwards(to_the_right));
}
