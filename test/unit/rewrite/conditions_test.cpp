// The conditions that keep a rewrite away from a graph: an id and a sentence for each.
#include "rewrite/rewrites/rewrites.h"
#include "unit/rewrite/attention_graphs.h"

using namespace test;
using namespace attention;

namespace {

std::string few_queries_of(TestGraph const& graph) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::few_queries(*rewritable, 2));
}

std::string bands_of(TestGraph const& graph) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::bands(*rewritable));
}

std::string deterministic_of(TestGraph const& graph) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::deterministic(*rewritable));
}

// A graph with as many heads of keys as of queries.
TestGraph equal_heads(Problem sizes = {}) {
    sizes.key_heads = sizes.heads;
    return backward_graph(sizes);
}

std::string slices_of(TestGraph const& graph) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::slices(*rewritable, 2));
}

// A graph with a window of two keys to the left, the diagonal and three keys to the right.
TestGraph band_graph() {
    TestGraph graph = backward_graph({.queries = 8});
    graph.attention_options().left_bound = 3;
    graph.attention_options().right_bound = 3;
    return graph;
}

TestGraph with_operand(TestGraph graph, int port, Dims dim, DataType_t type) {
    graph.connect(port, std::move(dim), type);
    return graph;
}

TestGraph packed(TestGraph graph) {
    graph = with_lengths(std::move(graph));
    TensorId const offset = graph.add("offset", {2, 1, 1, 1}, DataType_t::INT32);
    TensorSpec& q = graph.at(Q);
    q.ragged_offset = offset;
    q.stride = {q.dim[1] * q.dim[2] * q.dim[3], q.dim[3], q.dim[1] * q.dim[3], 1};
    return graph;
}

TestGraph without_memory(TestGraph graph, int port) {
    TensorSpec& result = graph.at(port);
    result.is_virtual = true;
    result.data_type = DataType_t::FLOAT;
    return graph;
}

TestGraph with_value_heads(TestGraph graph) {
    graph.resize(V, {1, 4, 8, 16});
    return graph;
}

}  // namespace

TEST_CASE("few_queries.c01: backward") {
    CHECK(few_queries_of(backward_graph({})) ==
          refusal("few_queries",
                  {"few_queries.c01: forward attention",
                   "few_queries.c02: no operands but Q, K, V, O, Stats, attn_scale, lengths and page tables"}));
}

TEST_CASE("few_queries.c02: a bias") {
    CHECK(few_queries_of(with_operand(forward_graph({}), Bias, {1, 1, 2, 8}, DataType_t::HALF)) ==
          refusal("few_queries",
                  {"few_queries.c02: no operands but Q, K, V, O, Stats, attn_scale, lengths and page tables"}));
}

TEST_CASE("few_queries.c03: Q packed by lengths") {
    CHECK(few_queries_of(packed(forward_graph({}))) ==
          refusal("few_queries", {"few_queries.c03: tensors that are neither packed by lengths nor in blocks"}));
}

TEST_CASE("few_queries.c04: masks other than a causal one at the bottom right") {
    std::string const refused =
        refusal("few_queries", {"few_queries.c04: no mask but a causal one whose diagonal ends at the bottom right"});
    TestGraph graph = forward_graph({});
    graph.attention_options().right_bound = 0;
    CHECK(few_queries_of(graph) == refused);
    graph.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    CHECK(few_queries_of(graph) != refused);
    graph.attention_options().left_bound = 3;
    CHECK(few_queries_of(graph) == refused);
    TestGraph more_queries = forward_graph({.queries = 9});
    more_queries.attention_options().right_bound = 0;
    more_queries.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    CHECK(few_queries_of(more_queries) == refused);
}

TEST_CASE("few_queries.c05: ALiBi") {
    TestGraph graph = forward_graph({});
    graph.attention_options().alibi_mask = true;
    CHECK(few_queries_of(graph) == refusal("few_queries", {"few_queries.c05: no ALiBi and no dropout"}));
}

TEST_CASE("few_queries.c06: Stats in base 2, or of 16 bits") {
    std::string const refused =
        refusal("few_queries", {"few_queries.c06: Stats, where there is one, in base e and of FLOAT"});
    TestGraph graph = forward_graph({});
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.attention_options().stats_use_log2 = true;
    graph.connect_output(Stats);
    CHECK(few_queries_of(graph) == refused);
    graph.attention_options().stats_use_log2 = false;
    CHECK(few_queries_of(graph) != refused);
    graph.at(Stats).data_type = DataType_t::BFLOAT16;
    CHECK(few_queries_of(graph) == refused);
}

TEST_CASE("few_queries.c07: more heads of V than of K") {
    CHECK(
        few_queries_of(with_value_heads(forward_graph({}))) ==
        refusal("few_queries", {"few_queries.c07: as many heads of K as of V, each for a whole number of heads of Q"}));
}

TEST_CASE("few_queries.c08: Q of 8 bits") {
    CHECK(few_queries_of(fp8_graph(NodeKind::SdpaForward)) ==
          refusal("few_queries",
                  {"few_queries.c02: no operands but Q, K, V, O, Stats, attn_scale, lengths and page tables",
                   "few_queries.c07: as many heads of K as of V, each for a whole number of heads of Q",
                   "few_queries.c08: Q of 16 or 32 bits"}));
}

TEST_CASE("few_queries.c09: a causal mask beside lengths, for more queries than one") {
    std::string const refused =
        refusal("few_queries", {"few_queries.c09: no mask with lengths, except for a single query"});
    for (std::int64_t const queries : {1, 2}) {
        TestGraph graph = with_lengths(forward_graph({.queries = queries}));
        graph.attention_options().right_bound = 0;
        graph.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
        CHECK((few_queries_of(graph) == refused) == (queries == 2));
    }
}

TEST_CASE("few_queries.c10: pages of K alone") {
    TestGraph graph = with_lengths(forward_graph({.keys = 10}));
    TensorSpec& k = graph.at(K);
    k.dim[2] = 16;
    k.stride = core::packed_strides(k.dim);
    graph.connect(PageTableK, {1, 1, 1, 1}, DataType_t::INT32);
    CHECK(few_queries_of(graph) ==
          refusal("few_queries", {"few_queries.c10: K and V in pages of as many rows, or both without pages"}));
}

TEST_CASE("few_queries.c11: more queries of a head of keys than 32 bits count") {
    std::string const refused =
        refusal("few_queries", {"few_queries.c11: with lengths fewer than 2^31 queries for a head of keys, as "
                                "lengths have 32 bits"});
    for (std::int64_t const queries : {(1 << 28) - 1, 1 << 28}) {
        TestGraph const graph = with_lengths(forward_graph({.heads = 16, .queries = queries}));
        CHECK((few_queries_of(graph) == refused) == (queries == 1 << 28));
    }
}

TEST_CASE("few_queries.c12: O that nobody asks for") {
    TestGraph graph = forward_graph({});
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.connect_output(Stats);
    CHECK(few_queries_of(without_memory(graph, Stats)).find("does not apply") == std::string::npos);
    CHECK(few_queries_of(without_memory(graph, O)) == refusal("few_queries", {"few_queries.c12: memory for O"}));
}

TEST_CASE("few_queries.c13: lengths of 64 bits") {
    for (int const port : {SeqLenQ, SeqLenKv}) {
        TestGraph graph = with_lengths(forward_graph({}));
        graph.at(port).data_type = DataType_t::INT64;
        CHECK(few_queries_of(graph) ==
              refusal("few_queries", {"few_queries.c13: lengths, where there are any, of INT32"}));
    }
}

TEST_CASE("bands.c01: forward") {
    TestGraph graph = forward_graph({.queries = 8});
    graph.attention_options().left_bound = 3;
    graph.attention_options().right_bound = 3;
    CHECK(bands_of(graph) == refusal("bands", {"bands.c01: backward attention"}));
}

TEST_CASE("bands.c02: a bias") {
    CHECK(bands_of(with_operand(band_graph(), Bias, {1, 1, 8, 8}, DataType_t::HALF)) ==
          refusal("bands", {"bands.c02: no operands but Q, K, V, O, dO, Stats, attn_scale, dQ, dK and dV"}));
}

TEST_CASE("bands.c03: Q packed by lengths") {
    CHECK(bands_of(packed(band_graph())) ==
          refusal("bands", {"bands.c02: no operands but Q, K, V, O, dO, Stats, attn_scale, dQ, dK and dV",
                            "bands.c03: tensors that are neither packed by lengths nor in blocks",
                            "bands.c06: no ALiBi, no padding mask, no dropout"}));
}

TEST_CASE("bands.c04: one bound alone") {
    std::string const refused = refusal("bands", {"bands.c04: a left and a right bound"});
    TestGraph graph = band_graph();
    graph.attention_options().left_bound.reset();
    CHECK(bands_of(graph) == refused);
    graph = band_graph();
    graph.attention_options().right_bound.reset();
    graph.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    CHECK(bands_of(graph).find("[bands.c04]: expected a left and a right bound.") != std::string::npos);
}

TEST_CASE("bands.c05: windows that are causal at the top left, or wider than the keys") {
    std::string const refused = refusal("bands", {"bands.c05: a window of two keys or more, in which the first query "
                                                  "sees a key behind the first one, but not the last"});
    TestGraph graph = band_graph();
    graph.attention_options().right_bound = 0;
    CHECK(bands_of(graph) == refused);
    graph.attention_options().right_bound = 8;
    CHECK(bands_of(graph) == refused);
    graph.attention_options().right_bound = 7;
    CHECK(bands_of(graph) != refused);
}

TEST_CASE("bands.c06: ALiBi") {
    TestGraph graph = band_graph();
    graph.attention_options().alibi_mask = true;
    CHECK(bands_of(graph) == refusal("bands", {"bands.c06: no ALiBi, no padding mask, no dropout"}));
}

TEST_CASE("bands.c07: a gradient that nobody asks for") {
    for (int const port : {DQ, DK, DV}) {
        CHECK(bands_of(without_memory(band_graph(), port)) ==
              refusal("bands", {"bands.c07: memory for all three gradients"}));
    }
}

TEST_CASE("slices.c01: forward") {
    CHECK(slices_of(forward_graph({})) == refusal("slices", {"slices.c01: backward attention"}));
}

TEST_CASE("slices.c02: a dropout mask") {
    TestGraph graph = with_operand(backward_graph({}), DropoutMask, {1, 4, 2, 8}, DataType_t::HALF);
    for (int const port : {DropoutScale, DropoutScaleInv}) graph.connect(port, {1, 1, 1, 1}, DataType_t::FLOAT);
    CHECK(slices_of(graph) ==
          refusal("slices", {"slices.c02: no operands but Q, K, V, O, dO, Stats, attn_scale, bias, a sink token, "
                             "lengths and their gradients"}));
}

TEST_CASE("slices.c03: Q packed by lengths") {
    CHECK(slices_of(packed(backward_graph({}))) ==
          refusal("slices", {"slices.c03: tensors that are neither packed by lengths nor in blocks"}));
}

TEST_CASE("slices.c04: a dBias that is summed over heads") {
    TestGraph graph = with_operand(backward_graph({}), Bias, {1, 1, 2, 8}, DataType_t::HALF);
    graph.connect_output(DBias);
    CHECK(slices_of(graph) ==
          refusal("slices", {"slices.c04: a dBias, where there is one, that is summed over neither heads nor batch "
                             "entries"}));
}

TEST_CASE("slices.c05: ALiBi") {
    TestGraph graph = backward_graph({});
    graph.attention_options().alibi_mask = true;
    CHECK(slices_of(graph) ==
          refusal("slices", {"slices.c05: no ALiBi, whose slopes depend on the number of heads, and no dropout"}));
}

TEST_CASE("slices.c06: more heads of V than of K") {
    CHECK(slices_of(with_value_heads(backward_graph({}))) ==
          refusal("slices", {"slices.c06: as many heads of K as of V, each for a whole number of heads of Q"}));
}

TEST_CASE("slices.c07: a gradient that nobody asks for") {
    for (int const port : {DQ, DK, DV}) {
        CHECK(slices_of(without_memory(backward_graph({}), port)) ==
              refusal("slices", {"slices.c07: memory for all three gradients"}));
    }
}

TEST_CASE("a graph of several nodes is not rewritten") {
    Validation const validation = validate(chain_graph());
    REQUIRE(validation.graph);
    CHECK_FALSE(rewrite::Attention::of(*validation.graph));
}

TEST_CASE("deterministic.c01: forward, and backward that asks for it") {
    char const* const needed =
        "deterministic.c01: backward attention that does not ask for the deterministic algorithm";
    CHECK(deterministic_of(forward_graph({.key_heads = 4})) ==
          refusal("deterministic", {needed,
                                    "deterministic.c02: memory for dQ, dK and dV, and no operands but these, "
                                    "Q, K, V, O, dO, Stats and attn_scale"}));
    TestGraph graph = equal_heads();
    CHECK(deterministic_of(graph).starts_with("program deterministic\n1. SDPA_BACKWARD deterministic=true\n"));
    graph.fields<SdpaBackwardFields>().deterministic = true;
    CHECK(deterministic_of(graph) == refusal("deterministic", {needed}));
}

TEST_CASE("deterministic.c02: a bias") {
    CHECK(deterministic_of(with_operand(equal_heads(), Bias, {1, 1, 2, 8}, DataType_t::HALF)) ==
          refusal("deterministic", {"deterministic.c02: memory for dQ, dK and dV, and no operands but these, Q, K, V, "
                                    "O, dO, Stats and attn_scale"}));
}

TEST_CASE("deterministic.c02: gradients that are left out") {
    for (int const port : {DQ, DK, DV}) {
        TestGraph graph = equal_heads();
        graph.at(port).is_virtual = true;
        graph.at(port).data_type = DataType_t::HALF;
        CHECK(deterministic_of(graph) ==
              refusal("deterministic", {"deterministic.c02: memory for dQ, dK and dV, and no operands but these, Q, "
                                        "K, V, O, dO, Stats and attn_scale"}));
    }
}

TEST_CASE("deterministic.c03: Q packed by lengths") {
    CHECK(deterministic_of(packed(equal_heads()))
              .find("\n  [deterministic.c03]: expected tensors that are neither packed by lengths nor in blocks") !=
          std::string::npos);
}

TEST_CASE("deterministic.c04: masks and ALiBi") {
    std::string const refused = refusal("deterministic", {"deterministic.c04: no mask, no ALiBi and no dropout"});
    TestGraph graph = equal_heads();
    graph.attention_options().right_bound = 0;
    CHECK(deterministic_of(graph) == refused);
    graph.attention_options().alibi_mask = true;
    CHECK(deterministic_of(graph) == refused);
    graph = equal_heads();
    graph.attention_options().left_bound = 3;
    CHECK(deterministic_of(graph) == refused);
}

TEST_CASE("deterministic.c05: heads of keys that query heads share") {
    CHECK(deterministic_of(backward_graph({})) ==
          refusal("deterministic", {"deterministic.c05: as many heads of K and of V as of Q"}));
}

TEST_CASE("deterministic.c06: scores of more than 1 GiB") {
    CHECK(deterministic_of(equal_heads({.heads = 8, .queries = 8192, .keys = 8192})).starts_with("program"));
    CHECK(deterministic_of(equal_heads({.heads = 8, .queries = 8192, .keys = 8193})) ==
          refusal("deterministic", {"deterministic.c06: scores that fit into 1 GiB with 2 bytes each"}));
}
