// GATHER: which keys travel when, where the gradients of keys and values are written, and how they are added up.
#include "rewrite/group/gather_plan.h"
#include "rewrite/group/ways.h"
#include "support/catch.h"
#include "support/random.h"
#include "unit/rewrite/attention_graphs.h"

#include <algorithm>
#include <map>
#include <numeric>
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

namespace {

// As in memory of {batch, tokens, heads, columns}.
void put_rows_first(TensorSpec& tensor) {
    auto const& dim = tensor.dim;
    tensor.stride = {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1};
}

}  // namespace

TEST_CASE("gather: keys that lie without gaps are sent from the caller's tensors") {
    auto const program_of = [](int rank, int stages) {
        cudnn_frontend::group::Task const task = task_of(rank, Layout::head_tail(8, 2), Layout::head_tail(8, 2));
        TestGraph graph = part_of({}, task, false);
        graph.attention_options().right_bound = 0;
        for (int const port : {K, V}) put_rows_first(graph.at(port));
        Rewritable const part(graph);
        return part.text(rewrite::gather(*part, task, stages));
    };
    CHECK_THAT(program_of(0, 1), Catch::StartsWith(R"(program gather(1)
scratch 0: 512 bytes
scratch 1: 512 bytes
1. start the exchange of keys and values of all heads
   reads to rank 1: K [1, 2, 2, 16] HALF strides [128, 32, 16, 1]
   reads to rank 1: V [1, 2, 2, 16] HALF strides [128, 32, 16, 1]
2. SDPA_FORWARD right_bound=0
)") && Catch::Contains(R"(
3. copy
   reads terms: K [1, 1, 2, 2, 16] HALF strides [0, 128, 16, 32, 1]
   writes result: scratch 0 [1, 2, 2, 16] HALF strides [256, 16, 32, 1]
)"));
    // In this memory the tokens of one of two heads have gaps.
    CHECK_THAT(program_of(0, 2), Catch::Contains("reads to rank 1: scratch 0 [1, 2, 1, 16] HALF"));
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

// The tokens whose keys or values lie where, as one rank's program moves them.
class Tokens {
   public:
    using List = std::vector<std::int64_t>;

    Tokens(GraphSpec const& graph, Layout const& keys, int rank) : graph_(graph), own_(keys.positions_of(rank)) {}

    // The tokens of a view's rows, which its dim `dim` counts; -1 where nothing was written.
    List of(rewrite::View const& view, std::size_t dim) const {
        List tokens;
        for (std::int64_t row = 0; row < view.dim[dim]; ++row) tokens.push_back(token_at(view, row * view.stride[dim]));
        return tokens;
    }
    void write(rewrite::View const& view, std::size_t dim, List const& tokens) {
        for (std::size_t row = 0; row < tokens.size(); ++row)
            scratch_[place_of(view, static_cast<std::int64_t>(row) * view.stride[dim])] = tokens[row];
    }

   private:
    using Place = std::pair<std::size_t, std::int64_t>;

    static Place place_of(rewrite::View const& view, std::int64_t element) {
        return {view.place.index, view.place.offset + 2 * element};  // HALF
    }
    std::int64_t token_at(rewrite::View const& view, std::int64_t element) const {
        if (view.place.of != rewrite::Place::Of::Tensor) {
            auto const known = scratch_.find(place_of(view, element));
            return known == scratch_.end() ? -1 : known->second;
        }
        std::int64_t const row_stride = graph_.tensors[view.place.index].stride[2];
        auto const row = static_cast<std::size_t>((view.place.offset / 2 + element) / row_stride);
        return own_[row % own_.size()];  // where a head's rows follow those of the head before
    }

    GraphSpec const& graph_;
    List own_;
    std::map<Place, std::int64_t> scratch_;
};

// The tokens of the pieces that a rank sends to another one, in all exchanges.
using Sent = std::map<std::pair<int, int>, std::vector<Tokens::List>>;

// Runs one rank's copies and exchanges: first to note its pieces, then to receive those of others, so that every
// attention finds its keys.
void run_keys(rewrite::Program const& program, Tokens tokens, int rank, Sent& sent, bool receives) {
    for (rewrite::Step const& step : program.steps) {
        auto const* const joint = std::get_if<rewrite::Joint>(&step);
        auto const* const sum = joint == nullptr ? nullptr : std::get_if<rewrite::Sum>(joint);
        auto const* const start = std::get_if<rewrite::Exchange>(&step);
        auto const* const end = std::get_if<rewrite::Await>(&step);
        if (sum != nullptr && !sum->accumulates && sum->terms.dim[0] == 1)
            tokens.write(sum->result, 2, tokens.of(sum->terms, 3));
        if (start != nullptr && !receives) {
            for (auto const& piece : start->pieces->sends) sent[{rank, piece.rank}].push_back(tokens.of(piece.view, 1));
        }
        if (end != nullptr && receives) {
            for (auto const& piece : end->pieces->receives) {
                auto& pieces = sent[{piece.rank, rank}];
                REQUIRE(!pieces.empty());
                tokens.write(piece.view, 1, pieces.front());
                pieces.erase(pieces.begin());
            }
        }
        if (!receives || !std::holds_alternative<rewrite::Attend>(step)) continue;
        std::vector<Tokens::List> read;
        for (auto const& [role, is_written, view] : rewrite::operands_of(step)) {
            if (!is_written && (role == "K" || role == "V")) read.push_back(tokens.of(view, 2));
        }
        REQUIRE(read.size() == 2);
        Tokens::List wanted(read[0].size());
        std::iota(wanted.begin(), wanted.end(), read[0].front());
        CHECK(wanted.front() >= 0);
        CHECK(read[0] == wanted);
        CHECK(read[1] == wanted);
    }
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

TEST_CASE("gather: the keys that attentions read have arrived, in the order of the sequence") {
    sdpa_test::Random random(4);
    for (int index = 0; index < 200; ++index) {
        int const ranks = static_cast<int>(random.between(2, 5));
        std::int64_t const length = random.between(2 * ranks, 60);
        Layout const layout = random.flip() ? Layout::head_tail(length, ranks) : random_layout(random, length, ranks);
        bool const is_backward = random.flip(), is_causal = random.flip(), has_window = random.flip();
        std::int64_t const left = random.between(1, 20);
        int const stages = random.pick({1, 1, 2, 4});
        CAPTURE(index, ranks, length, is_backward, is_causal, has_window, left, stages);
        std::vector<TestGraph> graphs;
        std::vector<rewrite::Program> programs;
        Sent sent;
        for (int rank = 0; rank < ranks; ++rank) {
            cudnn_frontend::group::Task const task = task_of(rank, layout, layout);
            TestGraph& graph = graphs.emplace_back(part_of({.heads = 8, .key_heads = 4}, task, is_backward));
            if (is_causal) graph.attention_options().right_bound = 0;
            if (is_causal && has_window) graph.attention_options().left_bound = left;
            bool const are_rows_first = random.flip();  // not on all ranks alike
            for (int const port : {K, V}) {
                if (are_rows_first) put_rows_first(graph.at(port));
            }
            Rewritable const part(graph);
            auto program = rewrite::gather(*part, task, stages);
            REQUIRE(program.is_good());
            programs.push_back(std::move(program).value());
            run_keys(programs.back(), Tokens(graph, layout, rank), rank, sent, false);
        }
        for (int rank = 0; rank < ranks; ++rank) {
            auto const at = static_cast<std::size_t>(rank);
            CAPTURE(rank);
            run_keys(programs[at], Tokens(graphs[at], layout, rank), rank, sent, true);
        }
    }
}
