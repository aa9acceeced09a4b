// Which nodes belong to a score modifier, and that the rest of the graph does not see the difference.
#include "nodes/validation/modifiers.h"

#include "graphs.h"

#include <algorithm>
#include <vector>

using namespace test;

namespace {

using namespace attention;
using Names = std::vector<std::string>;

// Attention with a modifier whose nodes a test adds.
struct ModifiedGraph : TestGraph {
    Dims const scores{2, 4, 6, 8};

    ModifiedGraph() : TestGraph(attention_graph(NodeKind::SdpaForward)) {
        nodes[0].name = "attention";
        connect(Score, {}, DataType_t::NOT_SET).is_virtual = true;
        connect(ScoreMod, scores, DataType_t::FLOAT).is_virtual = true;
    }

    TensorId virtual_tensor(char const* label) {
        TensorId const id = add(label, scores, DataType_t::FLOAT);
        tensors.back().is_virtual = true;
        return id;
    }

    void add_step(char const* label, PointwiseMode_t mode, TensorId a, TensorId b, TensorId result) {
        Node& node = add_node(NodeKind::Pointwise, label);
        std::get<PointwiseFields>(node.fields).mode = mode;
        node.compute_data_type = DataType_t::FLOAT;
        node.ports = {a, b, kNoTensor, result};
    }
};

Names names_of(std::vector<Node> const& nodes) {
    Names names;
    for (Node const& node : nodes) names.push_back(node.name);
    return names;
}

GraphSpec validated(GraphSpec const& graph) {
    Validation const validation = validate(graph);
    INFO(validation.report.to_text());
    REQUIRE(validation.graph);
    return validation.graph->spec();
}

// score -> shifted (by the sum of two tensors) -> score_mod
ModifiedGraph shifted_graph() {
    ModifiedGraph graph;
    TensorId const a = graph.add("a", graph.scores, DataType_t::FLOAT),
                   b = graph.add("b", graph.scores, DataType_t::FLOAT);
    TensorId const sum = graph.virtual_tensor("sum");
    graph.add_step("shift", PointwiseMode_t::ADD, graph.slot(Score), sum, graph.slot(ScoreMod));
    graph.add_step("sum", PointwiseMode_t::ADD, a, b, sum);
    return graph;
}

}  // namespace

TEST_CASE("what makes modified scores, and what only this reads, belongs to attention, in an order that can run") {
    GraphSpec const graph = validated(shifted_graph());
    CHECK(names_of(graph.nodes) == Names{"attention"});
    CHECK(names_of(graph.nodes[0].modifier) == Names{"sum", "shift"});
}

TEST_CASE("what other nodes read too, or the user, is computed before attention") {
    ModifiedGraph graph = shifted_graph();
    TensorId const sum = graph.nodes.back().ports[pointwise::Out0];
    bool const is_result = GENERATE(true, false);
    if (is_result) {
        graph.tensors[static_cast<std::size_t>(sum)].is_virtual = false;
    } else {
        TensorId const copy = graph.add("copy", graph.scores, DataType_t::FLOAT);
        graph.add_step("copy", PointwiseMode_t::IDENTITY, sum, kNoTensor, copy);
    }
    GraphSpec const found = validated(graph);
    CHECK(names_of(found.nodes) == (is_result ? Names{"sum", "attention"} : Names{"sum", "attention", "copy"}));
    CHECK(names_of(found.nodes[1].modifier) == Names{"shift"});
}

TEST_CASE("what reads scores without changing them runs after attention") {
    ModifiedGraph graph = shifted_graph();
    TensorId const shown = graph.add("shown", graph.scores, DataType_t::FLOAT);
    graph.add_step("show", PointwiseMode_t::IDENTITY, graph.slot(Score), kNoTensor, shown);
    std::ranges::rotate(graph.nodes, graph.nodes.end() - 1);
    GraphSpec const found = validated(graph);
    CHECK(names_of(found.nodes) == Names{"attention", "show"});
    CHECK(names_of(found.nodes[0].modifier) == Names{"sum", "shift"});
}

TEST_CASE("graph.c25: a cycle within a modifier, and through the result of its attention") {
    ModifiedGraph graph = shifted_graph();
    bool const is_inside = GENERATE(true, false);
    Node& sum = *std::ranges::find(graph.nodes, "sum", &Node::name);
    if (is_inside) {
        TensorId const again = graph.virtual_tensor("again");
        sum.ports[pointwise::In1] = again;
        graph.add_step("again", PointwiseMode_t::ADD, graph.slot(Score), sum.ports[pointwise::Out0], again);
    } else {
        graph.resize(O, graph.scores);
        graph.resize(V, {2, 4, 8, 8});
        sum.ports[pointwise::In1] = graph.slot(O);
    }
    std::string const report = validate(graph).report.to_text();
    CAPTURE(report);
    CHECK(report.find(is_inside ? "each other's results: sum <- again <- sum"
                                : "each other's results: attention <- attention") != std::string::npos);
}

TEST_CASE("gathered modifiers are put back in front of their attention, and gathering twice changes nothing") {
    GraphSpec graph = shifted_graph();
    std::ranges::rotate(graph.nodes, graph.nodes.begin() + 1);
    GraphSpec const described = graph;
    gather_modifiers(graph);
    GraphSpec const gathered = graph;
    CHECK(names_of(graph.nodes) == Names{"attention"});
    gather_modifiers(graph);
    CHECK(graph == gathered);
    flatten_modifiers(graph);
    CHECK(graph == described);
}

TEST_CASE("a message calls a node without a name by its place in the description, also in a modifier") {
    ModifiedGraph graph = shifted_graph();
    for (Node& node : graph.nodes) node.name.clear();
    std::get<PointwiseFields>(graph.nodes[2].fields).mode = PointwiseMode_t::NOT_SET;
    std::string const report = validate(graph).report.to_text();
    CAPTURE(report);
    CHECK(report.find("node 'POINTWISE 2'") != std::string::npos);
}
