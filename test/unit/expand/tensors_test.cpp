// Which tensors become which values, the names of everything, and the nodes around attention.
#include "attention_graphs.h"
#include "core/data_type.h"
#include "nodes/schema/schema.h"
#include "support/catch.h"

using namespace test;

namespace {

nodes::Node& add_pointwise(AttentionGraph& graph, nodes::TensorId in, nodes::TensorId out) {
    nodes::Node node = nodes::make_node(nodes::NodeKind::Pointwise);
    std::get<nodes::PointwiseFields>(node.fields).mode = PointwiseMode_t::RELU_FWD;
    node.ports[nodes::pointwise::In0] = in;
    node.ports[nodes::pointwise::Out0] = out;
    graph.spec.nodes.insert(graph.spec.nodes.begin(), std::move(node));
    return graph.spec.nodes.front();
}

}  // namespace

TEST_CASE("A scale is a constant, a pointer or memory, as the user gave it", "[expand]") {
    auto graph = AttentionGraph::forward();
    SECTION("a number") {
        ir::OpGraph const ops = composite(graph.scale(0.125f));
        CHECK(find_value(ops, "scale").role == ir::Role::Constant);
        CHECK(core::to_double(find_value(ops, "scale").constant) == 0.125);
    }
    SECTION("a tensor in memory") {
        graph.connect(Port::AttnScale, DataType_t::FLOAT, {1, 1, 1, 1});
        CHECK(find_value(composite(graph), "attn_scale").role == ir::Role::Input);
    }
    SECTION("a tensor by value") {
        graph.connect(Port::AttnScale, DataType_t::FLOAT, {1, 1, 1, 1}).tensor(Port::AttnScale).is_by_value = true;
        CHECK(find_value(composite(graph), "attn_scale").role == ir::Role::ByValue);
    }
    SECTION("a tensor with its value") {
        graph.connect(Port::AttnScale, DataType_t::FLOAT, {1, 1, 1, 1});
        graph.tensor(Port::AttnScale).is_by_value = true;
        graph.tensor(Port::AttnScale).value = detail::make_scalar(0.25f);
        ir::OpGraph const ops = composite(graph);
        CHECK(find_value(ops, "attn_scale").role == ir::Role::Constant);
        CHECK(core::to_double(find_value(ops, "attn_scale").constant) == 0.25);
    }
}

TEST_CASE("What no operation touches needs no pointer", "[expand]") {
    auto const uids = [](ir::OpGraph const& graph) { return graph.bindings().size(); };
    std::size_t const plain = uids(composite(AttentionGraph::forward()));
    CHECK(plain == 4);
    CHECK(uids(composite(AttentionGraph::forward().dropout(0.0f))) == plain);
    CHECK(uids(fused(AttentionGraph::forward().dropout(0.0f))) == plain);
    CHECK(uids(composite(AttentionGraph::forward().dropout(0.5f))) == plain + 2);
}

TEST_CASE("Values and operations are named after their node", "[expand]") {
    auto graph = AttentionGraph::forward();
    SECTION("with a name") {
        graph.node().name = "layer 3";
        CHECK(composite(graph).ops().front().name == "layer 3::scores");
        CHECK(composite(graph).ops().back().name == "layer 3::O");
    }
    SECTION("without a name") {
        graph.node().name = "";
        CHECK(composite(graph).ops().front().name == "sdpa_forward::scores");
        CHECK(fused(graph).ops().front().name == "sdpa_forward");
    }
    SECTION("tensors that carry the node's name keep theirs") {
        graph.tensor(Port::O).name = "sdpa::O";
        CHECK(composite(graph).ops().back().name == "sdpa::O");
    }
    SECTION("tensors without a name are called by their uid") {
        graph.tensor(Port::Q).name = "";
        CHECK(find_value(composite(graph), "tensor_100").uid == 100);
    }
}

TEST_CASE("Attention takes keys that another node makes", "[expand]") {
    auto graph = AttentionGraph::forward();
    graph.tensor(Port::K).is_virtual = true;
    nodes::TensorId const raw = graph.add_tensor("raw", DataType_t::HALF, {2, 4, 5, 8});
    nodes::TensorId const keys = graph.node().ports[Port::K];
    add_pointwise(graph, raw, keys).name = "gate";
    ir::OpGraph const ops = composite(graph);
    CHECK(steps(ops)[0] == "K:HALF = RELU_FWD(raw)");
    CHECK(steps(ops)[1] == "scores = MATMUL(Q, K^T)");
    CHECK(find_value(ops, "K").role == ir::Role::Virtual);
    CHECK(&ops.value(find_value(ops, "K^T").view_of) == &find_value(ops, "K"));
}

TEST_CASE("Other nodes are one operation each, with all their fields", "[expand]") {
    auto graph = AttentionGraph::forward();
    nodes::TensorId const in = graph.add_tensor("in", DataType_t::FLOAT, {2, 3, 4, 5});
    nodes::TensorId const out = graph.add_tensor("out", DataType_t::FLOAT, {2, 3, 4, 5});
    nodes::Node& node = add_pointwise(graph, in, out);
    auto& fields = std::get<nodes::PointwiseFields>(node.fields);
    SECTION("pointwise") {
        fields.relu_lower_clip = 0.5f;
        fields.relu_upper_clip = 6.0f;
        fields.relu_lower_clip_slope = 0.125f;
        for (ir::OpGraph const& ops : {composite(graph), fused(graph)}) {
            CHECK(ops.ops().front().name == "pointwise");
            auto const& op = std::get<ir::PointwiseOp>(ops.ops().front().body);
            CHECK(op.mode == PointwiseMode_t::RELU_FWD);
            CHECK(op.relu_lower_clip == 0.5f);
            CHECK(op.relu_upper_clip == 6.0f);
            CHECK(op.relu_lower_clip_slope == 0.125f);
        }
    }
    SECTION("index") {
        fields.mode = PointwiseMode_t::GEN_INDEX;
        fields.axis = 3;
        CHECK(std::get<ir::PointwiseOp>(composite(graph).ops().front().body).axis == 3);
    }
    SECTION("reduction") {
        node = nodes::make_node(nodes::NodeKind::Reduction);
        node.fields = nodes::ReductionFields{ReductionMode_t::MAX, true};
        node.ports = {in, graph.add_tensor("sum", DataType_t::FLOAT, {2, 3, 1, 5})};
        auto const op = std::get<ir::ReductionOp>(composite(graph).ops().front().body);
        CHECK(op.mode == ReductionMode_t::MAX);
        CHECK(op.is_deterministic);
    }
    SECTION("matmul") {
        node = nodes::make_node(nodes::NodeKind::Matmul);
        node.fields = nodes::MatmulFields{1.5};
        node.ports[nodes::matmul::A] = in;
        node.ports[nodes::matmul::B] = graph.add_tensor("b", DataType_t::FLOAT, {2, 3, 5, 7});
        node.ports[nodes::matmul::C] = graph.add_tensor("c", DataType_t::FLOAT, {2, 3, 4, 7});
        node.ports[nodes::matmul::KOverride] = graph.add_tensor("terms", DataType_t::INT32, {2, 1, 1, 1});
        ir::OpGraph const ops = composite(graph);
        CHECK(steps(ops).front() == "c = MATMUL(in, b, terms)");
        CHECK(std::get<ir::MatmulOp>(ops.ops().front().body).padding == 1.5);
    }
}

TEST_CASE("The implementation decides between one operation and many", "[expand]") {
    auto const graph = [](AttentionImplementation_t choice) {
        return AttentionGraph::forward().implementation(choice);
    };
    CHECK(kinds(fused(graph(AttentionImplementation_t::AUTO))) == "SDPA_FORWARD");
    CHECK(kinds(fused(graph(AttentionImplementation_t::UNIFIED))) == "SDPA_FORWARD");
    CHECK(kinds(fused(graph(AttentionImplementation_t::COMPOSITE))).starts_with("MATMUL REDUCE_MAX"));
    CHECK(kinds(composite(graph(AttentionImplementation_t::AUTO))).starts_with("MATMUL REDUCE_MAX"));
    CHECK(kinds(fused(AttentionGraph::backward())) == "SDPA_BACKWARD");
}

TEST_CASE("UNIFIED on a target without fused attention says what to do", "[expand]") {
    auto const graph = AttentionGraph::forward().implementation(AttentionImplementation_t::UNIFIED);
    auto const error = expand::expand(validated(graph.spec), {}).error();
    CHECK(error.code == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(error.where.node == "sdpa");
    CHECK(error.err_msg.find("UNIFIED") != std::string::npos);
    CHECK(error.err_msg.find("COMPOSITE") != std::string::npos);
}

TEST_CASE("The fused operation carries every option", "[expand]") {
    auto graph = AttentionGraph::backward().scale(0.5f).bias({1, 1, 6, 5}).bias_gradient().padding().dropout(0.25f);
    graph.band(DiagonalAlignment_t::BOTTOM_RIGHT, 4, 1).deterministic().fields().alibi_mask = true;
    ir::OpGraph const ops = fused(graph);
    auto const& op = std::get<ir::SdpaBackwardOp>(ops.ops().front().body);
    CHECK(op.options.scale_value == 0.5f);
    CHECK(op.options.alibi);
    CHECK(op.options.padding);
    CHECK(op.options.alignment == DiagonalAlignment_t::BOTTOM_RIGHT);
    CHECK(op.options.left_bound == 4);
    CHECK(op.options.right_bound == 1);
    CHECK(op.options.dropout_probability == 0.25);
    CHECK(op.deterministic);
    CHECK(op.operands[Port::AttnScale] == ir::kNoValue);
    CHECK(ops.value(op.operands[Port::K]).dim == core::Dims{2, 4, 5, 8});
    CHECK(ops.value(op.operands[Port::DBias]).name == "dBias");
    CHECK(ops.value(op.operands[Port::SeqLenKv]).name == "seq_len_kv");
}
