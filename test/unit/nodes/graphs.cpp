#include "graphs.h"

#include "attention/block_scale.h"
#include "nodes/attention/attention_node.h"

namespace test {

TestGraph attention_graph(NodeKind kind) {
    using namespace attention;
    TestGraph graph;
    graph.io_data_type = DataType_t::HALF;
    graph.add_node(kind, "attention");
    graph.connect(Q, {2, 4, 6, 16}, DataType_t::HALF);
    graph.connect(K, {2, 2, 8, 16}, DataType_t::HALF);
    graph.connect(V, {2, 4, 8, 32}, DataType_t::HALF);
    if (kind == NodeKind::SdpaForward) {
        graph.connect_output(O);
        return graph;
    }
    graph.connect(O, {2, 4, 6, 32}, DataType_t::HALF);
    graph.connect(DO, {2, 4, 6, 32}, DataType_t::HALF);
    graph.connect(Stats, {2, 4, 6, 1}, DataType_t::FLOAT);
    for (int const port : {DQ, DK, DV}) graph.connect_output(port);
    return graph;
}

TestGraph fp8_graph(NodeKind kind) {
    TestGraph graph = attention_graph(kind);
    graph.io_data_type = DataType_t::FP8_E4M3;
    for (TensorSpec& tensor : graph.tensors) {
        if (tensor.data_type == DataType_t::HALF) tensor.data_type = DataType_t::FP8_E4M3;
    }
    for (PortRow const& row : schema_of(kind).ports) {
        if (!is_fp8_port(row.port)) continue;
        if (row.direction == Direction::Input) graph.connect(row.port, {1, 1, 1, 1}, DataType_t::FLOAT);
        else graph.connect_output(row.port);
    }
    return graph;
}

TestGraph block_scaled_graph(NodeKind kind) {
    using namespace attention;
    TestGraph graph = attention_graph(kind);
    graph.io_data_type = DataType_t::BFLOAT16;
    graph.attention_options().block_scaled = true;
    for (int const port : {Q, K, V}) graph.at(port).data_type = DataType_t::FP8_E4M3;
    if (kind == NodeKind::SdpaBackward) {
        graph.at(O).data_type = DataType_t::BFLOAT16;
        graph.at(DO).data_type = DataType_t::FP8_E4M3;
        graph.connect(QTransposed, {2, 4, 6, 16}, DataType_t::FP8_E4M3);
        graph.connect(KTransposed, {2, 2, 8, 16}, DataType_t::FP8_E4M3);
        graph.connect(DOTransposed, {2, 4, 6, 32}, DataType_t::FP8_E4M3);
        graph.connect(DOF16, {2, 4, 6, 32}, DataType_t::BFLOAT16);
        for (int const port : {AmaxDQ, AmaxDK, AmaxDV}) graph.connect_output(port);
    } else {
        graph.connect_output(AmaxO);
    }
    for (BlockScaled const& row : block_scaled_ports(graph.nodes[0])) {
        Dims const dim = attention::padded_block_dims(graph.at(row.tensor).dim, row.axis);
        graph.connect(row.scale, dim, DataType_t::FP8_E8M0).reordering = TensorReordering_t::F8_128x4;
    }
    return graph;
}

TestGraph pointwise_graph(PointwiseMode_t mode) {
    TestGraph graph;
    graph.io_data_type = DataType_t::FLOAT;
    graph.compute_data_type = DataType_t::FLOAT;
    graph.add_node(NodeKind::Pointwise, "op");
    graph.fields<PointwiseFields>().mode = mode;
    graph.connect(pointwise::In0, {2, 3, 4}, DataType_t::FLOAT);
    if (mode == PointwiseMode_t::ADD) graph.connect(pointwise::In1, {4}, DataType_t::FLOAT);
    graph.connect_output(pointwise::Out0);
    return graph;
}

TestGraph matmul_graph() {
    TestGraph graph;
    graph.io_data_type = DataType_t::FLOAT;
    graph.compute_data_type = DataType_t::FLOAT;
    graph.add_node(NodeKind::Matmul, "product");
    graph.connect(matmul::A, {2, 4, 6, 16}, DataType_t::FLOAT);
    graph.connect(matmul::B, {2, 2, 16, 8}, DataType_t::FLOAT);
    graph.connect_output(matmul::C);
    return graph;
}

TestGraph reduction_graph() {
    TestGraph graph;
    graph.compute_data_type = DataType_t::FLOAT;
    graph.add_node(NodeKind::Reduction, "sum");
    graph.fields<ReductionFields>().mode = ReductionMode_t::ADD;
    graph.connect(reduction::X, {2, 3, 4}, DataType_t::FLOAT);
    graph.connect(reduction::Y, {2, 1, 4}, DataType_t::FLOAT);
    return graph;
}

TestGraph slice_graph() {
    TestGraph graph;
    graph.add_node(NodeKind::Slice, "part");
    graph.fields<SliceFields>() = {{1, 0, 2}, {3, 6, 8}, {1, 2, 3}};
    graph.connect(slice::X, {4, 6, 8}, DataType_t::HALF);
    graph.connect_output(slice::Y);
    return graph;
}

TestGraph reshape_graph() {
    TestGraph graph;
    graph.add_node(NodeKind::Reshape, "rows");
    graph.fields<ReshapeFields>().dim = {6, 4};
    graph.connect(reshape::X, {2, 3, 4}, DataType_t::HALF);
    graph.connect_output(reshape::Y);
    return graph;
}

TestGraph neighborhood_graph(NodeKind kind) {
    using namespace cudnn_frontend::nodes::neighborhood;
    bool const is_fused = kind == NodeKind::NeighborhoodForward || kind == NodeKind::NeighborhoodBackward;
    TestGraph graph;
    graph.io_data_type = DataType_t::HALF;
    Node& node = graph.add_node(kind, "neighbors");
    const_cast<NeighborhoodFields&>(*neighborhood_fields(node)).kernel_size = {3, 5};
    if (auto* const forward = std::get_if<NeighborhoodForwardFields>(&node.fields)) forward->generate_stats = true;
    for (PortRow const& row : schema_of(kind).ports) {
        bool const is_bias = row.port == RelPosBias || row.port == DRelPosBias;
        if (is_bias) continue;
        if (row.direction == Direction::Output) graph.connect_output(row.port);
        else if (row.port == Stats) graph.connect(Stats, {2, 6, 9, 3}, DataType_t::FLOAT);
        else if (row.port == Attn || row.port == DAttn) graph.connect(row.port, {2, 3, 6, 9, 15}, DataType_t::HALF);
        else graph.connect(row.port, is_fused ? Dims{2, 6, 9, 3, 8} : Dims{2, 3, 6, 9, 8}, DataType_t::HALF);
    }
    return graph;
}

TestGraph transpose_graph() {
    TestGraph graph;
    graph.add_node(NodeKind::Transpose, "turned");
    graph.fields<TransposeFields>().permutation = {2, 0, 1};
    graph.connect(transpose::X, {2, 3, 4}, DataType_t::HALF);
    graph.connect_output(transpose::Y);
    return graph;
}

TestGraph chain_graph() {
    TestGraph graph;
    graph.io_data_type = DataType_t::FLOAT;
    graph.intermediate_data_type = DataType_t::FLOAT;
    graph.compute_data_type = DataType_t::FLOAT;
    TensorId const in = graph.add("in", {2, 3}, DataType_t::FLOAT);
    TensorId const between = graph.add("between", {}, DataType_t::NOT_SET);
    TensorId const out = graph.add("out", {}, DataType_t::NOT_SET);
    graph.tensors[static_cast<std::size_t>(between)].is_virtual = true;
    auto const append = [&](char const* name, PointwiseMode_t mode, TensorId from, TensorId to) {
        Node& node = graph.add_node(NodeKind::Pointwise, name);
        std::get<PointwiseFields>(node.fields).mode = mode;
        node.ports[pointwise::In0] = from;
        node.ports[pointwise::Out0] = to;
    };
    append("exp", PointwiseMode_t::EXP, in, between);
    append("neg", PointwiseMode_t::NEG, between, out);
    return graph;
}

void expect_finding(GraphSpec const& graph, std::string const& rule, Expected const& expected) {
    Validation const validation = validate(graph);
    INFO(rule);
    INFO(validation.report);
    CHECK_FALSE(validation.graph.has_value());
    REQUIRE(validation.report.findings().size() == 1);
    Finding const& finding = validation.report.findings().front();
    CHECK(finding.where.rule == rule);
    CHECK(finding.code == expected.code);
    CHECK(finding.where.node == expected.node);
    CHECK(finding.where.tensor == expected.tensor);
    CHECK(finding.found == expected.found);
    CHECK(finding.needed == expected.needed);
    CHECK(finding.fix == expected.fix);
}

void expect_valid(GraphSpec const& graph) {
    Validation const validation = validate(graph);
    INFO(validation.report);
    CHECK(validation.report.ok());
    CHECK(validation.graph.has_value());
}

}  // namespace test
