// The programs of neighborhood attention along one axis, step by step, and the conditions that keep the rewrite away.
#include "rewrite/rewrites/rewrites.h"

#include "rewrite/program.h"
#include "unit/rewrite/attention_graphs.h"

#include <sstream>

using namespace test;
using namespace cudnn_frontend::nodes::neighborhood;
namespace rewrite = cudnn_frontend::rewrite;

namespace {

constexpr NodeKind kForward = NodeKind::NeighborhoodForward, kBackward = NodeKind::NeighborhoodBackward;

NeighborhoodFields& options(TestGraph& graph) {
    return const_cast<NeighborhoodFields&>(*neighborhood_fields(graph.nodes[0]));
}

std::string program_of(GraphSpec const& spec) {
    Validation const validation = validate(spec);
    REQUIRE(validation.report.to_text() == "");
    auto const program = rewrite::neighborhood_band(*validation.graph);
    return program.is_good() ? rewrite::to_text(program.value(), validation.graph->spec()) : program.error().err_msg;
}

// The steps without their operands.
std::string headings_of(std::string const& program) {
    std::string headings;
    std::istringstream lines(program);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(". ") < 3) headings += line + "\n";
    }
    return headings;
}

std::string refusal(std::string const& condition) {
    return test::refusal("neighborhood_band", {"neighborhood_band." + condition});
}

}  // namespace

TEST_CASE("neighborhood_band: forward is a window, and what the first and the last queries see") {
    CHECK(program_of(line_graph(kForward, {})) == R"(program neighborhood_band
1. SDPA_FORWARD attn_scale=0.25 diagonal_alignment=BOTTOM_RIGHT left_bound=4 right_bound=0 generate_stats=true
   reads Q: Q + 128 [1, 2, 6, 16] HALF strides [288, 16, 32, 1]
   reads K: K [1, 2, 9, 16] HALF strides [288, 16, 32, 1]
   reads V: V [1, 2, 9, 16] HALF strides [288, 16, 32, 1]
   writes O: O + 128 [1, 2, 6, 16] HALF strides [288, 16, 32, 1]
   writes Stats: Stats + 16 [1, 2, 6, 1] FLOAT strides [18, 1, 2, 1]
2. SDPA_FORWARD attn_scale=0.25 generate_stats=true, in parallel to the steps before it
   reads Q: Q [1, 2, 2, 16] HALF strides [288, 16, 32, 1]
   reads K: K [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   reads V: V [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   writes O: O [1, 2, 2, 16] HALF strides [288, 16, 32, 1]
   writes Stats: Stats [1, 2, 2, 1] FLOAT strides [18, 1, 2, 1]
3. SDPA_FORWARD attn_scale=0.25 generate_stats=true, in parallel to the steps before it
   reads Q: Q + 512 [1, 2, 1, 16] HALF strides [288, 16, 32, 1]
   reads K: K + 320 [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   reads V: V + 320 [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   writes O: O + 512 [1, 2, 1, 16] HALF strides [288, 16, 32, 1]
   writes Stats: Stats + 64 [1, 2, 1, 1] FLOAT strides [18, 1, 2, 1]
)");
}

TEST_CASE("neighborhood_band: backward is a causal window, and two borders that are added up") {
    CHECK(program_of(line_graph(kBackward, {})) == R"(program neighborhood_band
scratch 0: 512 bytes
scratch 1: 256 bytes
scratch 2: 256 bytes
1. SDPA_BACKWARD attn_scale=0.25 left_bound=4 right_bound=0
   reads Q: Q + 192 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
   reads K: K + 256 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
   reads V: V + 256 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
   reads O: O + 192 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
   reads dO: dO + 192 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
   reads Stats: Stats + 24 [1, 2, 5, 1] FLOAT strides [18, 1, 2, 1] aligned to 8
   writes dQ: dQ + 192 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
   writes dK: dK + 256 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
   writes dV: dV + 256 [1, 2, 5, 16] HALF strides [288, 16, 32, 1]
2. SDPA_BACKWARD attn_scale=0.25 left_bound=3 right_bound=4, in parallel to the steps before it
   reads Q: Q [1, 2, 6, 16] HALF strides [288, 16, 32, 1]
   reads K: K [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   reads V: V [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   reads O: O [1, 2, 6, 16] HALF strides [288, 16, 32, 1]
   reads dO: dO [1, 2, 6, 16] HALF strides [288, 16, 32, 1]
   reads Stats: Stats [1, 2, 6, 1] FLOAT strides [18, 1, 2, 1]
   writes dQ: scratch 0 [1, 2, 6, 16] HALF
   writes dK: dK [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   writes dV: dV [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
3. copy
   reads terms: scratch 0 [1, 1, 2, 3, 16] HALF strides [0, 192, 96, 16, 1]
   writes result: dQ [1, 2, 3, 16] HALF strides [288, 16, 32, 1]
4. add to the result
   reads terms: scratch 0 + 96 [1, 1, 2, 3, 16] HALF strides [0, 192, 96, 16, 1]
   writes result: dQ + 192 [1, 2, 3, 16] HALF strides [288, 16, 32, 1]
5. SDPA_BACKWARD attn_scale=0.25, in parallel to the steps before it
   reads Q: Q + 512 [1, 2, 1, 16] HALF strides [288, 16, 32, 1]
   reads K: K + 320 [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   reads V: V + 320 [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
   reads O: O + 512 [1, 2, 1, 16] HALF strides [288, 16, 32, 1]
   reads dO: dO + 512 [1, 2, 1, 16] HALF strides [288, 16, 32, 1]
   reads Stats: Stats + 64 [1, 2, 1, 1] FLOAT strides [18, 1, 2, 1]
   writes dQ: dQ + 512 [1, 2, 1, 16] HALF strides [288, 16, 32, 1]
   writes dK: scratch 1 [1, 2, 4, 16] HALF
   writes dV: scratch 2 [1, 2, 4, 16] HALF
6. add to the result
   reads terms: scratch 1 [1, 1, 2, 4, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: dK + 320 [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
7. add to the result
   reads terms: scratch 2 [1, 1, 2, 4, 16] HALF strides [0, 128, 64, 16, 1]
   writes result: dV + 320 [1, 2, 4, 16] HALF strides [288, 16, 32, 1]
)");
}

TEST_CASE("neighborhood_band: the groups of a dilation are heads, those of two lengths two sets of parts") {
    CHECK(program_of(line_graph(kForward, {.tokens = 11, .dilation = 2, .is_causal = true})) ==
          R"(program neighborhood_band
1. SDPA_FORWARD attn_scale=0.25 left_bound=4 right_bound=0 generate_stats=true
   reads Q: Q [1, 2, 6, 16] HALF strides [352, 16, 64, 1]
   reads K: K [1, 2, 6, 16] HALF strides [352, 16, 64, 1]
   reads V: V [1, 2, 6, 16] HALF strides [352, 16, 64, 1]
   writes O: O [1, 2, 6, 16] HALF strides [352, 16, 64, 1]
   writes Stats: Stats [1, 2, 6, 1] FLOAT strides [22, 1, 4, 1]
2. SDPA_FORWARD attn_scale=0.25 left_bound=4 right_bound=0 generate_stats=true
   reads Q: Q + 64 [1, 2, 5, 16] HALF strides [352, 16, 64, 1]
   reads K: K + 64 [1, 2, 5, 16] HALF strides [352, 16, 64, 1]
   reads V: V + 64 [1, 2, 5, 16] HALF strides [352, 16, 64, 1]
   writes O: O + 64 [1, 2, 5, 16] HALF strides [352, 16, 64, 1]
   writes Stats: Stats + 8 [1, 2, 5, 1] FLOAT strides [22, 1, 4, 1] aligned to 8
)");
}

TEST_CASE("neighborhood_band: the groups of a dilation are batch entries where they cannot be heads") {
    TestGraph graph = line_graph(kForward, {.tokens = 8, .dilation = 2});
    for (int const port : {Q, K, V}) graph.at(port).stride = {384, 48, 16, 1};
    CHECK(program_of(graph) == R"(program neighborhood_band
1. SDPA_FORWARD attn_scale=0.25 generate_stats=true
   reads Q: Q [2, 2, 4, 16] HALF strides [48, 16, 96, 1]
   reads K: K [2, 2, 4, 16] HALF strides [48, 16, 96, 1]
   reads V: V [2, 2, 4, 16] HALF strides [48, 16, 96, 1]
   writes O: O [2, 2, 4, 16] HALF strides [32, 16, 64, 1]
   writes Stats: Stats [2, 2, 4, 1] FLOAT strides [2, 1, 4, 1]
)");
}

TEST_CASE("neighborhood_band: a causal axis is one window in backward too, as large as the axis no left bound") {
    CHECK(headings_of(program_of(line_graph(kBackward, {.is_causal = true}))) ==
          R"(1. SDPA_BACKWARD attn_scale=0.25 left_bound=4 right_bound=0
)");
    CHECK(headings_of(program_of(line_graph(kBackward, {.tokens = 4, .is_causal = true}))) ==
          R"(1. SDPA_BACKWARD attn_scale=0.25 right_bound=0
)");
}

TEST_CASE(
    "neighborhood_band: windows of all tokens are attention without a mask, those of two keys have no last border") {
    CHECK(headings_of(program_of(line_graph(kBackward, {.tokens = 4}))) == R"(1. SDPA_BACKWARD attn_scale=0.25
)");
    CHECK(
        headings_of(program_of(line_graph(kForward, {.kernel = 2}))) ==
        R"(1. SDPA_FORWARD attn_scale=0.25 diagonal_alignment=BOTTOM_RIGHT left_bound=2 right_bound=0 generate_stats=true
2. SDPA_FORWARD attn_scale=0.25 generate_stats=true, in parallel to the steps before it
)");
}

TEST_CASE("neighborhood_band: the scale is the node's, or its default") {
    TestGraph graph = line_graph(kForward, {.tokens = 4});
    CHECK(headings_of(program_of(graph)) == R"(1. SDPA_FORWARD attn_scale=0.25 generate_stats=true
)");
    graph.fields<NeighborhoodForwardFields>().attn_scale = 2.0f;
    CHECK(headings_of(program_of(graph)) == R"(1. SDPA_FORWARD attn_scale=2 generate_stats=true
)");
}

TEST_CASE("neighborhood_band.c01: attention, and a product of neighborhood attention on its own") {
    std::string const refused = refusal("c01: a graph of one node, of neighborhood attention or its backward");
    CHECK(program_of(forward_graph({})) == refused);
    CHECK(program_of(neighborhood_graph(NodeKind::NeighborhoodQk)) == refused);
    CHECK(program_of(chain_graph()) == refused);
}

TEST_CASE("neighborhood_band.c02: a picture") {
    CHECK(program_of(neighborhood_graph(kForward)) == refusal("c02: one axis of space"));
}

TEST_CASE("neighborhood_band.c03: a relative position bias") {
    TestGraph graph = line_graph(kForward, {.kernel = 3});
    graph.connect(RelPosBias, {2, 5}, DataType_t::HALF);
    CHECK(program_of(graph) == refusal("c03: no relative position bias"));
}

TEST_CASE("neighborhood_band.c04: a window of the token itself") {
    CHECK(program_of(line_graph(kForward, {.kernel = 1})) == refusal("c04: a window of two keys or more"));
}

TEST_CASE("neighborhood_band.c05: gradients of which one has no memory") {
    TestGraph graph = line_graph(kBackward, {});
    graph.at(DK).is_virtual = true;
    graph.at(DK).data_type = DataType_t::HALF;
    CHECK(program_of(graph) == refusal("c05: memory for O, and for all three gradients in backward"));
}

TEST_CASE("neighborhood_band.c06: vectors across memory") {
    TestGraph graph = line_graph(kForward, {});
    graph.at(K).stride = {288, 2, 1, 18};
    CHECK(program_of(graph) == refusal("c06: vectors whose elements lie side by side"));
}

TEST_CASE("neighborhood_band.c07: gaps between tokens, from which no stride leads to the next group of a dilation") {
    std::string const refused =
        refusal("c07: strides by which the groups of a dilation are further heads, or batch entries of a batch of one");
    for (std::int64_t const batches : {1, 2}) {
        TestGraph graph = line_graph(kForward, {.batches = batches, .tokens = 8, .dilation = 2});
        graph.at(V).stride = {600, 64, 16, 1};
        CHECK((program_of(graph) == refused) == (batches == 2));
        options(graph).dilation = {1};
        CHECK(program_of(graph) != refused);
    }
}
