// The programs of few queries, step by step.
#include "rewrite/rewrites/rewrites.h"
#include "unit/rewrite/attention_graphs.h"

using namespace test;
using namespace attention;

namespace {

std::string program_of(TestGraph const& graph, std::int64_t splits) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::few_queries(*rewritable, splits));
}

TestGraph causal_graph(Problem const& sizes) {
    TestGraph graph = forward_graph(sizes);
    graph.attention_options().right_bound = 0;
    graph.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    return graph;
}

// A graph with 16 rows in each page, and as many keys as there are pages for.
TestGraph paged_graph(std::int64_t pages) {
    TestGraph graph = with_lengths(forward_graph({.batches = pages, .keys = 16}));  // K and V are the containers
    graph.resize(Q, {1, 4, 2, 16});
    for (int const port : {SeqLenQ, SeqLenKv}) graph.resize(port, {1, 1, 1, 1});
    for (int const port : {PageTableK, PageTableV}) graph.connect(port, {1, 1, pages, 1}, DataType_t::INT32);
    graph.fields<SdpaForwardFields>().max_seq_len_kv = 16 * pages;
    return graph;
}

// Rows before heads in memory.
void lay_out_by_rows(TensorSpec& tensor) {
    Dims const& dim = tensor.dim;
    tensor.stride = {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1};
}

}  // namespace

TEST_CASE("few queries: splits join the batch, the group of a key head its rows, and the parts are merged") {
    CHECK(program_of(forward_graph({.keys = 512}), 2) == R"(program few_queries(2)
scratch 0: 512 bytes
scratch 1: 256 bytes
1. SDPA_FORWARD generate_stats=true
   reads Q: Q [2, 2, 4, 16] HALF strides [0, 64, 16, 1]
   reads K: K [2, 2, 256, 16] HALF strides [4096, 8192, 16, 1]
   reads V: V [2, 2, 256, 16] HALF strides [4096, 8192, 16, 1]
   writes O: scratch 0 [2, 2, 4, 16] HALF
   writes Stats: scratch 1 [2, 2, 4, 1] FLOAT
2. merge
   reads partial O: scratch 0 [2, 1, 2, 2, 2, 16] HALF
   reads partial Stats: scratch 1 [2, 1, 2, 2, 2, 1] FLOAT
   writes O: O [1, 2, 2, 2, 16] HALF
)");
}

TEST_CASE("few queries: one part writes where the user wants its results") {
    CHECK(program_of(forward_graph({.batches = 2}), 1) == R"(program few_queries(1)
1. SDPA_FORWARD
   reads Q: Q [2, 2, 4, 16] HALF
   reads K: K [2, 2, 8, 16] HALF
   reads V: V [2, 2, 8, 16] HALF
   writes O: O [2, 2, 4, 16] HALF
)");
}

TEST_CASE("few queries: keys that do not divide, and those under the diagonal, are a part of their own") {
    CHECK(program_of(causal_graph({.keys = 600}), 2) == R"(program few_queries(2)
scratch 0: 768 bytes
scratch 1: 256 bytes
1. SDPA_FORWARD generate_stats=true
   reads Q: Q [2, 2, 4, 16] HALF strides [0, 64, 16, 1]
   reads K: K [2, 2, 288, 16] HALF strides [4608, 9600, 16, 1]
   reads V: V [2, 2, 288, 16] HALF strides [4608, 9600, 16, 1]
   writes O: scratch 0 [2, 2, 4, 16] HALF
   writes Stats: scratch 1 [2, 2, 4, 1] FLOAT
2. SDPA_FORWARD diagonal_alignment=BOTTOM_RIGHT right_bound=0 generate_stats=true, in parallel to the steps before it
   reads Q: Q [1, 4, 2, 16] HALF
   reads K: K + 18432 [1, 2, 24, 16] HALF strides [19200, 9600, 16, 1]
   reads V: V + 18432 [1, 2, 24, 16] HALF strides [19200, 9600, 16, 1]
   writes O: scratch 0 + 512 [1, 4, 2, 16] HALF
   writes Stats: scratch 1 + 64 [1, 4, 2, 1] FLOAT
3. merge
   reads partial O: scratch 0 [3, 1, 2, 2, 2, 16] HALF
   reads partial Stats: scratch 1 [3, 1, 2, 2, 2, 1] FLOAT
   writes O: O [1, 2, 2, 2, 16] HALF
)");
}

TEST_CASE("few queries: one query needs no mask") {
    std::string const text = program_of(causal_graph({.queries = 1, .keys = 600}), 2);
    CHECK(text.find("right_bound") == std::string::npos);
    CHECK(text.find("diagonal_alignment") == std::string::npos);
}

TEST_CASE("few queries: rows before heads are rows of the group, or copied beside more key heads or a rest") {
    TestGraph graph = forward_graph({.key_heads = 1, .keys = 512});
    lay_out_by_rows(graph.at(Q));
    CHECK(program_of(graph, 2).find("reads Q: Q [2, 1, 8, 16] HALF strides [0, 64, 16, 1]") != std::string::npos);
    for (Problem const& problem : {Problem{.keys = 512}, Problem{.key_heads = 1, .keys = 601}}) {
        TestGraph copied = forward_graph(problem);
        lay_out_by_rows(copied.at(Q));
        INFO(program_of(copied, 2));
        CHECK(program_of(copied, 2).find("1. copy\n   reads terms: Q [1, ") != std::string::npos);
    }
}

TEST_CASE("few queries: splits join a single head of keys rather than several batch entries, for which Q is copied") {
    CHECK(program_of(forward_graph({.batches = 3, .key_heads = 1, .keys = 512}), 2) == R"(program few_queries(2)
scratch 0: 1536 bytes
scratch 1: 256 bytes
1. SDPA_FORWARD generate_stats=true
   reads Q: Q [3, 2, 8, 16] HALF strides [128, 0, 16, 1]
   reads K: K [3, 2, 256, 16] HALF
   reads V: V [3, 2, 256, 16] HALF
   writes O: scratch 0 [3, 2, 8, 16] HALF
   writes Stats: scratch 1 [3, 2, 8, 1] FLOAT
2. merge
   reads partial O: scratch 0 [2, 3, 1, 4, 2, 16] HALF strides [128, 256, 256, 32, 16, 1]
   reads partial Stats: scratch 1 [2, 3, 1, 4, 2, 1] FLOAT strides [8, 16, 16, 2, 1, 1]
   writes O: O [3, 1, 4, 2, 16] HALF
)");
    CHECK(program_of(forward_graph({.batches = 3, .keys = 512}), 2).find("\n1. copy\n") != std::string::npos);
}

TEST_CASE("few queries: with lengths each split has its own, and parts without keys are told to the merge") {
    CHECK(program_of(with_lengths(forward_graph({.key_heads = 1, .keys = 512})), 2) == R"(program few_queries(2)
scratch 0: 512 bytes
scratch 1: 256 bytes
scratch 2: 256 bytes
scratch 3: 512 bytes
scratch 4: 256 bytes
1. copy
   reads terms: Q [1, 1, 1, 2, 4, 2, 16] HALF strides [0, 128, 128, 0, 32, 16, 1]
   writes result: scratch 0 [1, 1, 2, 4, 2, 16] HALF strides [128, 128, 128, 16, 64, 1]
2. split lengths group=4 chunk=256
   reads lengths of queries: seq_len_q [1, 2] INT32 strides [1, 0]
   reads lengths of keys: seq_len_kv [1, 2] INT32 strides [1, 0]
   writes lengths of rows: scratch 1 [1, 2] INT32
   writes lengths of parts: scratch 2 [1, 2] INT32
3. SDPA_FORWARD padding_mask=true generate_stats=true
   reads Q: scratch 0 [2, 1, 8, 16] HALF
   reads K: K [2, 1, 256, 16] HALF strides [4096, 8192, 16, 1]
   reads V: V [2, 1, 256, 16] HALF strides [4096, 8192, 16, 1]
   writes O: scratch 3 [2, 1, 8, 16] HALF
   writes Stats: scratch 4 [2, 1, 8, 1] FLOAT
   reads seq_len_q: scratch 1 [2, 1, 1, 1] INT32
   reads seq_len_kv: scratch 2 [2, 1, 1, 1] INT32
4. merge
   reads partial O: scratch 3 [2, 1, 1, 4, 2, 16] HALF strides [128, 128, 128, 16, 64, 1]
   reads partial Stats: scratch 4 [2, 1, 1, 4, 2, 1] FLOAT strides [8, 8, 8, 1, 4, 1]
   writes O: O [1, 1, 4, 2, 16] HALF
   reads partial lengths: scratch 2 [2, 1, 1, 4, 2, 1] INT32 strides [1, 2, 0, 0, 0, 0]
)");
}

TEST_CASE("few queries: pages are split by their tables") {
    std::string const text = program_of(paged_graph(4), 2);
    INFO(text);
    CHECK(text.find("max_seq_len_kv=32\n") != text.npos);
    CHECK(text.find("\n   reads K: K [4, 2, 16, 16] HALF\n") != text.npos);
    CHECK(text.find("\n   reads page_table_k: page_table_k [2, 1, 2, 1] INT32 strides [2, 4, 1, 1]\n") != text.npos);
    CHECK(program_of(paged_graph(4), 3) == "few_queries: 64 keys do not make 3 splits of whole pages");
}

TEST_CASE("few queries: with lengths, keys that do not divide are refused, and splits that would join the heads") {
    CHECK(program_of(with_lengths(forward_graph({.key_heads = 1, .keys = 601})), 2) ==
          "few_queries: 601 keys do not make 2 equal splits, which lengths need");
    CHECK(program_of(with_lengths(forward_graph({.batches = 2, .keys = 512})), 2) ==
          "few_queries: no strides split the keys of K and V in 2, which are to be in the batch or in the heads; fewer "
          "splits, or rows without gaps, may do");
}

TEST_CASE("few queries: more splits than keys, and strides that no split has, are refused") {
    CHECK(program_of(forward_graph({}), 9) == "few_queries: 8 keys do not make 9 splits");
    TestGraph graph = forward_graph({.batches = 3, .keys = 512});
    for (int const port : {K, V}) {
        TensorSpec& tensor = graph.at(port);
        tensor.stride = {tensor.dim[1] * 512 * 16 + 16, 512 * 16 + 16, 16, 1};
    }
    CHECK(program_of(graph, 2) ==
          "few_queries: no strides split the keys of K and V in 2, which are to be in the batch or in the heads; fewer "
          "splits, or rows without gaps, may do");
}
