// Advice: given for legal graphs that are probably not meant, and not for similar ones that may well be meant.
#include "graphs.h"
#include "nodes/validation/validate.h"

using namespace test;
using namespace cudnn_frontend::nodes::attention;

namespace {

// A graph without advice: 6 queries, 8 keys, a head dim of 16.
TestGraph scaled_graph(NodeKind kind = NodeKind::SdpaForward) {
    TestGraph graph = attention_graph(kind);
    graph.attention_options().attn_scale = 0.25f;
    return graph;
}

void mask_behind(TestGraph& graph, DiagonalAlignment_t alignment) {
    graph.attention_options().right_bound = 0;
    graph.attention_options().diagonal_alignment = alignment;
}

void connect_lengths(TestGraph& graph) {
    graph.attention_options().padding_mask = true;
    for (int const port : {SeqLenQ, SeqLenKv}) graph.connect(port, {2, 1, 1, 1}, DataType_t::INT32);
}

void resize_lengths(TestGraph& graph, std::int64_t queries, std::int64_t keys) {
    graph.resize(Q, {2, 4, queries, 16});
    graph.resize(K, {2, 2, keys, 16});
    graph.resize(V, {2, 4, keys, 32});
}

std::vector<Remark> remarks(GraphSpec const& graph) {
    Validation const validation = validate(graph);
    INFO(validation.report);
    REQUIRE(validation.graph.has_value());
    return advise(*validation.graph).remarks();
}

void expect_remark(std::vector<Remark> const& remarks, std::string const& id, std::string const& tensor,
                   std::string const& found, std::string const& effect, std::string const& fix) {
    INFO(Advice(remarks));
    REQUIRE(remarks.size() == 1);
    CHECK(remarks[0].where.rule == id);
    CHECK(remarks[0].where.node == "attention");
    CHECK(remarks[0].where.tensor == tensor);
    CHECK(remarks[0].found == found);
    CHECK(remarks[0].effect == effect);
    CHECK(remarks[0].fix == fix);
}

void expect_none(GraphSpec const& graph) {
    auto const given = remarks(graph);
    INFO(Advice(given));
    CHECK(given.empty());
}

}  // namespace

TEST_CASE("advice.a01: no attention scale") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        expect_remark(remarks(graph), "advice.a01", "", "no attention scale",
                      "scores stay as they are, since the scale is 1 where none is set",
                      "call set_attn_scale(0.25), 1 over the square root of the head dim 16; set_attn_scale(1) if that "
                      "is meant");
        graph.attention_options().attn_scale = 1.0f;
        expect_none(graph);
        graph.attention_options().attn_scale.reset();
        graph.connect(AttnScale, {1, 1, 1, 1}, DataType_t::FLOAT);
        expect_none(graph);
    }
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.resize(Q, {2, 4, 6, 1});
    graph.resize(K, {2, 2, 8, 1});
    expect_none(graph);
}

TEST_CASE("advice.a02: the square root of the head dim as the scale") {
    TestGraph graph = scaled_graph();
    graph.attention_options().attn_scale = 4.0f;
    expect_remark(remarks(graph), "advice.a02", "", "the attention scale 4",
                  "scores are multiplied by the square root of the head dim, not divided by it",
                  "call set_attn_scale(0.25), 1 over the square root of the head dim 16");
    graph.attention_options().attn_scale = 5.0f;
    expect_none(graph);
    graph.attention_options().attn_scale.reset();
    TensorSpec& tensor = graph.connect(AttnScale, {1, 1, 1, 1}, DataType_t::FLOAT);
    tensor.is_by_value = true;
    tensor.value = detail::make_scalar(4.0f);
    CHECK(remarks(graph).at(0).where.rule == "advice.a02");
    graph.at(AttnScale).value = detail::make_scalar(0.25f);
    expect_none(graph);
}

TEST_CASE("advice.a03: keys that no query sees, with the diagonal at the top left") {
    TestGraph graph = scaled_graph();
    mask_behind(graph, DiagonalAlignment_t::TOP_LEFT);
    expect_none(graph);  // 6 of 8 keys are visible
    resize_lengths(graph, 1, 8);
    std::string const fix =
        "call set_causal_mask_bottom_right(true), or set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT), where "
        "the last query belongs to the last key";
    expect_remark(remarks(graph), "advice.a03", "", "a diagonal from the top left over 1 query and 8 keys",
                  "the query sees key 0 alone", fix);
    resize_lengths(graph, 3, 8);
    graph.attention_options().right_bound = 1;
    expect_remark(remarks(graph), "advice.a03", "", "a diagonal from the top left over 3 queries and 8 keys",
                  "queries see none but the first 4 keys", fix);
    graph.attention_options().right_bound = 2;
    expect_none(graph);
    resize_lengths(graph, 1, 8);
    graph.attention_options().right_bound.reset();
    expect_none(graph);
    mask_behind(graph, DiagonalAlignment_t::BOTTOM_RIGHT);
    expect_none(graph);
    mask_behind(graph, DiagonalAlignment_t::TOP_LEFT);
    resize_lengths(graph, 1, 1);
    expect_none(graph);
}

TEST_CASE("advice.a04: queries that see no key, with the diagonal at the bottom right") {
    TestGraph graph = scaled_graph();
    mask_behind(graph, DiagonalAlignment_t::BOTTOM_RIGHT);
    resize_lengths(graph, 8, 6);
    expect_remark(remarks(graph), "advice.a04", "", "a diagonal to the bottom right over 8 queries and 6 keys",
                  "the first 2 queries see no key: O is 0 there",
                  "call set_causal_mask(true) for a diagonal from the top left, or give as many keys as queries");
    graph.attention_options().right_bound = 2;
    expect_none(graph);
    graph.attention_options().right_bound = 0;
    connect_lengths(graph);  // the lengths may be equal
    expect_none(graph);
    graph = scaled_graph();
    mask_behind(graph, DiagonalAlignment_t::TOP_LEFT);
    resize_lengths(graph, 8, 6);
    expect_none(graph);
}

TEST_CASE("advice.a08: K and V with rows before heads, whose numbers happen to divide") {
    TestGraph graph = scaled_graph();
    graph.resize(Q, {2, 512, 4, 16});
    graph.resize(K, {2, 512, 4, 16});
    graph.resize(V, {2, 512, 4, 32});
    auto const given = remarks(graph);
    expect_remark(
        given, "advice.a08", "K", "K and V with 512 heads and 4 rows",
        "attention runs over the rows, the third dim, and computes each head, the second dim, on its own",
        "exchange dims 1 and 2, and the strides with them, if the second is the length: dims are always batch, "
        "heads, rows, columns");
    CHECK(given[0].others == std::vector<std::string>{"V"});
    for (int const port : {K, V}) {  // with tokens before heads in memory the dims are probably meant
        std::swap(graph.at(port).stride[1], graph.at(port).stride[2]);
        graph.at(port).stride[1] = graph.at(port).dim[3];
        graph.at(port).stride[2] = graph.at(port).dim[3] * 512;
    }
    expect_none(graph);
    for (int const port : {Q, K, V}) graph.resize(port, {2, 64, 4, port == V ? 32 : 16});
    expect_none(graph);
    for (int const port : {Q, K, V}) graph.resize(port, {2, 128, 33, port == V ? 32 : 16});
    expect_none(graph);
}

TEST_CASE("advice.a09: several queries on one key") {
    TestGraph graph = scaled_graph();
    resize_lengths(graph, 6, 1);
    expect_remark(remarks(graph), "advice.a09", "", "one key for 6 queries",
                  "its probability is 1, so that O is V whatever Q and K are",
                  "give K and V their length as the third dim");
    graph.connect(SinkToken, {1, 4, 1, 1}, DataType_t::FLOAT);
    expect_none(graph);
    graph = scaled_graph();
    resize_lengths(graph, 1, 1);  // the first step of a decoder
    expect_none(graph);
}

TEST_CASE("advice.a10: bounds on the tokens of padded tensors") {
    TestGraph graph = scaled_graph(GENERATE(NodeKind::SdpaForward, NodeKind::SdpaBackward));
    graph.attention_options().max_total_seq_len_q = 6;
    std::string const fix =
        "pack the sequences one after the other and call set_ragged_offset(), or leave out the bound";
    expect_remark(remarks(graph), "advice.a10", "Q", "set_max_total_seq_len_q(6) and Q without a ragged offset",
                  "the bound changes nothing", fix);
    graph.attention_options().max_total_seq_len_q = 5;
    expect_remark(remarks(graph), "advice.a10", "Q", "set_max_total_seq_len_q(5) and Q without a ragged offset",
                  "the bound changes nothing, and more than half of the 12 rows are padding", fix);
    connect_lengths(graph);
    TensorId const offset = graph.add("offset", {3, 1, 1, 1}, DataType_t::INT32);
    graph.at(Q).stride = {384, 16, 64, 1};
    graph.at(Q).ragged_offset = offset;
    expect_none(graph);
    graph.attention_options().max_total_seq_len_kv = 16;
    CHECK(remarks(graph).at(0).where.tensor == "K");
}

TEST_CASE("advice.a11: dBias of other dims than the bias") {
    TestGraph graph = scaled_graph(NodeKind::SdpaBackward);
    graph.connect(Bias, {2, 4, 6, 8}, DataType_t::FLOAT);
    graph.connect(DBias, {1, 4, 6, 8}, DataType_t::FLOAT);
    expect_remark(remarks(graph), "advice.a11", "dBias",
                  "dBias with dims [1, 4, 6, 8] for a bias with dims [2, 4, 6, 8]",
                  "it is summed over the dims where it has 1 itself, whatever the bias has",
                  "give it the dims of the bias, or none to have them inferred, for the gradient of that bias");
    graph.resize(Bias, {1, 4, 6, 8});
    expect_none(graph);
}

TEST_CASE("advice.a12: ragged tensors whose sequences overlap without the right offsets") {
    TestGraph graph = scaled_graph();
    connect_lengths(graph);
    TensorId const offset = graph.add("offset", {3, 1, 1, 1}, DataType_t::INT32);
    graph.at(Q).ragged_offset = offset;
    expect_remark(
        remarks(graph), "advice.a12", "Q", "Q ragged, with strides [384, 96, 16, 1] for dims [2, 4, 6, 16]",
        "sequences overlap unless the offsets leave room for all heads; CPU targets look at that, a GPU only with "
        "SDPA_GRAPH_CHECK_INDICES=1",
        "lay it out as tokens, heads, elements: strides [384, 16, 64, 1]");
    graph.at(Q).stride = {384, 16, 64, 1};
    expect_none(graph);
    graph.resize(Q, {2, 4, 6, 16});
    graph.at(Q).ragged_offset = kNoTensor;
    expect_none(graph);
}

TEST_CASE("advice.a13: Stats that nobody gets") {
    TestGraph graph = scaled_graph();
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.connect_output(Stats).is_virtual = true;
    expect_remark(remarks(graph), "advice.a13", "Stats",
                  "generate_stats on, and Stats that is neither an output nor read by a node",
                  "Stats is computed and lost",
                  "call set_output(true) on it for a later backward, or set_generate_stats(false)");
    graph.at(Stats).is_virtual = false;
    expect_none(graph);
}

TEST_CASE("advice.a14: lengths without the padding mask") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        for (int const port : {SeqLenQ, CuSeqLenKv}) {
            TestGraph graph = scaled_graph(kind);
            graph.connect(port, {port == SeqLenQ ? 2 : 3, 1, 1, 1}, DataType_t::INT32);
            std::string const name = port == SeqLenQ ? "seq_len_q" : "cu_seq_len_kv";
            expect_remark(remarks(graph), "advice.a14", name, name + " without a padding mask",
                          "the length changes nothing: no row is masked",
                          "call set_padding_mask(true), or leave out the lengths");
        }
        TestGraph graph = scaled_graph(kind);
        connect_lengths(graph);
        expect_none(graph);
    }
}

TEST_CASE("advice.a14: not of lengths that another node reads, as a score modifier does") {
    TestGraph graph = scaled_graph();
    graph.connect(SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
    Node& reader = graph.add_node(NodeKind::Pointwise, "reader");
    reader.compute_data_type = DataType_t::INT32;
    std::get<PointwiseFields>(reader.fields).mode = PointwiseMode_t::NEG;
    TensorId const lengths = graph.slot(SeqLenQ), result = graph.add("negative", {2, 1, 1, 1}, DataType_t::INT32);
    graph.nodes[1].ports[pointwise::In0] = lengths;
    graph.nodes[1].ports[pointwise::Out0] = result;
    expect_none(graph);
}

TEST_CASE("advice.a15: pages with lengths and without the padding mask") {
    TestGraph graph = scaled_graph();
    connect_lengths(graph);
    graph.resize(K, {5, 2, 4, 16});
    graph.resize(V, {5, 4, 4, 32});
    for (int const port : {PageTableK, PageTableV}) graph.connect(port, {2, 1, 2, 1}, DataType_t::INT32);
    expect_none(graph);
    graph.attention_options().padding_mask = false;
    expect_remark(remarks(graph), "advice.a15", "", "page tables with lengths and without a padding mask",
                  "keys and queries from the lengths on are masked all the same, since they have no memory",
                  "call set_padding_mask(true)");
}

TEST_CASE("advice.a16: max_seq_len_kv without a page table") {
    TestGraph graph = scaled_graph();
    graph.fields<SdpaForwardFields>().max_seq_len_kv = 8;
    expect_remark(remarks(graph), "advice.a16", "", "set_paged_attention_max_seq_len_kv(8) without a page table",
                  "the call changes nothing: the dims of K say how many keys there are",
                  "leave the call out, or give K and V their page tables");
}

TEST_CASE("advice.a17: heads and rows that share elements") {
    TestGraph graph = scaled_graph();
    graph.at(K).stride = {256, 16, 16, 1};
    expect_remark(remarks(graph), "advice.a17", "K", "K with dims [2, 2, 8, 16] and strides [256, 16, 16, 1]",
                  "heads and rows share elements",
                  "strides [256, 128, 16, 1] where a head's rows follow each other, [256, 16, 32, 1] where a row's "
                  "heads do");
    for (Dims const& stride :
         {Dims{256, 128, 16, 1}, {256, 16, 32, 1}, {0, 0, 16, 1}, {0, 128, 16, 1}, {16, 48, 96, 1}}) {
        graph.at(K).stride = stride;
        expect_none(graph);
    }
}

TEST_CASE("advice.a18: keys and values given in each other's place") {
    TestGraph graph = scaled_graph();
    graph.resize(V, {2, 2, 8, 16});
    auto const name = [&](char const* k, char const* v) {
        graph.at(K).name = k;
        graph.at(V).name = v;
    };
    name("value_cache", "key_cache");
    expect_remark(remarks(graph), "advice.a18", "", "tensor 'value_cache' in K's place, and 'key_cache' in V's",
                  "queries are compared with what the names call values, and the keys are summed up",
                  "pass Q, K and V in this order, or rename the tensors");
    name("V", "attention::K");
    CHECK(remarks(graph).at(0).where.rule == "advice.a18");
    for (auto const& [k, v] :
         {std::pair("K", "V"), {"", ""}, {"V", ""}, {"kv", "kv"}, {"V", "latent"}, {"v_k", "k_v"}}) {
        name(k, v);
        expect_none(graph);
    }
}

TEST_CASE("advice.a19: lengths of 64 bits") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = scaled_graph(kind);
        connect_lengths(graph);
        graph.at(SeqLenKv).data_type = DataType_t::INT64;
        expect_remark(remarks(graph), "advice.a19", "seq_len_kv", "seq_len_kv of type INT64",
                      "on a GPU each run makes INT32 of it first",
                      "call set_data_type(DataType_t::INT32), and pass lengths of 32 bits");
    }
}

TEST_CASE("advice.a20: Stats of 16 bits") {
    TestGraph graph = scaled_graph();
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.connect_output(Stats).data_type = DataType_t::BFLOAT16;
    expect_remark(remarks(graph), "advice.a20", "Stats", "Stats of type BFLOAT16",
                  "it is computed as FLOAT and rounded, and backward reads FLOAT alone",
                  "call set_data_type(DataType_t::FLOAT), or leave the type open");
}

TEST_CASE("advice.a21: integers as true or false") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::LOGICAL_AND);
    graph.at(pointwise::In0).data_type = DataType_t::BOOLEAN;
    graph.connect(pointwise::In1, {4}, DataType_t::BOOLEAN);
    CHECK(remarks(graph).empty());
    graph.at(pointwise::In1).data_type = DataType_t::INT32;
    auto const given = remarks(graph);
    REQUIRE(given.size() == 1);
    CHECK(given[0].where.rule == "advice.a21");
    CHECK(given[0].where.node == "op");
    CHECK(given[0].found == "IN_1 of type INT32 for LOGICAL_AND");
    CHECK(given[0].effect == "0 is false there, and any other number is true");
    CHECK(given[0].fix == "call set_data_type(DataType_t::BOOLEAN) on it; a comparison gives such a tensor");
}

TEST_CASE("advice: each remark names its node, by its place where it has no name") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    Node second = graph.nodes[0];
    second.ports[O] = graph.add("other O", {}, DataType_t::NOT_SET);
    second.name.clear();
    graph.nodes.push_back(second);
    auto const given = remarks(graph);
    REQUIRE(given.size() == 2);
    CHECK(given[0].where.node == "attention");
    CHECK(given[1].where.node == "SDPA_FORWARD 1");
}
