#include "graphs.h"

using namespace test;
using enum error_code_t;

namespace {

// Makes Q ragged and returns its offset.
TensorSpec& make_ragged(TestGraph& graph, int port = attention::Q) {
    TensorId const offset = graph.add("offset", {3, 1, 1, 1}, DataType_t::INT32);
    TensorSpec& tensor = graph.at(port);
    tensor.ragged_offset = offset;
    tensor.stride = {tensor.dim[1] * tensor.dim[2] * tensor.dim[3], tensor.dim[3], tensor.dim[1] * tensor.dim[3], 1};
    return graph.tensors.back();
}

TestGraph padded(NodeKind kind) {
    TestGraph graph = attention_graph(kind);
    graph.attention_options().padding_mask = true;
    graph.connect(attention::SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
    graph.connect(attention::SeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
    return graph;
}

Expected about_q(std::string found, std::string needed, std::string fix) {
    return {GRAPH_NOT_SUPPORTED, "", "Q", std::move(found), std::move(needed), std::move(fix)};
}

constexpr char const* kFix = "make it with tensor(), fill it before the graph runs, and pass its memory in the pack";

}  // namespace

TEST_CASE("ragged tensors are valid with a padding mask, and outputs get rows that hold all heads") {
    TestGraph graph = padded(NodeKind::SdpaForward);
    make_ragged(graph);
    TensorSpec& o = graph.at(attention::O);
    o.ragged_offset = graph.add("offset_o", {3, 1, 1, 1}, DataType_t::INT64);
    graph.at(attention::O).stride.clear();
    auto const validation = validate(graph);
    REQUIRE(validation.report.to_text() == "");
    CHECK(validation.graph->spec().tensor(graph.nodes[0], attention::O)->stride == Dims{768, 32, 128, 1});
    CHECK(validation.graph->spec().tensors.back().uid.has_value());
}

TEST_CASE("graph.c22: the first stride of a ragged result does not count, and its others do") {
    TestGraph graph = padded(NodeKind::SdpaForward);
    graph.at(attention::O).dim = {2, 4, 6, 32};
    make_ragged(graph, attention::O);
    TensorSpec& o = graph.at(attention::O);
    for (std::int64_t const first : {std::int64_t{0}, o.stride[2], std::int64_t{1}}) {
        CAPTURE(first);
        o.stride[0] = first;
        expect_valid(graph);
    }
    o.stride[1] = 16;  // heads of 32 elements
    expect_finding(graph, "graph.c22",
                   {INVALID_VALUE, "", "O",
                    "dims " + core::to_string(o.dim) + " with strides " + core::to_string(o.stride) +
                        " on a tensor that is written",
                    "strides under which no two indices share an element",
                    "call set_stride(); row-major without gaps is " + core::to_string(core::packed_strides(o.dim))});
}

TEST_CASE("graph.c22: batch entries that overlap may be packed sequences without their offset") {
    TestGraph graph = padded(NodeKind::SdpaForward);
    TensorSpec& o = graph.at(attention::O);
    o.dim = {2, 4, 6, 32};
    o.stride = {128, 32, 128, 1};
    expect_finding(graph, "graph.c22",
                   {INVALID_VALUE, "", "O",
                    "dims " + core::to_string(o.dim) + " with strides [128, 32, 128, 1] on a tensor that is written",
                    "strides under which no two indices share an element",
                    "call set_stride(); row-major without gaps is " + core::to_string(core::packed_strides(o.dim)) +
                        "; for packed sequences call set_ragged_offset(), which says where each starts"});
}

TEST_CASE("sdpa_fwd.c42 sdpa_bwd.c44: a ragged tensor without a padding mask") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        make_ragged(graph);
        expect_finding(graph, kind == NodeKind::SdpaForward ? "sdpa_fwd.c42" : "sdpa_bwd.c44",
                       {GRAPH_NOT_SUPPORTED, "attention", "Q", "a ragged offset without a padding mask",
                        "the padding mask with seq_len_q and seq_len_kv, which say where each sequence ends",
                        "call set_padding_mask(true), set_seq_len_q() and set_seq_len_kv()"});
    }
}

TEST_CASE("graph.c14: a ragged offset of another type") {
    TestGraph graph = padded(NodeKind::SdpaForward);
    make_ragged(graph).data_type = DataType_t::FLOAT;
    expect_finding(
        graph, "graph.c14",
        about_q("the ragged offset 'offset' of type FLOAT", "INT32 or INT64", "call set_data_type(DataType_t::INT32)"));
}

TEST_CASE("graph.c14: a ragged offset of other dims") {
    TestGraph graph = padded(NodeKind::SdpaForward);
    TensorSpec& offset = make_ragged(graph);
    offset.dim = {2, 1, 1, 1};
    expect_finding(graph, "graph.c14",
                   about_q("the ragged offset 'offset' with dims [2, 1, 1, 1]",
                           "dims [3, 1, 1, 1]: where each batch entry starts, and where the last one ends",
                           "call set_dim() on it with one element more than the batch has entries"));
}

TEST_CASE("graph.c14: a ragged offset that is no input, or is ragged itself") {
    TestGraph by_value = padded(NodeKind::SdpaForward), ragged = by_value;
    make_ragged(by_value).is_virtual = true;
    expect_finding(by_value, "graph.c14",
                   about_q("the ragged offset 'offset', which is no input in memory",
                           "an offset in memory, which the caller fills", kFix));
    TensorId const other = ragged.add("other", {3, 1, 1, 1}, DataType_t::INT32);
    make_ragged(ragged).ragged_offset = other;
    auto const report = validate(ragged).report;
    CHECK(report.to_text().find("[graph.c14] tensor 'Q': found the ragged offset 'offset', which has a ragged offset "
                                "itself; expected an offset without one. Try: " +
                                std::string(kFix)) != std::string::npos);
}

TEST_CASE("ragged inputs may lie head by head, beside others of the same offset") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        for (int const port : {attention::Q, attention::K, attention::V}) {
            TestGraph graph = padded(kind);
            make_ragged(graph, port);
            graph.at(port).stride = core::packed_strides(graph.at(port).dim);
            expect_valid(graph);
            bool const is_forward = kind == NodeKind::SdpaForward;
            int const result = is_forward ? attention::O : attention::DQ;
            graph.resize(result, {2, 4, 6, is_forward ? 32 : 16});
            make_ragged(graph, result);
            graph.at(result).ragged_offset = graph.at(port).ragged_offset;
            expect_valid(graph);
        }
    }
}

TEST_CASE("graph.c27: a ragged result whose rows do not hold all heads, or a tensor that is virtual or no row tensor") {
    TestGraph by_heads = padded(NodeKind::SdpaForward), bias = by_heads, unreal = by_heads;
    by_heads.resize(attention::O, {2, 4, 6, 32});
    make_ragged(by_heads, attention::O);
    TensorSpec& o = by_heads.at(attention::O);
    o.stride = core::packed_strides(o.dim);
    expect_finding(
        by_heads, "graph.c27",
        {GRAPH_NOT_SUPPORTED, "", "O", "a ragged offset with strides [768, 192, 32, 1] for dims [2, 4, 6, 32]",
         "rows that hold all heads in what a node writes, so that sequences can follow each other",
         "lay the tensor out as tokens, heads, elements: strides [768, 32, 128, 1]"});
    bias.connect(attention::Bias, {2, 4, 6, 8}, DataType_t::HALF);
    make_ragged(bias, attention::Bias);
    expect_finding(bias, "graph.c27",
                   {GRAPH_NOT_SUPPORTED, "", "bias", "a ragged offset on what node 'attention' has as bias",
                    "a tensor that attention reads or writes as Q, K, V, O, Stats, Max, Sum_exp, a gradient of these "
                    "or a page table",
                    "pad the tensor, and leave out set_ragged_offset()"});
    unreal.resize(attention::O, {2, 4, 6, 32});
    make_ragged(unreal, attention::O);
    unreal.at(attention::O).is_virtual = true;
    CHECK(validate(unreal).report.to_text().find("a ragged offset on a tensor that is not in memory") !=
          std::string::npos);
}

TEST_CASE("graph.c27: what cannot be ragged is told that alone, whatever else its offset lacks") {
    TestGraph graph = padded(NodeKind::SdpaForward);
    make_ragged(graph);
    graph.connect(attention::Bias, {2, 4, 6, 8}, DataType_t::HALF).ragged_offset = graph.at(attention::Q).ragged_offset;
    Expected const expected = {GRAPH_NOT_SUPPORTED,
                               "",
                               "bias",
                               "a ragged offset on what node 'SDPA_FORWARD 0' has as bias",
                               "a tensor that attention reads or writes as Q, K, V, O, Stats, Max, Sum_exp, a gradient "
                               "of these or a page table",
                               "pad the tensor, and leave out set_ragged_offset()"};
    graph.nodes[0].name.clear();
    expect_finding(graph, "graph.c27", expected);  // by heads, and with rows of another width than Q's
    graph.at(attention::Bias).ragged_offset = graph.add("other", {9, 1, 1, 1}, DataType_t::FLOAT);
    expect_finding(graph, "graph.c27", expected);
}

TEST_CASE("sdpa_fwd.c63 sdpa_bwd.c45: a bound on the tokens below 1") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        graph.attention_options().max_total_seq_len_q = 0;
        expect_finding(
            graph, kind == NodeKind::SdpaForward ? "sdpa_fwd.c63" : "sdpa_bwd.c45",
            {INVALID_VALUE, "attention", "", "set_max_total_seq_len_q(0)", "a number of tokens of at least 1",
             "pass the end of the last sequence, or leave the call out"});
        graph.attention_options().max_total_seq_len_q = 7;
        expect_valid(graph);
    }
}

TEST_CASE("graph.c28: tensors of other rows that share an offset") {
    TestGraph graph = padded(NodeKind::SdpaForward);
    make_ragged(graph);
    TensorSpec& k = graph.at(attention::K);
    k.ragged_offset = graph.at(attention::Q).ragged_offset;
    k.stride = {k.dim[1] * k.dim[2] * k.dim[3], k.dim[3], k.dim[1] * k.dim[3], 1};
    expect_finding(graph, "graph.c28",
                   {INVALID_VALUE, "", "K",
                    "the ragged offset 'offset' with rows of 32 elements, which is also that of 'Q' with rows of 64 "
                    "elements",
                    "an offset for each width of rows, or multipliers in proportion to them",
                    "count tokens in the offset, and call set_ragged_offset_multiplier() with the elements of a row on "
                    "each tensor; or make another offset tensor"});
    graph.at(attention::Q).ragged_offset_multiplier = 64;
    CHECK(validate(graph).report.to_text().find("with rows of 32 elements, which is also that of 'Q' with rows of 64 "
                                                "elements, counted by 64") != std::string::npos);
    graph.at(attention::K).ragged_offset_multiplier = 32;
    expect_valid(graph);
}

TEST_CASE("graph.c30: a multiplier of nothing, out of range, or without an offset") {
    for (std::int64_t const multiplier : {std::int64_t{0}, std::int64_t{-64}, std::int64_t{1} << 62}) {
        TestGraph graph = padded(NodeKind::SdpaForward);
        make_ragged(graph);
        graph.at(attention::Q).ragged_offset_multiplier = multiplier;
        expect_finding(graph, "graph.c30",
                       {INVALID_VALUE, "", "Q", "a ragged offset's multiplier of " + std::to_string(multiplier),
                        "a number from 1 to 2^31",
                        "call set_ragged_offset_multiplier() with the elements that the offset counts as one"});
    }
    TestGraph dense = padded(NodeKind::SdpaForward);
    dense.at(attention::Q).ragged_offset_multiplier = 64;
    expect_finding(
        dense, "graph.c30",
        {INVALID_VALUE, "", "Q", "a ragged offset's multiplier of 64 without an offset",
         "the offset that it belongs to", "call set_ragged_offset(), or leave out set_ragged_offset_multiplier()"});
}

TEST_CASE("graph.c29: a ragged tensor that is used with other lengths") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.attention_options().padding_mask = true;
    graph.connect(attention::SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
    graph.connect(attention::SeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
    make_ragged(graph, attention::K);
    graph.resize(attention::V, graph.at(attention::K).dim);
    graph.resize(attention::Q, {2, 4, 6, 16});
    Node second = graph.nodes[0];
    second.name = "second";
    second.ports[attention::O] = graph.add("O2", {}, DataType_t::NOT_SET);
    second.ports[attention::SeqLenKv] = graph.add("other lengths", {2, 1, 1, 1}, DataType_t::INT32);
    graph.nodes.push_back(second);
    graph.tensors.back().stride = {1, 1, 1, 1};
    Report const report = validate(graph).report;
    CHECK(report.to_text().find("[graph.c29] tensor 'K': found a ragged tensor that node 'attention' has as K and node "
                                "'second' as K, with other lengths") != std::string::npos);
}
