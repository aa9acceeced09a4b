// Backward by GATHER: where the gradients of keys and values are written, and how they are added up.
#include "rewrite/group/gather_plan.h"
#include "rewrite/group/ways.h"
#include "support/catch.h"
#include "support/random.h"
#include "unit/rewrite/attention_graphs.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

using namespace test;
using namespace attention;

using cudnn_frontend::group::Layout;

TEST_CASE("gather: own keys are read, and their gradients written, in place; those of other chunks are added there") {
    auto const program_of = [](int rank, bool has_gaps) {
        cudnn_frontend::group::Task const task = task_of(rank, Layout::contiguous(64, 2), Layout::contiguous(64, 2));
        TestGraph graph = part_of({}, task, true);
        graph.attention_options().left_bound = 8;
        graph.attention_options().right_bound = 0;
        if (has_gaps) graph.at(DV).stride = {1280, 640, 20, 1};
        Rewritable const part(graph);
        return part.text(rewrite::gather(*part, task, 1));
    };
    CHECK_THAT(program_of(0, false), Catch::StartsWith(R"(program gather(1)
scratch 0: 512 bytes
scratch 1: 512 bytes
scratch 2: 512 bytes
scratch 3: 512 bytes
1. copy
   reads terms: K + 800 [1, 1, 2, 7, 16] HALF strides [0, 1024, 512, 16, 1]
)") && Catch::EndsWith(R"(
   writes dQ: dQ [1, 4, 32, 16] HALF
   writes dK: dK [1, 2, 32, 16] HALF
   writes dV: dV [1, 2, 32, 16] HALF
5. finish the exchange of keys and values of all heads
6. start the exchange of gradients of keys and values of all heads
7. finish the exchange of gradients of keys and values of all heads
   writes from rank 1: scratch 1 [1, 7, 2, 16] HALF
   writes from rank 1: scratch 3 [1, 7, 2, 16] HALF
8. add to the result
   reads terms: scratch 1 [1, 1, 2, 7, 16] HALF strides [224, 224, 16, 32, 1]
   writes result: dK + 800 [1, 2, 7, 16] HALF strides [1024, 512, 16, 1]
9. add to the result
   reads terms: scratch 3 [1, 1, 2, 7, 16] HALF strides [224, 224, 16, 32, 1]
   writes result: dV + 800 [1, 2, 7, 16] HALF strides [1024, 512, 16, 1]
)"));
    // The keys before the rank's own have their gradients in scratch, from where they are sent.
    CHECK_THAT(program_of(1, false), Catch::Contains("writes dK: dK [1, 2, 32, 16]") &&
                                         Catch::Contains("writes dK: scratch 1 [1, 2, 7, 16]") &&
                                         Catch::Contains("reads to rank 0: scratch 1 [1, 7, 2, 16]") &&
                                         !Catch::Contains("writes result: dK"));
    // Engines do not support rows of 40 bytes.
    CHECK_THAT(program_of(1, true), Catch::Contains("writes dK: scratch 1 + 448 [1, 2, 32, 16]") &&
                                        Catch::Contains("writes result: dV [1, 2, 32, 16] HALF strides [1280, 640,"));
}

TEST_CASE("gather: the rank's own gradients are copied to their place in the order of a sum") {
    cudnn_frontend::group::Task const task = task_of(1, Layout::contiguous(16, 2), Layout::contiguous(16, 2));
    Rewritable const part(part_of({}, task, true));
    CHECK_THAT(part.text(rewrite::gather(*part, task, 1)), Catch::Contains(R"(
7. copy
   reads terms: scratch 1 + 512 [1, 1, 2, 8, 16] HALF strides [0, 512, 16, 32, 1]
   writes result: scratch 2 + 512 [1, 2, 8, 16] HALF strides [256, 16, 32, 1]
)") && Catch::Contains(R"(
   writes from rank 0: scratch 2 [1, 8, 2, 16] HALF
   writes from rank 0: scratch 5 [1, 8, 2, 16] HALF
10. sum
   reads terms: scratch 2 [2, 1, 2, 8, 16] HALF strides [256, 256, 16, 32, 1]
   writes result: dK [1, 2, 8, 16] HALF
)"));
}

TEST_CASE("gather: an attention writes the gradients of one range, if no other has written them before") {
    // Tokens, how many chunks see them, and whether the first writes in place.
    using Seen = std::vector<std::tuple<rewrite::Span, std::size_t, bool>>;
    auto const seen = [](Layout const& queries, Layout const& keys, std::optional<std::int64_t> right, int rank) {
        cudnn_frontend::group::Task const task = task_of(0, queries, keys);
        TestGraph graph = part_of({}, task, true);
        graph.attention_options().right_bound = right;
        if (right) graph.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
        Rewritable const part(graph);
        auto const chunks = rewrite::query_chunks(*part, task);
        Seen all;
        for (auto const& of_rank : rewrite::KeyGradients(*part, task, chunks, true).of_rank(rank)) {
            all.emplace_back(of_rank.tokens, of_rank.seen_by.size(), of_rank.is_first_in_place);
        }
        return all;
    };
    Layout const zigzag = Layout::head_tail(16, 2), half = Layout::contiguous(16, 2);
    CHECK(seen(zigzag, zigzag, 0, 0) == Seen{{{0, 4}, 3, true}, {{12, 16}, 1, true}});
    CHECK(seen(zigzag, zigzag, 0, 1) == Seen{{{4, 12}, 2, true}});
    CHECK(seen(half, half, 0, 1) == Seen{{{8, 16}, 1, true}});
    // Each attention is over all keys.
    CHECK(seen(half, half, {}, 1) == Seen{{{8, 16}, 2, false}});
    // Both chunks of rank 0 see its first keys. The keys left of the second one's diagonal are not all its own.
    CHECK(seen(zigzag, half, 0, 0) == Seen{{{0, 4}, 3, true}, {{4, 8}, 2, false}});
    CHECK(seen(zigzag, half, 0, 1) == Seen{{{8, 12}, 2, false}, {{12, 16}, 1, false}});
    // The first queries attend to keys 0 to 3 and to keys 4 to 11, some of which are not the rank's.
    CHECK(seen(half, Layout::contiguous(20, 2), 0, 0) == Seen{{{0, 4}, 2, true}, {{4, 10}, 2, false}});
    CHECK(seen(half, Layout::contiguous(20, 2), 0, 1) == Seen{{{10, 12}, 2, false}, {{12, 20}, 1, true}});
}

TEST_CASE("gather: of two attentions over keys of one range, the first writes their gradients in place") {
    cudnn_frontend::group::Task const task = task_of(0, Layout::head_tail(16, 2), Layout::of({{{0, 14}}, {{14, 2}}}));
    TestGraph graph = part_of({}, task, true);
    graph.attention_options().right_bound = 0;
    Rewritable const part(graph);
    auto const chunks = rewrite::query_chunks(*part, task);
    rewrite::KeyGradients const gradients(*part, task, chunks, true);
    CHECK(gradients.range_in_place(chunks[0], {0, 4}) == rewrite::Chunk{0, {0, 14}, 0});
    CHECK(gradients.keys_elsewhere(chunks[0]).count() == 0);
    // The keys left of the second one's diagonal, and those on it, of which two are the other rank's.
    CHECK(gradients.range_in_place(chunks[2], {0, 12}) == std::nullopt);
    CHECK(gradients.keys_elsewhere(chunks[2]) == rewrite::Span{0, 16});
}

namespace {

// Rows of the caller's tensors: the tensor, and the offset of the row's first element.
using Rows = std::set<std::pair<std::size_t, std::int64_t>>;

Rows rows_of(rewrite::View const& view) {
    Rows rows;
    for (std::int64_t b = 0; b < view.dim[0]; ++b) {
        for (std::int64_t h = 0; h < view.dim[1]; ++h) {
            for (std::int64_t row = 0; row < view.dim[2]; ++row) {
                std::int64_t const element = b * view.stride[0] + h * view.stride[1] + row * view.stride[2];
                rows.emplace(view.place.index, view.place.offset + 2 * element);  // HALF
            }
        }
    }
    return rows;
}

// Attentions and sums write each row of dK and dV once, before other sums add to it. Returns the rows.
Rows check_gradients(rewrite::Program const& program, GraphSpec const& graph) {
    Rows written;
    for (rewrite::Step const& step : program.steps) {
        auto const* const joint = std::get_if<rewrite::Joint>(&step);
        auto const* const sum = joint == nullptr ? nullptr : std::get_if<rewrite::Sum>(joint);
        if (sum == nullptr && !std::holds_alternative<rewrite::Attend>(step)) continue;
        for (auto const& [role, is_written, view] : rewrite::operands_of(step)) {
            bool const is_callers = is_written && view.place.of == rewrite::Place::Of::Tensor;
            std::string const name = is_callers ? rewrite::name_of(view.place, graph) : "";
            if (!name.starts_with("dK") && !name.starts_with("dV")) continue;
            Rows const rows = rows_of(view);
            bool const adds = sum != nullptr && sum->accumulates;
            for (auto const& row : rows) CHECK(written.contains(row) == adds);
            written.insert(rows.begin(), rows.end());
        }
    }
    return written;
}

// Ranges of random lengths for ranks in a random order, at least one for each.
Layout random_layout(sdpa_test::Random& random, std::int64_t length, int ranks) {
    std::vector<std::vector<cudnn_frontend::group::Token_range>> ranges(static_cast<std::size_t>(ranks));
    std::int64_t first = 0;
    for (int number = 0; first < length; ++number) {
        std::int64_t const most = length - first - std::max(ranks - 1 - number, 0);
        std::int64_t const count = random.between(1, std::max<std::int64_t>(most / 2, 1));
        auto const rank = number < ranks ? number : random.between(0, ranks - 1);
        ranges[static_cast<std::size_t>(rank)].push_back({first, count});
        first += count;
    }
    return Layout::of(ranges);
}

}  // namespace

TEST_CASE("gather: every row of a gradient is written once before others are added to it") {
    sdpa_test::Random random(3);
    for (int index = 0; index < 200; ++index) {
        int const ranks = static_cast<int>(random.between(1, 5));
        std::int64_t const length = random.between(2 * ranks, 60);
        Layout const queries = random.flip() ? Layout::head_tail(length, ranks) : random_layout(random, length, ranks);
        Layout const keys = random.flip() ? queries : random_layout(random, length, ranks);
        bool const is_causal = random.flip(), has_window = random.flip();
        std::int64_t const left = random.between(1, 20);
        int const stages = random.pick({1, 2, 4});
        for (int rank = 0; rank < ranks; ++rank) {
            CAPTURE(index, ranks, rank, length, is_causal, has_window, left, stages);
            cudnn_frontend::group::Task const task = task_of(rank, queries, keys);
            TestGraph graph = part_of({.heads = 8, .key_heads = 4}, task, true);
            if (is_causal) graph.attention_options().right_bound = 0;
            if (is_causal && has_window) graph.attention_options().left_bound = left;
            Rewritable const part(graph);
            auto const program = rewrite::gather(*part, task, stages);
            REQUIRE(program.is_good());
            Rows const rows = check_gradients(program.value(), graph);
            CHECK(static_cast<std::int64_t>(rows.size()) == 2 * 4 * keys.count_of(rank));
        }
    }
}
