// Programs that convert lengths and Stats, step by step, and what keeps graphs from them.
#include "rewrite/rewrites/rewrites.h"
#include "unit/rewrite/attention_graphs.h"

using namespace test;
using namespace attention;

namespace {

std::string program_of(TestGraph const& graph) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::converted(*rewritable));
}

std::string refusal(std::string const& condition) { return test::refusal("converted", {"converted." + condition}); }

TestGraph with_long_lengths(TestGraph graph) {
    graph = with_lengths(std::move(graph));
    for (int const port : {SeqLenQ, SeqLenKv}) graph.at(port).data_type = DataType_t::INT64;
    return graph;
}

TestGraph with_narrow_stats(TestGraph graph) {
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.connect_output(Stats).data_type = DataType_t::BFLOAT16;
    return graph;
}

}  // namespace

TEST_CASE("converted: lengths are read by their low halves, and Stats are made as FLOAT and copied") {
    CHECK(program_of(with_narrow_stats(with_long_lengths(forward_graph({.batches = 2})))) == R"(program converted
scratch 0: 256 bytes
scratch 1: 256 bytes
scratch 2: 256 bytes
1. split lengths group=1 chunk=8
   reads lengths of queries: seq_len_q [2, 1] INT32 strides [2, 1]
   reads lengths of keys: seq_len_kv [2, 1] INT32 strides [2, 1]
   writes lengths of rows: scratch 0 [2, 1] INT32
   writes lengths of parts: scratch 1 [2, 1] INT32
2. SDPA_FORWARD padding_mask=true generate_stats=true
   reads Q: Q [2, 4, 2, 16] HALF
   reads K: K [2, 2, 8, 16] HALF
   reads V: V [2, 2, 8, 16] HALF
   writes O: O [2, 4, 2, 16] HALF
   writes Stats: scratch 2 [2, 4, 2, 1] FLOAT
   reads seq_len_q: scratch 0 [2, 1, 1, 1] INT32
   reads seq_len_kv: scratch 1 [2, 1, 1, 1] INT32
3. copy
   reads terms: scratch 2 [1, 2, 4, 2, 1] FLOAT strides [0, 8, 2, 1, 1]
   writes result: Stats [2, 4, 2, 1] BFLOAT16
)");
}

TEST_CASE("converted: one length of 64 bits in backward, which keeps all other tensors and options") {
    TestGraph graph = with_lengths(backward_graph({}));
    graph.at(SeqLenKv).data_type = DataType_t::INT64;
    graph.attention_options().alibi_mask = true;
    graph.connect(Bias, {1, 4, 2, 8}, DataType_t::HALF);
    std::string const text = program_of(graph);
    CHECK(text.find("reads lengths of queries: seq_len_q [1, 1] INT32\n") != text.npos);
    CHECK(text.find("reads lengths of keys: seq_len_kv [1, 1] INT32 strides [2, 1]\n") != text.npos);
    CHECK(text.find("2. SDPA_BACKWARD alibi_mask=true padding_mask=true\n") != text.npos);
    CHECK(text.find("reads bias: bias [1, 4, 2, 8] HALF\n") != text.npos);
    CHECK(text.find("copy") == text.npos);
}

TEST_CASE("converted.c01: nothing to convert") {
    std::string const refused = refusal("c01: lengths of INT64, or Stats of HALF or BFLOAT16 to be written");
    CHECK(program_of(with_lengths(forward_graph({}))) == refused);
    TestGraph graph = with_long_lengths(forward_graph({}));
    graph.attention_options().padding_mask = false;
    CHECK(program_of(graph) == refused);
    graph = with_narrow_stats(forward_graph({}));
    graph.at(Stats).is_virtual = true;
    CHECK(program_of(graph) == refused);
}

TEST_CASE("converted.c02: cumulative lengths beside others") {
    TestGraph graph = with_long_lengths(forward_graph({}));
    graph.disconnect(SeqLenKv);
    graph.connect(CuSeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
    CHECK(program_of(graph) == refusal("c02: no cumulative lengths with lengths of INT64"));
}

TEST_CASE("converted.c03: Stats packed by lengths") {
    TestGraph graph = with_narrow_stats(with_lengths(forward_graph({})));
    TensorId const offset = graph.add("offset", {2, 1, 1, 1}, DataType_t::INT32);
    for (int const port : {Q, Stats}) {
        graph.at(port).ragged_offset = port == Q ? offset : graph.add("rows", {2, 1, 1, 1}, DataType_t::INT32);
    }
    graph.at(Q).stride = {128, 16, 64, 1};
    graph.at(Stats).dim = {1, 4, 2, 1};
    graph.at(Stats).stride = {8, 1, 4, 1};
    CHECK(program_of(graph) ==
          refusal("c03: Stats that are not packed by lengths, where they are of HALF or BFLOAT16"));
}
