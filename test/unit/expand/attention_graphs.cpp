#include "attention_graphs.h"

#include "attention/block_scale.h"
#include "core/names.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/schema.h"
#include "support/catch.h"

#include <map>

namespace test {

AttentionGraph::AttentionGraph(nodes::NodeKind kind) {
    spec.name = "test";
    spec.io_data_type = DataType_t::HALF;
    spec.intermediate_data_type = DataType_t::FLOAT;
    spec.compute_data_type = DataType_t::FLOAT;
    spec.nodes.push_back(nodes::make_node(kind));
    node().name = "sdpa";
    connect(Port::Q, DataType_t::HALF, {2, 4, 6, 8});
    connect(Port::K, DataType_t::HALF, {2, 4, 5, 8});
    connect(Port::V, DataType_t::HALF, {2, 4, 5, 16});
    connect(Port::O, DataType_t::HALF, {2, 4, 6, 16});
}

AttentionGraph AttentionGraph::forward() { return AttentionGraph(nodes::NodeKind::SdpaForward); }

AttentionGraph AttentionGraph::backward() {
    AttentionGraph graph(nodes::NodeKind::SdpaBackward);
    graph.connect(Port::DO, DataType_t::HALF, {2, 4, 6, 16});
    graph.connect(Port::Stats, DataType_t::FLOAT, {2, 4, 6, 1});
    graph.connect(Port::DQ, DataType_t::HALF, {2, 4, 6, 8});
    graph.connect(Port::DK, DataType_t::HALF, {2, 4, 5, 8});
    graph.connect(Port::DV, DataType_t::HALF, {2, 4, 5, 16});
    return graph;
}

AttentionGraph& AttentionGraph::fp8() {
    for (nodes::TensorSpec& tensor : spec.tensors) {
        if (tensor.data_type == DataType_t::HALF) tensor.data_type = DataType_t::FP8_E4M3;
    }
    if (is_backward()) tensor(Port::DO).data_type = DataType_t::FP8_E5M2;
    for (nodes::PortRow const& row : nodes::schema_of(node().kind()).ports) {
        if (nodes::is_fp8_port(row.port)) connect(row.port, DataType_t::FLOAT, {1, 1, 1, 1});
    }
    return *this;
}

AttentionGraph& AttentionGraph::block_scaled() {
    fields().block_scaled = true;
    for (int const port : {Port::Q, Port::K, Port::V}) tensor(port).data_type = DataType_t::FP8_E4M3;
    if (is_backward()) {
        tensor(Port::DO).data_type = DataType_t::FP8_E4M3;
        connect(Port::QTransposed, DataType_t::FP8_E4M3, tensor(Port::Q).dim);
        connect(Port::KTransposed, DataType_t::FP8_E4M3, tensor(Port::K).dim);
        connect(Port::DOTransposed, DataType_t::FP8_E4M3, tensor(Port::DO).dim);
        connect(Port::DOF16, DataType_t::HALF, tensor(Port::DO).dim);
        for (int const port : {Port::AmaxDQ, Port::AmaxDK, Port::AmaxDV}) {
            connect(port, DataType_t::FLOAT, {1, 1, 1, 1});
        }
    } else {
        connect(Port::AmaxO, DataType_t::FLOAT, {1, 1, 1, 1});
    }
    for (nodes::BlockScaled const& row : nodes::block_scaled_ports(node())) {
        connect(row.scale, DataType_t::FP8_E8M0, attention::padded_block_dims(tensor(row.tensor).dim, row.axis));
        tensor(row.scale).reordering = TensorReordering_t::F8_128x4;
    }
    return *this;
}

nodes::AttentionFields& AttentionGraph::fields() {
    return const_cast<nodes::AttentionFields&>(*nodes::attention_fields(node()));
}

nodes::TensorId AttentionGraph::add_tensor(std::string name, DataType_t type, core::Dims dim) {
    nodes::TensorSpec tensor;
    tensor.name = std::move(name);
    tensor.uid = 100 + static_cast<std::int64_t>(spec.tensors.size());
    tensor.data_type = type;
    tensor.stride = core::packed_strides(dim);
    tensor.dim = std::move(dim);
    spec.tensors.push_back(std::move(tensor));
    return static_cast<nodes::TensorId>(spec.tensors.size()) - 1;
}

AttentionGraph& AttentionGraph::connect(int port, DataType_t type, core::Dims dim) {
    node().ports[static_cast<std::size_t>(port)] =
        add_tensor(nodes::port_name(node().kind(), port), type, std::move(dim));
    return *this;
}

AttentionGraph& AttentionGraph::heads(std::int64_t of_keys, std::int64_t of_values) {
    auto const set = [&](int port, std::int64_t heads) {
        tensor(port).dim[1] = heads;
        tensor(port).stride = core::packed_strides(tensor(port).dim);
    };
    set(Port::K, of_keys);
    set(Port::V, of_values);
    if (is_backward()) {
        set(Port::DK, of_keys);
        set(Port::DV, of_values);
    }
    return *this;
}

AttentionGraph& AttentionGraph::scale(float value) {
    fields().attn_scale = value;
    return *this;
}

AttentionGraph& AttentionGraph::stats() {
    std::get<nodes::SdpaForwardFields>(node().fields).generate_stats = true;
    return connect(Port::Stats, DataType_t::FLOAT, {2, 4, queries(), 1});
}

AttentionGraph& AttentionGraph::bias(core::Dims dim) { return connect(Port::Bias, DataType_t::HALF, std::move(dim)); }

AttentionGraph& AttentionGraph::bias_gradient() {
    return connect(Port::DBias, DataType_t::HALF, tensor(Port::Bias).dim);
}

AttentionGraph& AttentionGraph::padding() {
    fields().padding_mask = true;
    connect(Port::SeqLenQ, DataType_t::INT32, {2, 1, 1, 1});
    return connect(Port::SeqLenKv, DataType_t::INT32, {2, 1, 1, 1});
}

AttentionGraph& AttentionGraph::pages(std::int64_t rows_of_k, std::int64_t rows_of_v) {
    std::int64_t const batches = tensor(Port::Q).dim[0], all = keys();
    auto const put = [&](Port port, Port table, std::int64_t pages, std::int64_t rows) {
        core::Dims& dim = tensor(port).dim;
        dim[0] = pages, dim[2] = rows;
        tensor(port).stride = core::packed_strides(dim);
        connect(table, DataType_t::INT32, {batches, 1, (all + rows - 1) / rows, 1});
    };
    put(Port::K, Port::PageTableK, 7, rows_of_k);
    put(Port::V, Port::PageTableV, 4, rows_of_v);
    std::get<nodes::SdpaForwardFields>(node().fields).max_seq_len_kv = all;
    return *this;
}

AttentionGraph& AttentionGraph::band(DiagonalAlignment_t alignment, std::optional<std::int64_t> left,
                                     std::optional<std::int64_t> right) {
    fields().diagonal_alignment = alignment;
    fields().left_bound = left;
    fields().right_bound = right;
    return *this;
}

AttentionGraph& AttentionGraph::dropout(float probability) {
    fields().dropout_probability = probability;
    connect(Port::Seed, DataType_t::INT64, {1, 1, 1, 1});
    return connect(Port::Offset, DataType_t::INT64, {1, 1, 1, 1});
}

AttentionGraph& AttentionGraph::dropout_mask() {
    connect(Port::DropoutMask, DataType_t::HALF, {1, 1, queries(), keys()});
    connect(Port::DropoutScale, DataType_t::FLOAT, {1, 1, 1, 1});
    if (is_backward()) connect(Port::DropoutScaleInv, DataType_t::FLOAT, {1, 1, 1, 1});
    return *this;
}

AttentionGraph& AttentionGraph::dump() { return connect(Port::RngDump, DataType_t::FLOAT, {2, 4, queries(), keys()}); }

AttentionGraph& AttentionGraph::deterministic() {
    std::get<nodes::SdpaBackwardFields>(node().fields).deterministic = true;
    return *this;
}

AttentionGraph& AttentionGraph::unfuse_multiplication() {
    std::get<nodes::SdpaForwardFields>(node().fields).unfuse_fma = true;
    return *this;
}

AttentionGraph& AttentionGraph::implementation(AttentionImplementation_t choice) {
    std::get<nodes::SdpaForwardFields>(node().fields).implementation = choice;
    return *this;
}

void pack_rows(AttentionGraph& graph, std::initializer_list<int> ports) {
    std::map<std::int64_t, nodes::TensorId> offset_of;
    core::Dims const dims{graph.tensor(Port::Q).dim[0] + 1, 1, 1, 1};
    for (int const port : ports) {
        core::Dims const dim = graph.tensor(port).dim;
        std::int64_t const row = dim[1] * dim[3];
        auto const [entry, is_new] = offset_of.emplace(row, 0);
        if (is_new) entry->second = graph.add_tensor("offset_" + std::to_string(row), DataType_t::INT32, dims);
        graph.tensor(port).ragged_offset = entry->second;
        graph.tensor(port).stride = {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1};
    }
}

void resize(AttentionGraph& graph, std::initializer_list<int> ports, std::size_t axis, std::int64_t size) {
    for (int const port : ports) {
        auto& tensor = graph.tensor(port);
        tensor.dim[axis] = size;
        tensor.stride = core::packed_strides(tensor.dim);
    }
}

// Makes one operation of a modifier: the score that it is given with another tensor gives the one that it returns.
static void modify(AttentionGraph& graph, int given, int returned, PointwiseMode_t mode, nodes::TensorId other) {
    using namespace nodes;
    for (int const port : {given, returned}) {
        graph.connect(port, DataType_t::FLOAT, {2, 4, 6, 5});
        graph.tensor(port).is_virtual = true;
    }
    Node node = make_node(NodeKind::Pointwise);
    std::get<PointwiseFields>(node.fields).mode = mode;
    node.compute_data_type = DataType_t::FLOAT;
    auto const& ports = graph.node().ports;
    node.ports[pointwise::In0] = ports[static_cast<std::size_t>(given)];
    node.ports[pointwise::In1] = other;
    node.ports[pointwise::Out0] = ports[static_cast<std::size_t>(returned)];
    graph.spec.nodes.insert(graph.spec.nodes.begin(), node);
}

AttentionGraph with_modifier(core::Dims const& operand) {
    auto graph = AttentionGraph::forward();
    auto const other = graph.add_tensor("other", DataType_t::FLOAT, operand);
    modify(graph, Port::Score, Port::ScoreMod, PointwiseMode_t::ADD, other);
    return graph;
}

AttentionGraph with_modifier(PointwiseMode_t gradient, core::Dims const& operand) {
    auto graph = AttentionGraph::backward();
    auto const other = graph.add_tensor("other", DataType_t::FLOAT, operand);
    modify(graph, Port::Score, Port::ScoreMod, PointwiseMode_t::ADD, other);
    modify(graph, Port::DScore, Port::DScoreMod, gradient, graph.node().ports[Port::Score]);
    return graph;
}

AttentionGraph packed_backward() {
    AttentionGraph graph = AttentionGraph::backward().heads(2, 2).padding();
    for (int const port : {Port::Q, Port::K, Port::DQ, Port::DK}) graph.tensor(port).dim[3] = 16;
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::Stats, Port::DQ, Port::DK, Port::DV});
    graph.fields().max_total_seq_len_q = 8, graph.fields().max_total_seq_len_kv = 7;
    return graph;
}

nodes::ValidatedGraph validated(nodes::GraphSpec const& spec) {
    nodes::Validation validation = nodes::validate(spec);
    INFO(validation.report.to_text());
    REQUIRE(validation.graph.has_value());
    return *validation.graph;
}

static ir::OpGraph expanded(AttentionGraph const& graph, bool fused_attention) {
    using Fused = expand::TargetAbilities::Fused;
    auto result =
        expand::expand(validated(graph.spec), {.fused_attention = fused_attention ? Fused::Preferred : Fused::Never});
    INFO(result.error().get_message());
    REQUIRE(result.is_good());
    return std::move(result).value();
}

ir::OpGraph composite(AttentionGraph const& graph) { return expanded(graph, false); }
ir::OpGraph fused(AttentionGraph const& graph) { return expanded(graph, true); }

std::string kinds(ir::OpGraph const& graph) {
    std::string text;
    for (ir::Op const& op : graph.ops()) text += (text.empty() ? "" : " ") + std::string(ir::kind_name(op));
    return text;
}

static std::string short_name(ir::Value const& value) {
    std::string const prefix = "sdpa::";
    return value.name.starts_with(prefix) ? value.name.substr(prefix.size()) : value.name;
}

static std::string step(ir::OpGraph const& graph, ir::Op const& op) {
    ir::Value const& result = graph.value(ir::outputs_of(op).front().value);
    std::string text = short_name(result);
    if (result.type != DataType_t::FLOAT) text += std::string(":") + core::name_of(result.type);
    text += " = " + std::string(ir::kind_name(op)) + "(";
    bool is_first = true;
    for (ir::NamedValue const& operand : ir::inputs_of(op)) {
        text += (is_first ? "" : ", ") + short_name(graph.value(operand.value));
        is_first = false;
    }
    return text + ")";
}

std::vector<std::string> steps(ir::OpGraph const& graph) {
    std::vector<std::string> lines;
    for (ir::Op const& op : graph.ops()) lines.push_back(step(graph, op));
    return lines;
}

ir::Value const& find_value(ir::OpGraph const& graph, std::string const& name) {
    for (ir::Value const& value : graph.values()) {
        if (short_name(value) == name) return value;
    }
    FAIL("no value " + name);
    return graph.values().front();
}

}  // namespace test
