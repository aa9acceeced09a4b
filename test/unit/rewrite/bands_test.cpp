// The programs of bands, step by step.
#include "rewrite/rewrites/rewrites.h"
#include "unit/rewrite/attention_graphs.h"

using namespace test;

namespace {

std::string program_of(Problem const& sizes, std::int64_t left, std::int64_t right,
                       DiagonalAlignment_t alignment = DiagonalAlignment_t::TOP_LEFT) {
    TestGraph graph = backward_graph(sizes);
    graph.attention_options().left_bound = left;
    graph.attention_options().right_bound = right;
    graph.attention_options().diagonal_alignment = alignment;
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::bands(*rewritable));
}

std::size_t steps_of(std::string const& program) {
    std::size_t steps = 0;
    while (program.find("\n" + std::to_string(steps + 1) + ". ") != std::string::npos) ++steps;
    return steps;
}

}  // namespace

TEST_CASE("bands: a causal window over shifted keys, the keys before the shift, and queries behind the diagonal") {
    CHECK(program_of({.queries = 8}, 3, 2) == R"(program bands
scratch 0: 512 bytes
scratch 1: 256 bytes
scratch 2: 256 bytes
1. SDPA_BACKWARD left_bound=5 right_bound=0
   reads Q: Q [1, 4, 6, 16] HALF strides [512, 128, 16, 1]
   reads K: K + 64 [1, 2, 6, 16] HALF strides [256, 128, 16, 1]
   reads V: V + 64 [1, 2, 6, 16] HALF strides [256, 128, 16, 1]
   reads O: O [1, 4, 6, 16] HALF strides [512, 128, 16, 1]
   reads dO: dO [1, 4, 6, 16] HALF strides [512, 128, 16, 1]
   reads Stats: Stats [1, 4, 6, 1] FLOAT strides [32, 8, 1, 1]
   writes dQ: dQ [1, 4, 6, 16] HALF strides [512, 128, 16, 1]
   writes dK: dK + 64 [1, 2, 6, 16] HALF strides [256, 128, 16, 1]
   writes dV: dV + 64 [1, 2, 6, 16] HALF strides [256, 128, 16, 1]
2. SDPA_BACKWARD left_bound=3 right_bound=2, in parallel to the steps before it
   reads Q: Q [1, 4, 4, 16] HALF strides [512, 128, 16, 1]
   reads K: K [1, 2, 2, 16] HALF strides [256, 128, 16, 1]
   reads V: V [1, 2, 2, 16] HALF strides [256, 128, 16, 1]
   reads O: O [1, 4, 4, 16] HALF strides [512, 128, 16, 1]
   reads dO: dO [1, 4, 4, 16] HALF strides [512, 128, 16, 1]
   reads Stats: Stats [1, 4, 4, 1] FLOAT strides [32, 8, 1, 1]
   writes dQ: scratch 0 [1, 4, 4, 16] HALF
   writes dK: dK [1, 2, 2, 16] HALF strides [256, 128, 16, 1]
   writes dV: dV [1, 2, 2, 16] HALF strides [256, 128, 16, 1]
3. add to the result
   reads terms: scratch 0 [1, 1, 4, 4, 16] HALF strides [0, 256, 64, 16, 1]
   writes result: dQ [1, 4, 4, 16] HALF strides [512, 128, 16, 1]
4. SDPA_BACKWARD left_bound=1 right_bound=4, in parallel to the steps before it
   reads Q: Q + 192 [1, 4, 2, 16] HALF strides [512, 128, 16, 1]
   reads K: K + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   reads V: V + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   reads O: O + 192 [1, 4, 2, 16] HALF strides [512, 128, 16, 1]
   reads dO: dO + 192 [1, 4, 2, 16] HALF strides [512, 128, 16, 1]
   reads Stats: Stats + 24 [1, 4, 2, 1] FLOAT strides [32, 8, 1, 1] aligned to 8
   writes dQ: dQ + 192 [1, 4, 2, 16] HALF strides [512, 128, 16, 1]
   writes dK: scratch 1 [1, 2, 4, 16] HALF
   writes dV: scratch 2 [1, 2, 4, 16] HALF
5. add to the result
   reads terms: scratch 1 [1, 1, 2, 4, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: dK + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
6. add to the result
   reads terms: scratch 2 [1, 1, 2, 4, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: dV + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
)");
}

TEST_CASE("bands: at the bottom right all queries have the diagonal, so that there are no last ones") {
    CHECK(program_of({.queries = 4}, 2, 0, DiagonalAlignment_t::BOTTOM_RIGHT) == R"(program bands
scratch 0: 256 bytes
1. SDPA_BACKWARD left_bound=2 right_bound=0
   reads Q: Q [1, 4, 4, 16] HALF
   reads K: K + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   reads V: V + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   reads O: O [1, 4, 4, 16] HALF
   reads dO: dO [1, 4, 4, 16] HALF
   reads Stats: Stats [1, 4, 4, 1] FLOAT
   writes dQ: dQ [1, 4, 4, 16] HALF
   writes dK: dK + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   writes dV: dV + 128 [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
2. SDPA_BACKWARD diagonal_alignment=BOTTOM_RIGHT left_bound=1 right_bound=1, in parallel to the steps before it
   reads Q: Q [1, 4, 1, 16] HALF strides [256, 64, 16, 1]
   reads K: K [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   reads V: V [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   reads O: O [1, 4, 1, 16] HALF strides [256, 64, 16, 1]
   reads dO: dO [1, 4, 1, 16] HALF strides [256, 64, 16, 1]
   reads Stats: Stats [1, 4, 1, 1] FLOAT strides [16, 4, 1, 1]
   writes dQ: scratch 0 [1, 4, 1, 16] HALF
   writes dK: dK [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
   writes dV: dV [1, 2, 4, 16] HALF strides [256, 128, 16, 1]
3. add to the result
   reads terms: scratch 0 [1, 1, 4, 1, 16] HALF strides [0, 64, 16, 16, 1]
   writes result: dQ [1, 4, 1, 16] HALF strides [256, 64, 16, 1]
)");
}

TEST_CASE("bands: windows that begin before the first key are cut at it") {
    CHECK(steps_of(program_of({.queries = 8}, 100, 2)) == 6);
    CHECK(steps_of(program_of({.queries = 1}, 100, 2)) == 3);
    CHECK(steps_of(program_of({.queries = 12}, 3, 2)) == 6);
}
