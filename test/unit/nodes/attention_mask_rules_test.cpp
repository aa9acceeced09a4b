#include "graphs.h"

#include <cmath>
#include <limits>

using namespace test;
using namespace cudnn_frontend::nodes::attention;
using enum cudnn_frontend::error_code_t;

namespace {

void connect_lengths(TestGraph& graph) {
    graph.attention_options().padding_mask = true;
    graph.connect(SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
    graph.connect(SeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
}

}  // namespace

TEST_CASE("sdpa_fwd.c16 sdpa_bwd.c16: the scale as a tensor and as a number") {
    auto const break_graph = [](TestGraph& graph) {
        graph.attention_options().attn_scale = 0.125f;
        graph.connect(AttnScale, {1, 1, 1, 1}, DataType_t::FLOAT);
    };
    expect_in_attention("c16", break_graph,
                        {ATTRIBUTE_NOT_SET, "attention", "attn_scale", "a scale tensor and the scale 0.125",
                         "the scale as a tensor or as a number, not both", "leave out one set_attn_scale()"});
}

TEST_CASE("sdpa_fwd.c17 sdpa_bwd.c17: a scale for each head") {
    expect_in_attention("c17",
                        [](TestGraph& graph) {
                            graph.connect(AttnScale, {1, 4, 1, 1}, DataType_t::FLOAT);
                        },
                        {INVALID_VALUE, "attention", "attn_scale", "attn_scale with dims [1, 4, 1, 1]",
                         "one element, every dim 1", "call set_dim({1, 1, 1, 1})"});
}

TEST_CASE("sdpa_fwd.c17 sdpa_bwd.c17: a scale of an integer type") {
    expect_in_attention("c17", [](TestGraph& graph) { graph.connect(AttnScale, {1}, DataType_t::INT32); },
                        {INVALID_VALUE, "attention", "attn_scale", "attn_scale of type INT32", "a floating-point type",
                         "call set_data_type(DataType_t::FLOAT)"});
}

TEST_CASE("sdpa_fwd.c18 sdpa_bwd.c18: a scale that is not finite") {
    expect_in_attention(
        "c18", [](TestGraph& graph) { graph.attention_options().attn_scale = std::numeric_limits<float>::infinity(); },
        {INVALID_VALUE, "attention", "", "the attention scale inf", "a finite number",
         "call set_attn_scale() with 1 over the square root of the head dim"});
    expect_in_attention("c18",
                        [](TestGraph& graph) {
                            graph.connect(AttnScale, {1, 1, 1, 1}, DataType_t::FLOAT);
                            graph.at(AttnScale).value =
                                cudnn_frontend::detail::make_scalar(std::numeric_limits<float>::quiet_NaN());
                        },
                        {INVALID_VALUE, "attention", "attn_scale", "the attention scale nan", "a finite number",
                         "call set_attn_scale() with 1 over the square root of the head dim"});
}

TEST_CASE("sdpa_fwd.c19 sdpa_bwd.c19: a bias that does not broadcast to the scores") {
    expect_in_attention("c19",
                        [](TestGraph& graph) {
                            graph.connect(Bias, {1, 2, 6, 8}, DataType_t::FLOAT);
                        },
                        {INVALID_VALUE, "attention", "bias", "bias with dims [1, 2, 6, 8]",
                         "dims [2, 4, 6, 8], the scores' {B, Hq, Sq, Skv}, each of them or 1",
                         "set the dims that differ to 1 to share them, or to the scores' size"});
}

TEST_CASE("sdpa_fwd.c20 sdpa_bwd.c20: a boolean bias") {
    expect_in_attention(
        "c20",
        [](TestGraph& graph) {
            graph.connect(Bias, {1, 1, 6, 8}, DataType_t::BOOLEAN);
        },
        {GRAPH_NOT_SUPPORTED, "attention", "bias", "bias of type BOOLEAN", "numbers that are added to the scores",
         "pass 0 where a score is kept and minus infinity where it is masked, in HALF, BFLOAT16 or FLOAT"});
}

TEST_CASE("sdpa_fwd.c20 sdpa_bwd.c20: a bias of another type") {
    expect_in_attention("c20",
                        [](TestGraph& graph) {
                            graph.connect(Bias, {1, 1, 6, 8}, DataType_t::DOUBLE);
                        },
                        {GRAPH_NOT_SUPPORTED, "attention", "bias", "bias of type DOUBLE",
                         "type HALF, BFLOAT16 or FLOAT", "call set_data_type() with one of these"});
}

TEST_CASE("sdpa_fwd.c21 sdpa_bwd.c21: a padding mask without one of the lengths") {
    auto const break_graph = [](TestGraph& graph) {
        connect_lengths(graph);
        graph.disconnect(SeqLenKv);
    };
    expect_in_attention("c21", break_graph,
                        {ATTRIBUTE_NOT_SET, "attention", "seq_len_kv", "a padding mask without seq_len_kv",
                         "both seq_len_q and seq_len_kv",
                         "call set_seq_len_q() and set_seq_len_kv() with the lengths of the batch entries"});
}

TEST_CASE("cumulative lengths in place of lengths, on one side or on both") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        connect_lengths(graph);
        graph.disconnect(SeqLenKv);
        graph.connect(CuSeqLenKv, {3, 1, 1, 1}, DataType_t::INT64);
        expect_valid(graph);
        graph.disconnect(SeqLenQ);
        graph.connect(CuSeqLenQ, {3, 1, 1, 1}, DataType_t::INT32);
        expect_valid(graph);
    }
}

TEST_CASE("more batch entries than numbers count, with cumulative lengths, are reported and do not overflow") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    connect_lengths(graph);
    graph.disconnect(SeqLenQ);
    graph.connect(CuSeqLenQ, {3, 1, 1, 1}, DataType_t::INT32);
    graph.at(Q).dim[0] = std::numeric_limits<std::int64_t>::max();
    CHECK(validate(graph).report.to_text().find("[graph.c10]") != std::string::npos);
}

TEST_CASE("sdpa_fwd.c62 sdpa_bwd.c57: lengths beside their sums") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        connect_lengths(graph);
        graph.connect(CuSeqLenQ, {3, 1, 1, 1}, DataType_t::INT32);
        expect_finding(graph, kind == NodeKind::SdpaForward ? "sdpa_fwd.c62" : "sdpa_bwd.c57",
                       {INVALID_VALUE, "attention", "cu_seq_len_q", "cu_seq_len_q together with seq_len_q",
                        "one of them", "leave out set_cu_seq_len_q() or set_seq_len_q()"});
    }
}

TEST_CASE("sdpa_fwd.c23 sdpa_fwd.c24: sums of other dims and types") {
    auto const with_sums = [](core::Dims const& dim, DataType_t type) {
        return [=](TestGraph& graph) {
            connect_lengths(graph);
            graph.disconnect(SeqLenQ);
            graph.connect(CuSeqLenQ, dim, type);
        };
    };
    expect_in_attention("c23", with_sums({2, 1, 1, 1}, DataType_t::INT32),
                        {INVALID_VALUE, "attention", "cu_seq_len_q", "cu_seq_len_q with dims [2, 1, 1, 1]",
                         "dims [3, 1, 1, 1], where each batch entry of Q ends, after a first 0",
                         "call set_dim() on cu_seq_len_q with these dims, or change what they follow from"});
    expect_in_attention("c24", with_sums({3, 1, 1, 1}, DataType_t::FLOAT),
                        {GRAPH_NOT_SUPPORTED, "attention", "cu_seq_len_q", "cu_seq_len_q of type FLOAT",
                         "INT32 or INT64", "call set_data_type(DataType_t::INT32)"});
}

TEST_CASE("sdpa_fwd.c23 sdpa_bwd.c23: running totals in place of lengths") {
    auto const break_graph = [](TestGraph& graph) {
        connect_lengths(graph);
        graph.resize(SeqLenQ, {3, 1, 1, 1});
    };
    expect_in_attention("c23", break_graph,
                        {INVALID_VALUE, "attention", "seq_len_q", "seq_len_q with dims [3, 1, 1, 1]",
                         "dims [2, 1, 1, 1], one length for each batch entry of Q",
                         "call set_dim() on seq_len_q with these dims, or change what they follow from"});
}

TEST_CASE("sdpa_fwd.c24 sdpa_bwd.c24: lengths that are no integers") {
    auto const with_type = [](DataType_t type) {
        return [type](TestGraph& graph) {
            connect_lengths(graph);
            graph.at(SeqLenKv).data_type = type;
        };
    };
    expect_in_attention("c24", with_type(DataType_t::FLOAT),
                        {GRAPH_NOT_SUPPORTED, "attention", "seq_len_kv", "seq_len_kv of type FLOAT", "INT32 or INT64",
                         "call set_data_type(DataType_t::INT32)"});
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        with_type(DataType_t::INT64)(graph);
        expect_valid(graph);
    }
}

TEST_CASE("sdpa_fwd.c40 sdpa_bwd.c42: lengths that a node computes") {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        connect_lengths(graph);
        graph.compute_data_type = DataType_t::FLOAT;
        graph.at(SeqLenKv).is_virtual = true;
        TensorId const counts = graph.add("counts", {2, 1, 1, 1}, DataType_t::INT32);
        Node& node = graph.add_node(NodeKind::Pointwise, "negate");
        std::get<PointwiseFields>(node.fields).mode = PointwiseMode_t::NEG;
        node.ports = {counts, kNoTensor, kNoTensor, graph.slot(SeqLenKv)};
        expect_finding(graph, kind == NodeKind::SdpaForward ? "sdpa_fwd.c40" : "sdpa_bwd.c42",
                       {GRAPH_NOT_SUPPORTED, "attention", "seq_len_kv", "seq_len_kv that is computed as negate.OUT_0",
                        "lengths that are known before the graph runs",
                        "compute them before, make a tensor for them with the graph's tensor() and pass a pointer"});
    }
}

TEST_CASE("sdpa_fwd.c41 sdpa_bwd.c43: more heads than a table of slopes may have") {
    std::int64_t const heads = std::int64_t{1} << 40;
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        graph.resize(Q, {2, heads, 6, 16});
        graph.resize(O, {2, heads, 6, 32});
        if (kind == NodeKind::SdpaBackward) {
            graph.resize(DO, {2, heads, 6, 32});
            graph.resize(Stats, {2, heads, 6, 1});
        }
        expect_valid(graph);
        graph.attention_options().alibi_mask = true;
        expect_finding(graph, kind == NodeKind::SdpaForward ? "sdpa_fwd.c41" : "sdpa_bwd.c43",
                       {GRAPH_NOT_SUPPORTED, "attention", "Q", "1099511627776 heads in Q with the ALiBi mask",
                        "at most 1048576 heads", "check the order of the dims, which is batch, heads, rows, columns"});
    }
}

TEST_CASE("sdpa_fwd.c25 sdpa_bwd.c25: a negative right bound") {
    expect_in_attention("c25", [](TestGraph& graph) { graph.attention_options().right_bound = -1; },
                        {INVALID_VALUE, "attention", "", "the right bound -1", "a right bound from 0 to 2147483647",
                         "call set_diagonal_band_right_bound(0) to mask all that is right of the diagonal"});
}

TEST_CASE("sdpa_fwd.c25 sdpa_bwd.c25: a right bound past INT32") {
    expect_in_attention("c25", [](TestGraph& graph) { graph.attention_options().right_bound = 2147483648; },
                        {INVALID_VALUE, "attention", "", "the right bound 2147483648",
                         "a right bound from 0 to 2147483647", "leave out the right bound to keep all columns"});
}

TEST_CASE("sdpa_fwd.c26 sdpa_bwd.c26: a left bound that does not count the diagonal") {
    expect_in_attention("c26", [](TestGraph& graph) { graph.attention_options().left_bound = 0; },
                        {INVALID_VALUE, "attention", "", "the left bound 0",
                         "a left bound from 1 to 2147483647; it counts the diagonal itself",
                         "add 1 to a window that does not count the diagonal, or leave out the left bound"});
}

TEST_CASE("sdpa_fwd.c26 sdpa_bwd.c26: a left bound past INT32") {
    expect_in_attention("c26", [](TestGraph& graph) { graph.attention_options().left_bound = INT64_MAX; },
                        {INVALID_VALUE, "attention", "", "the left bound 9223372036854775807",
                         "a left bound from 1 to 2147483647; it counts the diagonal itself",
                         "leave out the left bound to keep all columns"});
}

TEST_CASE("sdpa_bwd.c40: dBias without a bias") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.connect(DBias, {1, 4, 6, 8}, DataType_t::HALF);
    expect_finding(
        graph, "sdpa_bwd.c40",
        {ATTRIBUTE_NOT_SET, "attention", "dBias", "dBias without a bias", "the bias that it is the gradient of",
         "call set_bias() as in the forward graph, or leave out set_dbias()"});
}

TEST_CASE("sdpa_bwd.c41: dBias that does not broadcast to the scores") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.connect(Bias, {1, 4, 6, 8}, DataType_t::HALF);
    graph.connect(DBias, {2, 2, 6, 8}, DataType_t::HALF);
    expect_finding(graph, "sdpa_bwd.c41",
                   {INVALID_VALUE, "attention", "dBias", "dBias with dims [2, 2, 6, 8]",
                    "dims [2, 4, 6, 8], the scores' {B, Hq, Sq, Skv}, each of them or 1",
                    "set the dims that differ to 1 to share them, or to the scores' size"});
}

TEST_CASE("dBias may have other dims than the bias, of the scores or 1") {
    for (Dims const& dim : {Dims{2, 4, 6, 8}, Dims{1, 1, 6, 8}, Dims{2, 1, 1, 8}, Dims{1, 1, 1, 1}}) {
        TestGraph graph = attention_graph(NodeKind::SdpaBackward);
        graph.connect(Bias, {1, 4, 6, 8}, DataType_t::HALF);
        graph.connect(DBias, dim, DataType_t::HALF);
        expect_valid(graph);
    }
}

TEST_CASE("a block mask has a bit for each tile of 128 queries by 128 keys") {
    for (auto const& [queries, keys, dims] : {std::tuple<std::int64_t, std::int64_t, Dims>(6, 8, {2, 4, 1, 1}),
                                              {128, 1024, {2, 4, 1, 1}},
                                              {129, 1025, {2, 4, 2, 2}}}) {
        TestGraph graph = attention_graph(NodeKind::SdpaForward);
        graph.resize(Q, {2, 4, queries, 16});
        graph.resize(K, {2, 2, keys, 16});
        graph.resize(V, {2, 4, keys, 32});
        graph.connect(BlockMask, dims, DataType_t::UINT8);
        CHECK(validate(graph).report.to_text() == "");
    }
}

TEST_CASE("sdpa_fwd.c60: a block mask with other dims") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.connect(BlockMask, {2, 4, 6, 8}, DataType_t::UINT8);
    expect_finding(graph, "sdpa_fwd.c60",
                   {INVALID_VALUE, "attention", "block_mask", "block_mask with dims [2, 4, 6, 8]",
                    "dims [2, 4, 1, 1], a bit for each tile of 128 queries by 128 keys",
                    "call set_dim() on block_mask with these dims, or change what they follow from"});
}

TEST_CASE("sdpa_fwd.c61: a block mask of another type") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.connect(BlockMask, {2, 4, 1, 1}, DataType_t::BOOLEAN);
    expect_finding(graph, "sdpa_fwd.c61",
                   {GRAPH_NOT_SUPPORTED, "attention", "block_mask", "block_mask of type BOOLEAN", "type UINT8",
                    "call set_data_type(DataType_t::UINT8)"});
}

TEST_CASE("sdpa_fwd.c15: a block mask by value") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.connect(BlockMask, {2, 4, 1, 1}, DataType_t::UINT8).is_by_value = true;
    CHECK(validate(graph).report.to_text().find("found block_mask passed by value") != std::string::npos);
}
