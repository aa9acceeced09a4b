// The programs of slices, step by step.
#include "rewrite/rewrites/rewrites.h"
#include "unit/rewrite/attention_graphs.h"

using namespace test;
using namespace attention;

namespace {

std::string program_of(TestGraph const& graph, std::int64_t count) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::slices(*rewritable, count));
}

std::vector<std::int64_t> counts_of(Problem const& sizes) {
    Rewritable const rewritable(backward_graph(sizes));
    return rewrite::slice_counts(*rewritable);
}

}  // namespace

TEST_CASE("slices: batch entries are cut first, then heads of keys, then the query heads of each") {
    CHECK(counts_of({.batches = 2, .heads = 12, .key_heads = 3}) == std::vector<std::int64_t>{2, 6, 12, 24});
    CHECK(counts_of({.batches = 4, .heads = 2, .key_heads = 2}) == std::vector<std::int64_t>{2, 4, 8});
    CHECK(counts_of({.heads = 7, .key_heads = 1}) == std::vector<std::int64_t>{7});
    CHECK(counts_of({.heads = 1, .key_heads = 1}).empty());
}

TEST_CASE("slices: heads of keys with their query heads, and a bias that all share") {
    TestGraph graph = backward_graph({.queries = 4});
    graph.connect(Bias, {1, 1, 4, 8}, DataType_t::HALF);
    CHECK(program_of(graph, 2) == R"(program slices(2)
1. SDPA_BACKWARD
   reads Q: Q [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   reads K: K [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   reads V: V [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   reads O: O [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   reads dO: dO [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   reads Stats: Stats [1, 2, 4, 1] FLOAT strides [16, 4, 1, 1]
   writes dQ: dQ [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   writes dK: dK [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   writes dV: dV [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   reads bias: bias [1, 1, 4, 8] HALF
2. SDPA_BACKWARD
   reads Q: Q + 256 [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   reads K: K + 256 [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   reads V: V + 256 [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   reads O: O + 256 [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   reads dO: dO + 256 [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   reads Stats: Stats + 32 [1, 2, 4, 1] FLOAT strides [16, 4, 1, 1]
   writes dQ: dQ + 256 [1, 2, 4, 16] HALF strides [256, 64, 16, 1]
   writes dK: dK + 256 [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   writes dV: dV + 256 [1, 1, 8, 16] HALF strides [256, 128, 16, 1]
   reads bias: bias [1, 1, 4, 8] HALF
)");
}

TEST_CASE("slices: query heads that share a head of keys have gradients of their own, which are added up") {
    CHECK(program_of(backward_graph({.heads = 2, .key_heads = 1}), 2) == R"(program slices(2)
scratch 0: 512 bytes
scratch 1: 512 bytes
1. SDPA_BACKWARD
   reads Q: Q [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   reads K: K [1, 1, 8, 16] HALF
   reads V: V [1, 1, 8, 16] HALF
   reads O: O [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   reads dO: dO [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   reads Stats: Stats [1, 1, 2, 1] FLOAT strides [4, 2, 1, 1]
   writes dQ: dQ [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   writes dK: scratch 0 [1, 1, 8, 16] HALF
   writes dV: scratch 1 [1, 1, 8, 16] HALF
2. SDPA_BACKWARD
   reads Q: Q + 64 [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   reads K: K [1, 1, 8, 16] HALF
   reads V: V [1, 1, 8, 16] HALF
   reads O: O + 64 [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   reads dO: dO + 64 [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   reads Stats: Stats + 8 [1, 1, 2, 1] FLOAT strides [4, 2, 1, 1] aligned to 8
   writes dQ: dQ + 64 [1, 1, 2, 16] HALF strides [64, 32, 16, 1]
   writes dK: scratch 0 + 256 [1, 1, 8, 16] HALF
   writes dV: scratch 1 + 256 [1, 1, 8, 16] HALF
3. sum
   reads terms: scratch 0 [2, 1, 1, 8, 16] HALF
   writes result: dK [1, 1, 8, 16] HALF
4. sum
   reads terms: scratch 1 [2, 1, 1, 8, 16] HALF
   writes result: dV [1, 1, 8, 16] HALF
)");
}

TEST_CASE("slices: a number that does not divide is refused") {
    CHECK(program_of(backward_graph({.batches = 2, .heads = 12, .key_heads = 3}), 5) ==
          "slices: 5 slices do not divide 2 batch entries, 3 heads of keys and the 4 query heads of each");
}
