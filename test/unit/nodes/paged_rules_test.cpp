#include "graphs.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/wording.h"

using namespace test;
using enum error_code_t;

namespace {

// The small forward graph with lengths, and K and V in 5 pages of 4 rows: 2 pages hold the 8 keys.
TestGraph paged_graph() {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.attention_options().padding_mask = true;
    graph.connect(attention::SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
    graph.connect(attention::SeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
    graph.resize(attention::K, {5, 2, 4, 16});
    graph.resize(attention::V, {5, 4, 4, 32});
    graph.connect(attention::PageTableK, {2, 1, 2, 1}, DataType_t::INT32);
    graph.connect(attention::PageTableV, {2, 1, 2, 1}, DataType_t::INT32);
    return graph;
}

std::int64_t keys_of(TestGraph const& graph) { return key_count(graph, graph.nodes[0]); }

std::int64_t& stated(TestGraph& graph) { return graph.fields<SdpaForwardFields>().max_seq_len_kv.emplace(); }

}  // namespace

TEST_CASE("the number of keys of paged K and V is stated, or follows from something else") {
    TestGraph graph = paged_graph();
    expect_valid(graph);
    CHECK(keys_of(graph) == 8);
    graph.resize(attention::V, {3, 4, 8, 32});  // other pages, with another table
    graph.resize(attention::PageTableV, {2, 1, 1, 1});
    expect_valid(graph);
    graph.connect(attention::Bias, {1, 1, 6, 1}, DataType_t::HALF);  // a column for all keys
    CHECK(keys_of(graph) == 8);
    graph.resize(attention::Bias, {1, 1, 6, 7});
    CHECK(keys_of(graph) == 7);
    expect_valid(graph);
    stated(graph) = 6;
    CHECK(keys_of(graph) == 6);
    graph.disconnect(attention::PageTableV);
    graph.resize(attention::V, {2, 4, 5, 32});
    CHECK(keys_of(graph) == 5);
}

TEST_CASE("the number of keys follows from the dump, and the dump from the tables") {
    TestGraph graph = paged_graph();
    graph.attention_options().dropout_probability = 0.5f;
    graph.connect(attention::Seed, {1, 1, 1, 1}, DataType_t::INT64);
    graph.connect(attention::Offset, {1, 1, 1, 1}, DataType_t::INT64);
    graph.connect_output(attention::RngDump);
    auto const validation = validate(graph);
    REQUIRE(validation.report.to_text() == "");
    GraphSpec const& spec = validation.graph->spec();
    CHECK(spec.tensor(spec.nodes[0], attention::RngDump)->dim == Dims{2, 4, 6, 8});
    graph.resize(attention::RngDump, {2, 4, 6, 5});
    CHECK(keys_of(graph) == 5);
    expect_valid(graph);
}

TEST_CASE("K or V alone may be paged, and tables may be packed") {
    TestGraph graph = paged_graph();
    graph.disconnect(attention::PageTableK);
    graph.resize(attention::K, {2, 2, 7, 16});
    CHECK(keys_of(graph) == 7);
    expect_valid(graph);
    TensorId const offset = graph.add("offset", {3, 1, 1, 1}, DataType_t::INT32);
    graph.at(attention::PageTableV).ragged_offset = offset;
    expect_valid(graph);
}

TEST_CASE("sdpa_fwd.c48: a page table without lengths") {
    TestGraph graph = paged_graph();
    graph.attention_options().padding_mask = false;
    graph.disconnect(attention::SeqLenQ);
    graph.disconnect(attention::SeqLenKv);
    graph.disconnect(attention::PageTableV);
    graph.resize(attention::V, {2, 4, 8, 32});
    expect_finding(graph, "sdpa_fwd.c48",
                   {ATTRIBUTE_NOT_SET, "attention", "page_table_k", "page_table_k without seq_len_q and seq_len_kv",
                    "both, which say how many keys are in the pages",
                    "call set_padding_mask(true), set_seq_len_q() and set_seq_len_kv()"});
}

TEST_CASE("pages with lengths have the padding mask, whether it is set or not") {
    TestGraph graph = paged_graph();
    graph.attention_options().padding_mask = false;
    Validation const validation = validate(graph);
    REQUIRE(validation.report.to_text() == "");
    CHECK(attention_fields(validation.graph->spec().nodes[0])->padding_mask);
    CHECK(validation.graph->remarks() == ", node 'attention' has pages with lengths, which imply a padding mask");
    graph.disconnect(attention::SeqLenKv);
    graph.connect(attention::CuSeqLenKv, {3, 1, 1, 1}, DataType_t::INT64);
    expect_valid(graph);
    graph.disconnect(attention::CuSeqLenKv);
    CHECK(validate(graph).report.to_text().find("sdpa_fwd.c48") != std::string::npos);
}

TEST_CASE("sdpa_fwd.c49: a page table of another type") {
    TestGraph graph = paged_graph();
    graph.at(attention::PageTableV).data_type = DataType_t::INT64;
    expect_finding(graph, "sdpa_fwd.c49",
                   {GRAPH_NOT_SUPPORTED, "attention", "page_table_v", "page_table_v of type INT64", "type INT32",
                    "call set_data_type(DataType_t::INT32)"});
}

TEST_CASE("sdpa_fwd.c50: a page table of other dims") {
    Expected const expected = {
        INVALID_VALUE,
        "attention",
        "page_table_k",
        "page_table_k with dims [2, 1, 5, 1]",
        "dims [2, 1, 2, 1], for each batch entry of Q the pages of 4 rows that hold 8 keys",
        "call set_dim() on it with these dims, or set_paged_attention_max_seq_len_kv() with the most keys of an entry"};
    TestGraph graph = paged_graph();
    graph.resize(attention::PageTableK, {2, 1, 5, 1});
    expect_finding(graph, "sdpa_fwd.c50", expected);
    stated(graph) = 20;  // fits K's table and not V's
    Expected of_v = expected;
    of_v.tensor = "page_table_v";
    of_v.found = "page_table_v with dims [2, 1, 2, 1]";
    of_v.needed = "dims [2, 1, 5, 1], for each batch entry of Q the pages of 4 rows that hold 20 keys";
    expect_finding(graph, "sdpa_fwd.c50", of_v);
    graph = paged_graph();
    graph.resize(attention::PageTableK, {1, 1, 2, 1});
    Expected of_batch = expected;
    of_batch.found = "page_table_k with dims [1, 1, 2, 1]";
    expect_finding(graph, "sdpa_fwd.c50", of_batch);
}

TEST_CASE("sdpa_fwd.c03: a container of pages without a table, whose rows are not taken for keys") {
    auto const about = [](char const* port, std::int64_t pages, std::string fix) {
        return Expected{INVALID_VALUE,  "attention",   port, text(port, " with batch size ", pages),
                        "batch size 2", std::move(fix)};
    };
    TestGraph graph = paged_graph();
    graph.connect(attention::Bias, {2, 1, 6, 8}, DataType_t::HALF);
    stated(graph) = 8;
    graph.disconnect(attention::PageTableV);
    expect_finding(graph, "sdpa_fwd.c03",
                   about("V", 5, "call set_paged_attention_v_table() if V is a container of pages too"));
    graph.disconnect(attention::PageTableK);
    graph.fields<SdpaForwardFields>().max_seq_len_kv.reset();
    graph.resize(attention::V, {3, 4, 8, 32});
    auto const findings = validate(graph).report.findings();
    REQUIRE(findings.size() == 2);
    std::string const fix =
        "give Q, K and V one batch size; a batch stride of 0 shares one entry among all; or, for a container of pages, "
        "call set_paged_attention_k_table() or _v_table()";
    CHECK(findings[0].fix == fix);
    CHECK(findings[1].fix == fix);
    graph.resize(attention::K, {2, 2, 8, 16});
    expect_finding(graph, "sdpa_fwd.c03", about("V", 3, fix));
}

TEST_CASE("sdpa_fwd.c51: pages of other than a power of two rows") {
    TestGraph graph = paged_graph();
    graph.resize(attention::K, {5, 2, 6, 16});
    stated(graph) = 8;
    expect_finding(graph, "sdpa_fwd.c51",
                   {GRAPH_NOT_SUPPORTED, "attention", "K", "pages of 6 rows in K",
                    "a power of two as the rows of a page, which are the third dim of the container",
                    "give K dims {pages, heads, 16, head dim}, for example"});
}

TEST_CASE("sdpa_fwd.c52: max_seq_len_kv of pages below 1") {
    TestGraph graph = paged_graph();
    stated(graph) = 0;
    expect_finding(graph, "sdpa_fwd.c52",
                   {ATTRIBUTE_NOT_SET, "attention", "", "set_paged_attention_max_seq_len_kv(0)",
                    "a length of at least 1", "pass the most keys that an entry can have, or leave the call out"});
}

TEST_CASE("max_seq_len_kv without a page table changes nothing, whatever it is") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    for (std::int64_t const keys : {0, 5, 8, 100}) {
        stated(graph) = keys;
        expect_valid(graph);
        CHECK(keys_of(graph) == 8);
    }
}

TEST_CASE("sdpa_fwd.c53: max_seq_len_kv other than the length of what is not paged") {
    TestGraph graph = paged_graph();
    graph.disconnect(attention::PageTableV);
    graph.resize(attention::V, {2, 4, 7, 32});
    stated(graph) = 7;
    expect_valid(graph);
    stated(graph) = 8;
    expect_finding(graph, "sdpa_fwd.c53",
                   {INVALID_VALUE, "attention", "V", "set_paged_attention_max_seq_len_kv(8) and V with length 7",
                    "one length for both, since V has no page table", "leave the call out, or give V 8 rows"});
}

TEST_CASE("sdpa_fwd.c54: a container of pages with a ragged offset") {
    TestGraph graph = paged_graph();
    TensorId const offset = graph.add("offset", {3, 1, 1, 1}, DataType_t::INT32);
    graph.at(attention::K).ragged_offset = offset;
    Expected const expected = {GRAPH_NOT_SUPPORTED,
                               "attention",
                               "K",
                               "a page table and a ragged offset for K",
                               "one of the two: the table says where each page is",
                               "leave out set_ragged_offset(); a table may have one, which packs its entries"};
    expect_finding(graph, "sdpa_fwd.c54", expected);  // by heads, and with an offset of other dims
    graph.at(attention::K).stride = {128, 16, 32, 1};
    graph.tensors.back().dim = {6, 1, 1, 1};
    expect_finding(graph, "sdpa_fwd.c54", expected);
}

TEST_CASE("sdpa_fwd.c55: a page table that a node computes") {
    TestGraph graph = paged_graph();
    graph.compute_data_type = DataType_t::INT32;
    graph.nodes[0].compute_data_type = DataType_t::FLOAT;
    TensorId const numbers = graph.add("numbers", {2, 1, 2, 1}, DataType_t::INT32);
    Node& node = graph.add_node(NodeKind::Pointwise, "numbering");
    std::get<PointwiseFields>(node.fields).mode = PointwiseMode_t::IDENTITY;
    node.ports[pointwise::In0] = numbers;
    node.ports[pointwise::Out0] = graph.slot(attention::PageTableK);
    graph.at(attention::PageTableK).is_virtual = true;
    expect_finding(graph, "sdpa_fwd.c55",
                   {GRAPH_NOT_SUPPORTED, "attention", "page_table_k",
                    "page_table_k that is computed as numbering.OUT_0", "a table that is known before the graph runs",
                    "make a tensor for it with the graph's tensor(), and pass a pointer"});
}

TEST_CASE("sdpa_fwd.c01 sdpa_fwd.c15: a page table of three dims, or by value") {
    TestGraph graph = paged_graph();
    graph.resize(attention::PageTableK, {2, 2, 1});
    auto report = validate(graph).report;
    REQUIRE(report.findings().size() == 1);
    CHECK(report.findings()[0].where.rule == "sdpa_fwd.c01");
    graph.resize(attention::PageTableK, {2, 1, 2, 1});
    graph.at(attention::PageTableK).is_by_value = true;
    CHECK(validate(graph).report.to_text().find("[sdpa_fwd.c15] node 'attention', tensor 'page_table_k'") !=
          std::string::npos);
}

TEST_CASE("sdpa_fwd.c09: tables with room for too many keys") {
    TestGraph graph = paged_graph();
    for (int const port : {attention::PageTableK, attention::PageTableV}) {
        graph.resize(port, {2, 1, std::int64_t{1} << 27, 1});
    }
    auto const report = validate(graph).report;
    REQUIRE(report.findings().size() == 1);
    CHECK(report.findings()[0].where.rule == "sdpa_fwd.c09");
    CHECK(report.findings()[0].found == "K with length 536870912");
}
