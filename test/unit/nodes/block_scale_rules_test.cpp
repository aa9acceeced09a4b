// Rules about the scales of block-scaled attention and about the tensors that only it has.
#include "attention/block_scale.h"
#include "graphs.h"
#include "nodes/attention/attention_node.h"

using namespace test;
using namespace attention;
using enum error_code_t;

namespace {

constexpr NodeKind kForward = NodeKind::SdpaForward, kBackward = NodeKind::SdpaBackward;

std::string rule_of(NodeKind kind, char const* of_forward, char const* of_backward) {
    return kind == kForward ? std::string("sdpa_fp8_fwd.") + of_forward : std::string("sdpa_fp8_bwd.") + of_backward;
}

template <class Visit>
void for_each_scale(Visit const& visit) {
    for (NodeKind const kind : {kForward, kBackward}) {
        for (BlockScaled const& row : block_scaled_ports(block_scaled_graph(kind).nodes[0])) {
            visit(kind, row, std::string(port_name(kind, row.scale)));
        }
    }
}

}  // namespace

TEST_CASE("block-scaled attention is valid, and what is left out is inferred") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = block_scaled_graph(kind);
        auto const validation = validate(graph);
        REQUIRE(validation.report.to_text() == "");
        GraphSpec const& made = validation.graph->spec();
        CHECK(is_fp8(made.nodes[0]));
        CHECK(is_block_scaled(made.nodes[0]));
        CHECK(made.tensor(made.nodes[0], kind == kForward ? AmaxO : AmaxDK)->dim == Dims{1, 1, 1, 1});
        CHECK(made.tensor(made.nodes[0], kind == kForward ? O : DQ)->data_type == DataType_t::BFLOAT16);
        CHECK(block_scaled_ports(made.nodes[0]).size() == (kind == kForward ? 3 : 7));
        CHECK(block_scaled_ports(fp8_graph(kind).nodes[0]).empty());
        for (int const port : {O, DQ, DK, DV, DOF16}) {
            if (graph.nodes[0].ports[static_cast<std::size_t>(port)] != kNoTensor) {
                graph.at(port).data_type = DataType_t::HALF;
            }
        }
        expect_valid(graph);
    }
}

TEST_CASE("sdpa_fp8_fwd.c01 sdpa_fp8_bwd.c01: block scales and what comes with them that are missing") {
    for_each_scale([](NodeKind kind, BlockScaled const& row, std::string const& name) {
        TestGraph graph = block_scaled_graph(kind);
        graph.at(row.scale).reordering = TensorReordering_t::NONE;  // not read from here on
        graph.disconnect(row.scale);
        expect_finding(
            graph, rule_of(kind, "c01", "c01"),
            {ATTRIBUTE_NOT_SET, "attention", name, "no tensor (null) in block-scaled attention", "the tensor " + name,
             "pass a tensor of FP8_E8M0, such as mxfp8_quantize() of <cudnn_frontend/fp8.h> makes it"});
    });
    for (int const port : {QTransposed, KTransposed, DOTransposed, DOF16}) {
        TestGraph graph = block_scaled_graph(kBackward);
        std::string const name = port_name(kBackward, port);
        graph.disconnect(port);
        expect_finding(
            graph, "sdpa_fp8_bwd.c01",
            {ATTRIBUTE_NOT_SET, "attention", name, "no tensor (null) in block-scaled attention", "the tensor " + name,
             port == DOF16 ? "pass the gradient of O in HALF or BFLOAT16"
                           : "pass the numbers quantized in blocks along the sequence"});
    }
}

TEST_CASE("sdpa_fp8_fwd.c08 sdpa_fp8_bwd.c07: block scales of another type") {
    for_each_scale([](NodeKind kind, BlockScaled const& row, std::string const& name) {
        TestGraph graph = block_scaled_graph(kind);
        graph.at(row.scale).data_type = DataType_t::FLOAT;
        expect_finding(graph, rule_of(kind, "c08", "c07"),
                       {GRAPH_NOT_SUPPORTED, "attention", name, name + " of type FLOAT", "type FP8_E8M0",
                        "call set_data_type(DataType_t::FP8_E8M0)"});
    });
}

TEST_CASE("sdpa_fp8_fwd.c09 sdpa_fp8_bwd.c08: block scales of other dims") {
    for_each_scale([](NodeKind kind, BlockScaled const& row, std::string const& name) {
        TestGraph graph = block_scaled_graph(kind);
        Dims const wanted = graph.at(row.scale).dim, of = graph.at(row.tensor).dim;
        Dims const unpadded{of[0], of[1], row.axis == 3 ? of[2] : 1, row.axis == 3 ? 1 : of[3]};
        graph.resize(row.scale, unpadded);
        std::string const axis = std::to_string(row.axis), other = std::to_string(5 - row.axis);
        expect_finding(graph, rule_of(kind, "c09", "c08"),
                       {INVALID_VALUE, "attention", name, name + " with dims " + core::to_string(unpadded),
                        "dims " + core::to_string(wanted) + ": of " + port_name(kind, row.tensor) + "'s dims " +
                            core::to_string(of) + " a scale for each 32 along dim " + axis + ", padded to 4, and dim " +
                            other + " padded to 128",
                        "use the dims that mxfp8_scale_dim() of <cudnn_frontend/fp8.h> returns"});
    });
}

TEST_CASE("sdpa_fp8_fwd.c10 sdpa_fp8_bwd.c09: block scales in another order, with gaps or by value") {
    for_each_scale([](NodeKind kind, BlockScaled const& row, std::string const& name) {
        TestGraph plain = block_scaled_graph(kind), gaps = block_scaled_graph(kind);
        plain.at(row.scale).reordering = TensorReordering_t::NONE;
        std::string const rule = rule_of(kind, "c10", "c09");
        expect_finding(plain, rule,
                       {GRAPH_NOT_SUPPORTED, "attention", name, name + " with the reordering NONE",
                        "the reordering F8_128x4", "call set_reordering_type(TensorReordering_t::F8_128x4)"});
        gaps.at(row.scale).stride[0] += 512;
        expect_finding(gaps, rule,
                       {GRAPH_NOT_SUPPORTED, "attention", name,
                        name + " with strides " + core::to_string(gaps.at(row.scale).stride),
                        "strides without gaps, the tiles of a head one after the other",
                        "leave out set_stride(), or call it with the row-major strides"});
        TestGraph columns = block_scaled_graph(kind);
        TensorSpec& scale = columns.at(row.scale);
        scale.stride[2] = 1;
        scale.stride[3] = scale.dim[2];
        expect_valid(columns);
    });
}

TEST_CASE("sdpa_fp8_fwd.c11 sdpa_fp8_bwd.c10: block scales and factors of whole tensors together") {
    for (NodeKind const kind : {kForward, kBackward}) {
        int const factor = kind == kForward ? DescaleS : ScaleDP, amax = kind == kForward ? AmaxS : AmaxDP;
        for (int const port : {factor, amax}) {
            TestGraph graph = block_scaled_graph(kind);
            graph.connect(port, {1, 1, 1, 1}, DataType_t::FLOAT);
            std::string const name = port_name(kind, port);
            expect_finding(
                graph, rule_of(kind, "c11", "c10"),
                {INVALID_VALUE, "attention", name, name + " in block-scaled attention",
                 "block scales of the inputs alone: the probabilities and the results have no factors",
                 "leave the tensor out, or call the sdpa_fp8() or sdpa_fp8_backward() that has this argument"});
        }
    }
    TestGraph graph = fp8_graph(kBackward);
    graph.connect(QTransposed, {2, 4, 6, 16}, DataType_t::FP8_E4M3);
    expect_finding(graph, "sdpa_fp8_bwd.c10",
                   {INVALID_VALUE, "attention", "Q_T", "Q_T in attention that is not block-scaled",
                    "one scale for each tensor, and no tensors of block-scaled attention",
                    "call the sdpa_fp8_backward() with block scales"});
}

TEST_CASE("sdpa_fp8_fwd.c12 sdpa_fp8_bwd.c11: results and dO_f16 of other types") {
    for (NodeKind const kind : {kForward, kBackward}) {
        for (int const port : {O, DOF16, DQ, DK, DV}) {
            TestGraph graph = block_scaled_graph(kind);
            if (graph.nodes[0].ports[static_cast<std::size_t>(port)] == kNoTensor) continue;
            graph.at(port).data_type = DataType_t::FP8_E4M3;
            bool const is_made = kind == kForward || port == DQ || port == DK || port == DV;
            std::string const name = port_name(kind, port);
            CAPTURE(is_made, name);
            expect_finding(
                graph, rule_of(kind, "c12", "c11"),
                {GRAPH_NOT_SUPPORTED, "attention", name, name + " of type FP8_E4M3",
                 "type HALF or BFLOAT16: no scale comes with it", "call set_data_type(DataType_t::BFLOAT16)"});
        }
    }
}

TEST_CASE("sdpa_fp8_fwd.c13 sdpa_fp8_bwd.c12: ragged tensors") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = block_scaled_graph(kind);
        graph.attention_options().padding_mask = true;
        graph.connect(SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
        graph.connect(SeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
        TensorId const offset = graph.add("offset", {3, 1, 1, 1}, DataType_t::INT32);
        graph.at(Q).stride = {0, 16, 64, 1};
        graph.at(Q).ragged_offset = offset;
        expect_finding(graph, rule_of(kind, "c13", "c12"),
                       {GRAPH_NOT_SUPPORTED, "attention", "Q", "ragged Q",
                        "sequences padded to one length, since blocks of scales may not end with one",
                        "pad the sequences and set lengths, or use one scale for each tensor"});
    }
}

TEST_CASE("sdpa_fp8_fwd.c13: pages of block-scaled keys and values") {
    for (int const table : {PageTableK, PageTableV}) {
        TestGraph graph = block_scaled_graph(kForward);
        graph.attention_options().padding_mask = true;
        graph.connect(SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
        graph.connect(SeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
        graph.connect(table, {2, 1, 1, 1}, DataType_t::INT32);
        std::string const port = port_name(kForward, table);
        expect_finding(graph, "sdpa_fp8_fwd.c13",
                       {GRAPH_NOT_SUPPORTED, "attention", port, "the page table " + port,
                        "sequences padded to one length, since blocks of scales may not end with one",
                        "pad the sequences and set lengths, or use one scale for each tensor"});
    }
}

TEST_CASE("sdpa_fp8_bwd.c13: numbers quantized along the sequence that are of other types or dims") {
    struct Row {
        int copy, original;
        char const* meaning;
    };
    for (Row const& row :
         {Row{QTransposed, Q, "those of Q"}, Row{KTransposed, K, "those of K"}, Row{DOTransposed, DO, ""}}) {
        TestGraph graph = block_scaled_graph(kBackward);
        std::string const name = port_name(kBackward, row.copy);
        graph.at(row.copy).data_type = DataType_t::FP8_E5M2;
        expect_finding(graph, "sdpa_fp8_bwd.c13",
                       {INVALID_VALUE, "attention", name, name + " of type FP8_E5M2", "type FP8_E4M3",
                        "call set_data_type(DataType_t::FP8_E4M3)"});
    }
    TestGraph graph = block_scaled_graph(kBackward);
    graph.resize(KTransposed, {2, 4, 8, 16});
    int const scale = DescaleKTransposed;
    graph.resize(scale, attention::padded_block_dims({2, 4, 8, 16}, 2));
    expect_finding(graph, "sdpa_fp8_bwd.c13",
                   {INVALID_VALUE, "attention", "K_T", "K_T with dims [2, 4, 8, 16]", "dims [2, 2, 8, 16], those of K",
                    "call set_dim() on K_T with these dims, or change what they follow from"});
}
