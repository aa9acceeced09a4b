// The programs of the ranks of a group: step by step, and whether all ranks' programs fit each other.
#include "rewrite/group/chunks.h"
#include "rewrite/group/way_costs.h"
#include "rewrite/group/ways.h"
#include "support/catch.h"
#include "support/random.h"
#include "unit/rewrite/attention_graphs.h"

#include <map>
#include <numeric>

using namespace test;
using namespace attention;

namespace {

namespace group = cudnn_frontend::group;
using group::Layout;
using rewrite::Pieces;
using rewrite::Program;

using Way = std::function<Result<Program>(rewrite::Attention const&, group::Task const&)>;

Way gather_in(int stages) {
    return [stages](rewrite::Attention const& attention, group::Task const& task) {
        return rewrite::gather(attention, task, stages);
    };
}

// The sizes of what goes from one rank to another, exchange by exchange.
using Sizes = std::vector<std::vector<std::int64_t>>;
using Traffic = std::map<std::pair<int, int>, Sizes>;

void add(Traffic& traffic, std::pair<int, int> const& way, std::size_t exchange, std::int64_t bytes) {
    Sizes& sizes = traffic[way];
    sizes.resize(std::max(sizes.size(), exchange + 1));
    sizes[exchange].push_back(bytes);
}

struct GroupPrograms {
    std::vector<Program> programs;  // of each rank
    Traffic sent, received;
    std::vector<double> bytes;  // that each rank receives from others
};

std::vector<Pieces const*> exchanges_of(Program const& program) {
    std::vector<Pieces const*> all;
    for (rewrite::Step const& step : program.steps) {
        if (auto const* start = std::get_if<rewrite::Exchange>(&step)) all.push_back(start->pieces.get());
    }
    return all;
}

void add_traffic(GroupPrograms& all, int rank) {
    auto const exchanges = exchanges_of(all.programs.back());
    all.bytes.push_back(0.0);
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
        for (auto const& piece : exchanges[i]->sends) add(all.sent, {rank, piece.rank}, i, rewrite::bytes_of(piece));
        for (auto const& piece : exchanges[i]->receives) {
            add(all.received, {piece.rank, rank}, i, rewrite::bytes_of(piece));
            if (piece.rank != rank) all.bytes.back() += static_cast<double>(rewrite::bytes_of(piece));
        }
    }
}

// Exchanges finish in the order in which they start, each once.
void check_order(Program const& program) {
    std::vector<Pieces const*> started, finished;
    for (rewrite::Step const& step : program.steps) {
        if (auto const* start = std::get_if<rewrite::Exchange>(&step)) started.push_back(start->pieces.get());
        if (auto const* end = std::get_if<rewrite::Await>(&step)) finished.push_back(end->pieces.get());
        REQUIRE(finished.size() <= started.size());
    }
    CHECK(finished == started);
}

GroupPrograms programs_of(Problem const& sizes, Layout const& queries, Layout const& keys, bool is_backward,
                          Way const& way) {
    GroupPrograms all;
    for (int rank = 0; rank < queries.ranks(); ++rank) {
        group::Task const task = task_of(rank, queries, keys);
        Rewritable const part(part_of(sizes, task, is_backward));
        auto program = way(*part, task);
        REQUIRE(program.error().get_message() == "");
        all.programs.push_back(std::move(program).value());
        check_order(all.programs.back());
        add_traffic(all, rank);
    }
    return all;
}

void check_fit(GroupPrograms const& all) {
    CHECK(all.sent == all.received);
    for (auto const& [ranks, sizes] : all.sent) CHECK(ranks.first != ranks.second);
    for (Program const& program : all.programs) {
        CHECK(program.agreement == all.programs.front().agreement);
        CHECK(exchanges_of(program).size() == exchanges_of(all.programs.front()).size());
    }
}

}  // namespace

TEST_CASE("gather: a rank gets what its queries see, and attends to it chunk by chunk") {
    group::Task const task = task_of(0, Layout::head_tail(8, 2), Layout::head_tail(8, 2));
    TestGraph graph = part_of({}, task, false);
    graph.fields<SdpaForwardFields>().right_bound = 0;
    Rewritable const part(graph);
    CHECK(part.text(rewrite::gather(*part, task, 1)) == R"(program gather(1)
scratch 0: 512 bytes
scratch 1: 512 bytes
1. copy
   reads terms: K [1, 1, 2, 2, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: scratch 0 [1, 2, 2, 16] HALF strides [256, 16, 32, 1]
2. copy
   reads terms: V [1, 1, 2, 2, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: scratch 1 [1, 2, 2, 16] HALF strides [256, 16, 32, 1]
3. start the exchange of keys and values of all heads
   reads to rank 1: scratch 0 [1, 2, 2, 16] HALF strides [256, 32, 16, 1]
   reads to rank 1: scratch 1 [1, 2, 2, 16] HALF strides [256, 32, 16, 1]
4. SDPA_FORWARD right_bound=0
   reads Q: Q [1, 4, 2, 16] HALF strides [256, 64, 16, 1]
   reads K: K [1, 2, 2, 16] HALF strides [128, 64, 16, 1]
   reads V: V [1, 2, 2, 16] HALF strides [128, 64, 16, 1]
   writes O: O [1, 4, 2, 16] HALF strides [256, 64, 16, 1]
5. copy
   reads terms: K + 64 [1, 1, 2, 2, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: scratch 0 + 384 [1, 2, 2, 16] HALF strides [256, 16, 32, 1]
6. copy
   reads terms: V + 64 [1, 1, 2, 2, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: scratch 1 + 384 [1, 2, 2, 16] HALF strides [256, 16, 32, 1]
7. finish the exchange of keys and values of all heads
   writes from rank 1: scratch 0 + 128 [1, 4, 2, 16] HALF strides [256, 32, 16, 1]
   writes from rank 1: scratch 1 + 128 [1, 4, 2, 16] HALF strides [256, 32, 16, 1]
8. SDPA_FORWARD diagonal_alignment=BOTTOM_RIGHT right_bound=0
   reads Q: Q + 64 [1, 4, 2, 16] HALF strides [256, 64, 16, 1]
   reads K: scratch 0 [1, 2, 8, 16] HALF strides [256, 16, 32, 1]
   reads V: scratch 1 [1, 2, 8, 16] HALF strides [256, 16, 32, 1]
   writes O: O + 64 [1, 4, 2, 16] HALF strides [256, 64, 16, 1]
)");
}

TEST_CASE("gather: queries that see the rank's own keys alone read them where they are, before others' arrive") {
    group::Task const task = task_of(1, Layout::contiguous(64, 2), Layout::contiguous(64, 2));
    TestGraph graph = part_of({}, task, false);
    graph.fields<SdpaForwardFields>().left_bound = 8;
    graph.fields<SdpaForwardFields>().right_bound = 0;
    Rewritable const part(graph);
    CHECK(part.text(rewrite::gather(*part, task, 1)) == R"(program gather(1)
scratch 0: 1024 bytes
scratch 1: 1024 bytes
1. start the exchange of keys and values of all heads
2. SDPA_FORWARD diagonal_alignment=BOTTOM_RIGHT left_bound=8 right_bound=0
   reads Q: Q + 256 [1, 4, 24, 16] HALF strides [2048, 512, 16, 1]
   reads K: K + 32 [1, 2, 31, 16] HALF strides [1024, 512, 16, 1]
   reads V: V + 32 [1, 2, 31, 16] HALF strides [1024, 512, 16, 1]
   writes O: O + 256 [1, 4, 24, 16] HALF strides [2048, 512, 16, 1]
3. copy
   reads terms: K [1, 1, 2, 8, 16] HALF strides [0, 1024, 512, 16, 1]
   writes result: scratch 0 + 448 [1, 2, 8, 16] HALF strides [480, 16, 32, 1]
4. copy
   reads terms: V [1, 1, 2, 8, 16] HALF strides [0, 1024, 512, 16, 1]
   writes result: scratch 1 + 448 [1, 2, 8, 16] HALF strides [480, 16, 32, 1]
5. finish the exchange of keys and values of all heads
   writes from rank 0: scratch 0 [1, 7, 2, 16] HALF strides [480, 32, 16, 1]
   writes from rank 0: scratch 1 [1, 7, 2, 16] HALF strides [480, 32, 16, 1]
6. SDPA_FORWARD diagonal_alignment=BOTTOM_RIGHT left_bound=8 right_bound=0
   reads Q: Q [1, 4, 8, 16] HALF strides [2048, 512, 16, 1]
   reads K: scratch 0 [1, 2, 15, 16] HALF strides [480, 16, 32, 1]
   reads V: scratch 1 [1, 2, 15, 16] HALF strides [480, 16, 32, 1]
   writes O: O [1, 4, 8, 16] HALF strides [2048, 512, 16, 1]
)");
}

TEST_CASE("gather: score modifiers and ALiBi count from the places in the whole sequence, stage by stage") {
    group::Task const task = task_of(1, Layout::contiguous(8, 2), Layout::contiguous(8, 2));
    TestGraph graph = part_of({}, task, false);
    graph.fields<SdpaForwardFields>().alibi_mask = true;
    graph.fields<SdpaForwardFields>().left_bound = 3;
    graph.fields<SdpaForwardFields>().right_bound = 0;
    for (int const port : {Score, ScoreMod}) graph.connect(port, {1, 4, 4, 4}, DataType_t::FLOAT).is_virtual = true;
    Node& node = graph.add_node(NodeKind::Pointwise, "add");
    std::get<PointwiseFields>(node.fields).mode = PointwiseMode_t::ADD;
    node.compute_data_type = DataType_t::FLOAT;
    node.ports[pointwise::In0] = graph.slot(Score);
    node.ports[pointwise::Out0] = graph.slot(ScoreMod);
    node.ports[pointwise::In1] = graph.add("of rows", {1, 4, 4, 1}, DataType_t::FLOAT);
    Rewritable const part(graph);
    auto const program = rewrite::gather(*part, task, 2);
    CHECK_THAT(part.text(program),
               Catch::Contains("left_bound=3 right_bound=0, scores modified by 12 operations") &&
                   Catch::Contains("reads of rows: of rows + 32 [1, 2, 4, 1] FLOAT strides [16, 4, 1, 1]"));
    std::vector<std::int32_t> shifts;
    for (rewrite::Step const& step : program.value().steps) {
        auto const* const attend = std::get_if<rewrite::Attend>(&step);
        if (attend == nullptr) continue;
        for (TensorSpec const& tensor : attend->graph->spec().tensors) {
            bool const is_integer = tensor.value && tensor.data_type == DataType_t::INT32;
            if (is_integer) shifts.push_back(static_cast<std::int32_t>(tensor.value->bits));
        }
    }
    // Keys from 2, queries from 4, in each stage.
    CHECK(shifts == std::vector<std::int32_t>{-2, -2});
}

TEST_CASE("gather: lengths are those of each part, once for all stages, and gradients past them are cleared") {
    group::Task const task = task_of(1, Layout::contiguous(8, 2), Layout::contiguous(8, 2));
    TestGraph graph = with_lengths(part_of({}, task, true));
    graph.attention_options().right_bound = 0;
    Rewritable const part(graph);
    auto const program = rewrite::gather(*part, task, 2);
    REQUIRE(program.error().get_message() == "");
    std::vector<rewrite::SplitLengths> splits;
    std::size_t attends = 0, clears = 0;
    for (rewrite::Step const& step : program.value().steps) {
        if (std::holds_alternative<rewrite::Attend>(step)) ++attends;
        auto const* const joint = std::get_if<rewrite::Joint>(&step);
        if (joint == nullptr) continue;
        if (auto const* split = std::get_if<rewrite::SplitLengths>(joint)) splits.push_back(*split);
        if (auto const* clear = std::get_if<rewrite::ClearPadding>(joint)) {
            CHECK(clear->tensors.size() == 3);
            ++clears;
        }
    }
    // The diagonal part, and the keys left of it: of each stage.
    CHECK(attends == 4);
    CHECK(clears == 4);
    REQUIRE(splits.size() == 2);
    for (rewrite::SplitLengths const& split : splits) {
        CHECK(split.first_query == 4);
        CHECK(split.most_queries == 4);
        CHECK(split.chunk == 4);
    }
    CHECK(splits[0].first_key == 4);
    CHECK(splits[1].first_key == 0);
}

TEST_CASE("gather: keys of documents travel no further than a document reaches") {
    Layout const layout = Layout::contiguous(400, 4);
    auto const keys_of_ranks = [&](std::int64_t longest, bool is_causal) {
        TestGraph graph = with_lengths(forward_graph({.queries = longest, .keys = longest}));
        auto const offset = graph.add("starts", {2, 1, 1, 1}, DataType_t::INT32);
        for (int const port : {Q, K, V, O}) graph.at(port).ragged_offset = offset;
        if (is_causal) graph.fields<SdpaForwardFields>().right_bound = 0;
        Rewritable const part(graph);
        std::vector<rewrite::Span> keys;
        for (auto const& chunk : rewrite::query_chunks(*part, task_of(0, layout, layout))) keys.push_back(chunk.keys);
        return keys;
    };
    using Spans = std::vector<rewrite::Span>;
    CHECK(keys_of_ranks(400, true) == Spans{{0, 100}, {0, 200}, {0, 300}, {0, 400}});
    CHECK(keys_of_ranks(31, true) == Spans{{0, 100}, {70, 200}, {170, 300}, {270, 400}});
    // Documents of keys may start elsewhere.
    CHECK(keys_of_ranks(31, false) == Spans(4, {0, 400}));
}

TEST_CASE("all_to_all: a rank gets its heads of all tokens, and gives results back") {
    group::Task const task = task_of(1, Layout::contiguous(5, 2), Layout::contiguous(5, 2));
    Rewritable const part(part_of({}, task, false));
    CHECK(part.text(rewrite::all_to_all(*part, task)) == R"(program all_to_all
scratch 0: 512 bytes
scratch 1: 256 bytes
scratch 2: 256 bytes
scratch 3: 256 bytes
scratch 4: 256 bytes
scratch 5: 256 bytes
scratch 6: 512 bytes
scratch 7: 256 bytes
1. copy
   reads terms: Q [1, 1, 2, 2, 16] HALF strides [0, 128, 32, 16, 1]
   writes result: scratch 1 [1, 2, 2, 16] HALF strides [64, 16, 32, 1]
2. copy
   reads terms: Q + 128 [1, 1, 2, 2, 16] HALF strides [0, 128, 32, 16, 1]
   writes result: scratch 0 + 192 [1, 2, 2, 16] HALF strides [160, 16, 32, 1]
3. copy
   reads terms: K [1, 1, 1, 2, 16] HALF strides [0, 64, 32, 16, 1]
   writes result: scratch 3 [1, 1, 2, 16] HALF strides [32, 16, 16, 1]
4. copy
   reads terms: K + 64 [1, 1, 1, 2, 16] HALF strides [0, 64, 32, 16, 1]
   writes result: scratch 2 + 96 [1, 1, 2, 16] HALF strides [80, 16, 16, 1]
5. copy
   reads terms: V [1, 1, 1, 2, 16] HALF strides [0, 64, 32, 16, 1]
   writes result: scratch 5 [1, 1, 2, 16] HALF strides [32, 16, 16, 1]
6. copy
   reads terms: V + 64 [1, 1, 1, 2, 16] HALF strides [0, 64, 32, 16, 1]
   writes result: scratch 4 + 96 [1, 1, 2, 16] HALF strides [80, 16, 16, 1]
7. start the exchange of inputs by heads
   reads to rank 0: scratch 1 [1, 2, 2, 16] HALF
   reads to rank 0: scratch 3 [1, 2, 1, 16] HALF
   reads to rank 0: scratch 5 [1, 2, 1, 16] HALF
8. finish the exchange of inputs by heads
   writes from rank 0: scratch 0 [1, 3, 2, 16] HALF strides [160, 32, 16, 1]
   writes from rank 0: scratch 2 [1, 3, 1, 16] HALF strides [80, 16, 16, 1]
   writes from rank 0: scratch 4 [1, 3, 1, 16] HALF strides [80, 16, 16, 1]
9. SDPA_FORWARD
   reads Q: scratch 0 [1, 2, 5, 16] HALF strides [160, 16, 32, 1]
   reads K: scratch 2 [1, 1, 5, 16] HALF strides [80, 16, 16, 1]
   reads V: scratch 4 [1, 1, 5, 16] HALF strides [80, 16, 16, 1]
   writes O: scratch 6 [1, 2, 5, 16] HALF strides [160, 16, 32, 1]
10. start the exchange of results by tokens
   reads to rank 0: scratch 6 [1, 3, 2, 16] HALF strides [160, 32, 16, 1]
11. finish the exchange of results by tokens
   writes from rank 0: scratch 7 [1, 2, 2, 16] HALF
12. copy
   reads terms: scratch 7 [1, 1, 2, 2, 16] HALF strides [0, 64, 16, 32, 1]
   writes result: O [1, 2, 2, 16] HALF strides [128, 32, 16, 1]
13. copy
   reads terms: scratch 6 + 192 [1, 1, 2, 2, 16] HALF strides [0, 160, 16, 32, 1]
   writes result: O + 128 [1, 2, 2, 16] HALF strides [128, 32, 16, 1]
)");
}

TEST_CASE("groups: what each rank sends is what the others receive, in every exchange") {
    sdpa_test::Random random(11);
    for (int index = 0; index < 300; ++index) {
        int const ranks = static_cast<int>(random.between(1, 5));
        std::int64_t const length = random.between(2 * ranks, 40);
        Problem const sizes{.batches = random.between(1, 2), .heads = 8, .key_heads = 4};
        Layout const queries = random.flip() ? Layout::head_tail(length, ranks) : Layout::contiguous(length, ranks);
        Layout const keys = random.flip() ? queries : Layout::contiguous(length + 3, ranks);
        bool const is_backward = random.flip();
        INFO("case " << index << ": " << length << " tokens, " << ranks << " ranks, backward " << is_backward);
        check_fit(programs_of(sizes, queries, keys, is_backward, gather_in(static_cast<int>(random.pick({1, 2, 4})))));
        if (4 % ranks == 0) check_fit(programs_of(sizes, queries, keys, is_backward, rewrite::all_to_all));
        check_fit(programs_of(sizes, queries, queries, is_backward, rewrite::ring));
    }
}

namespace {

std::int64_t scratch_of(Program const& program) {
    return std::accumulate(program.scratch.begin(), program.scratch.end(), std::int64_t{0});
}

// The greatest scratch of a rank, of so many that have a part of the sequence each.
std::int64_t scratch_of(int ranks, bool is_backward, Way const& way) {
    Problem const sizes{.heads = 8, .key_heads = 4};
    Layout const layout = Layout::head_tail(16 * ranks, ranks);
    std::int64_t most = 0;
    for (Program const& program : programs_of(sizes, layout, layout, is_backward, way).programs) {
        most = std::max(most, scratch_of(program));
    }
    return most;
}

}  // namespace

TEST_CASE("ring: the memory of a rank does not grow with their number") {
    bool const is_backward = GENERATE(false, true);
    std::int64_t const scratch = scratch_of(2, is_backward, rewrite::ring);
    for (int const ranks : {4, 8}) {
        CHECK(scratch_of(ranks, is_backward, rewrite::ring) == scratch);
        CHECK(scratch_of(ranks, is_backward, gather_in(1)) > scratch_of(2, is_backward, gather_in(1)));
    }
}

TEST_CASE("ring: with a window shards go as far as some rank sees them") {
    auto const exchanges = [](std::optional<std::int64_t> left, std::optional<std::int64_t> right) {
        group::Task const task = task_of(2, Layout::contiguous(40, 5), Layout::contiguous(40, 5));
        TestGraph graph = part_of({}, task, false);
        graph.fields<SdpaForwardFields>().left_bound = left;
        graph.fields<SdpaForwardFields>().right_bound = right;
        Rewritable const part(graph);
        return exchanges_of(rewrite::ring(*part, task).value()).size();
    };
    CHECK(exchanges(1, 0) == 0);
    CHECK(exchanges(9, 0) == 1);
    CHECK(exchanges(10, 0) == 2);
    CHECK(exchanges({}, 0) == 4);
    CHECK(exchanges(1, 1) == 4);  // the rank behind, which is four steps away
}

TEST_CASE("ring: parts of causal attention are joined by their Stats, and the last result is the rank's") {
    group::Task const task = task_of(1, Layout::contiguous(4, 2), Layout::contiguous(4, 2));
    TestGraph graph = part_of({}, task, false);
    graph.fields<SdpaForwardFields>().right_bound = 0;
    Rewritable const part(graph);
    CHECK(part.text(rewrite::ring(*part, task)) == R"(program ring
scratch 0: 256 bytes
scratch 1: 256 bytes
scratch 2: 256 bytes
scratch 3: 256 bytes
scratch 4: 256 bytes
scratch 5: 1024 bytes
scratch 6: 256 bytes
scratch 7: 256 bytes
1. copy
   reads terms: K [1, 1, 2, 2, 16] HALF strides [0, 64, 32, 16, 1]
   writes result: scratch 0 [1, 2, 2, 16] HALF strides [64, 16, 32, 1]
2. copy
   reads terms: V [1, 1, 2, 2, 16] HALF strides [0, 64, 32, 16, 1]
   writes result: scratch 2 [1, 2, 2, 16] HALF strides [64, 16, 32, 1]
3. start the exchange of keys and values for step 2 of 2
   reads to rank 0: scratch 0 [1, 2, 2, 16] HALF
   reads to rank 0: scratch 2 [1, 2, 2, 16] HALF
4. SDPA_FORWARD right_bound=0 generate_stats=true
   reads Q: Q [1, 4, 2, 16] HALF
   reads K: scratch 0 [1, 2, 2, 16] HALF strides [64, 16, 32, 1]
   reads V: scratch 2 [1, 2, 2, 16] HALF strides [64, 16, 32, 1]
   writes O: scratch 4 [1, 4, 2, 16] HALF
   writes Stats: scratch 6 [1, 4, 2, 1] FLOAT
5. copy
   reads terms: scratch 4 [1, 1, 4, 2, 16] HALF strides [0, 128, 32, 16, 1]
   writes result: scratch 5 [1, 4, 2, 16] FLOAT
6. finish the exchange of keys and values for step 2 of 2
   writes from rank 0: scratch 1 [1, 2, 2, 16] HALF
   writes from rank 0: scratch 3 [1, 2, 2, 16] HALF
7. SDPA_FORWARD generate_stats=true
   reads Q: Q [1, 4, 2, 16] HALF
   reads K: scratch 1 [1, 2, 2, 16] HALF strides [64, 16, 32, 1]
   reads V: scratch 3 [1, 2, 2, 16] HALF strides [64, 16, 32, 1]
   writes O: scratch 4 [1, 4, 2, 16] HALF
   writes Stats: scratch 6 + 32 [1, 4, 2, 1] FLOAT
8. copy
   reads terms: scratch 4 [1, 1, 4, 2, 16] HALF strides [0, 128, 32, 16, 1]
   writes result: scratch 5 + 512 [1, 4, 2, 16] FLOAT
9. merge
   reads partial O: scratch 5 [2, 1, 4, 2, 16] FLOAT
   reads partial Stats: scratch 6 [2, 1, 4, 2, 1] FLOAT
   writes O: scratch 5 [1, 4, 2, 16] FLOAT
   writes Stats: scratch 7 [1, 4, 2, 1] FLOAT
10. copy
   reads terms: scratch 7 [1, 1, 4, 2, 1] FLOAT strides [0, 8, 2, 1, 1]
   writes result: scratch 6 [1, 4, 2, 1] FLOAT
11. copy
   reads terms: scratch 5 [1, 1, 4, 2, 16] FLOAT strides [0, 128, 32, 16, 1]
   writes result: O [1, 4, 2, 16] HALF
)");
}

TEST_CASE("groups: the model counts the bytes that ranks receive") {
    Problem const sizes{.heads = 8, .key_heads = 4};
    Layout const layout = Layout::head_tail(37, 4);
    for (bool const is_backward : {false, true}) {
        auto const gathered = programs_of(sizes, layout, layout, is_backward, gather_in(2));
        auto const by_heads = programs_of(sizes, layout, layout, is_backward, rewrite::all_to_all);
        for (int rank = 0; rank < 4; ++rank) {
            group::Task const task = task_of(rank, layout, layout);
            Rewritable const part(part_of(sizes, task, is_backward));
            auto const gather = rewrite::received_by_gather(*part, task, rank);
            auto const heads = rewrite::received_by_all_to_all(*part, task, rank);
            CHECK(gather.keys + gather.gradients == gathered.bytes[static_cast<std::size_t>(rank)]);
            CHECK(heads.keys + heads.gradients == by_heads.bytes[static_cast<std::size_t>(rank)]);
        }
    }
}

TEST_CASE("groups: the model counts the scratch of keys and of their gradients") {
    Problem const sizes{.heads = 8, .key_heads = 4};
    Layout const zigzag = Layout::head_tail(64, 4), half = Layout::contiguous(64, 2);
    auto const most = [&](Layout const& layout, bool is_causal, int stages) {
        std::int64_t bytes = 0;
        double modeled = 0.0;
        for (int rank = 0; rank < layout.ranks(); ++rank) {
            group::Task const task = task_of(rank, layout, layout);
            TestGraph graph = part_of(sizes, task, true);
            if (is_causal) graph.attention_options().right_bound = 0;
            Rewritable const part(graph);
            bytes = std::max(bytes, scratch_of(rewrite::gather(*part, task, stages).value()));
            modeled = rewrite::scratch_of_gather(*part, task, stages);
        }
        return static_cast<double>(bytes) - modeled;
    };
    CHECK(most(zigzag, false, 1) == 0.0);
    CHECK(most(zigzag, false, 4) == 0.0);
    CHECK(most(half, false, 1) == 0.0);
    // The gradient of 32 queries from the keys left of their diagonal.
    CHECK(most(half, true, 1) == 32 * 8 * 16 * 2);
}

TEST_CASE("groups: all ranks choose the same way, the one that waits less") {
    auto const name_for = [](Problem sizes, std::int64_t length, int ranks, int rank, bool is_backward = false) {
        group::Task const task = task_of(rank, Layout::head_tail(length, ranks), Layout::head_tail(length, ranks));
        sizes.columns = 128;
        TestGraph graph = part_of(sizes, task, is_backward);
        graph.attention_options().right_bound = 0;
        Rewritable const part(graph);
        auto const program = rewrite::program_in_group(part.graph(), task);
        return program.is_good() ? program.value().name : program.error().get_message();
    };
    // On two H100s one stage took 15.0 ms forward and 42.0 backward, four took 15.9 and 42.3.
    for (bool const is_backward : {false, true}) {
        CHECK(name_for({.heads = 16, .key_heads = 16}, 65536, 2, 0, is_backward) == "gather(1)");
    }
    for (int rank = 0; rank < 4; ++rank) {
        CHECK(name_for({.heads = 64, .key_heads = 8}, 32768, 4, rank) == "gather(1)");
        CHECK(name_for({.heads = 16, .key_heads = 16}, 4096, 4, rank) == "all_to_all");
    }
    // The gradients of all keys, and the keys, take more than 40 GB of scratch.
    for (int const rank : {0, 7}) {
        CHECK(name_for({.heads = 15, .key_heads = 15}, 2097152, 8, rank, true) == "ring");
        CHECK(name_for({.heads = 16, .key_heads = 16}, 2097152, 8, rank, true) == "all_to_all");
        CHECK(name_for({.heads = 13, .key_heads = 13}, 2097152, 8, rank) == "gather(1)");
    }
    // One exchange would take more than a quarter of attention's time.
    for (int rank = 0; rank < 8; ++rank) {
        CHECK(name_for({.heads = 12, .key_heads = 12}, 131072, 8, rank) == "gather(2)");
        CHECK(name_for({.heads = 15, .key_heads = 15}, 131072, 8, rank) == "gather(3)");
    }
}
