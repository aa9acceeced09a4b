// Graphs of a libcuda.so.1 that runs nothing: nodes and their dependencies. Lists of nodes come newest first, since
// their order means nothing.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace {

enum Result { Success = 0, InvalidValue = 1 };
enum class Type { Fill = 2, Graph = 4, Empty = 5 };

// The memory that a node fills and the value, laid out as in the driver's own struct.
struct Fill {
    unsigned long long start;
    std::size_t pitch;
    unsigned value, element_size;
    std::size_t width, height;
};

struct Graph;

struct Node {
    Type type;
    Graph* owner;
    std::unique_ptr<Graph> child;
    std::vector<Node*> after;
    Fill fill = {};
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
};

std::unique_ptr<Graph> copy_of(Graph const& graph) {
    auto copy = std::make_unique<Graph>();
    auto const counterpart = [&](Node const* node) {
        auto const at = std::ranges::find(graph.nodes, node, &std::unique_ptr<Node>::get);
        return copy->nodes[static_cast<std::size_t>(at - graph.nodes.begin())].get();
    };
    for (auto const& node : graph.nodes) {
        auto child = node->child ? copy_of(*node->child) : nullptr;
        copy->nodes.push_back(std::make_unique<Node>(Node{node->type, copy.get(), std::move(child), {}, node->fill}));
        for (Node const* const before : node->after) copy->nodes.back()->after.push_back(counterpart(before));
    }
    return copy;
}

template <class Wanted>
Result list(Graph const& graph, Wanted const& wanted, Node** found, std::size_t* count) {
    std::vector<Node*> nodes;
    for (auto const& node : graph.nodes) {
        if (wanted(*node)) nodes.insert(nodes.begin(), node.get());
    }
    if (found != nullptr) std::copy_n(nodes.begin(), std::min(*count, nodes.size()), found);
    *count = nodes.size();
    return Result::Success;
}

Result add(Graph* graph, Type type, std::unique_ptr<Graph> child, Node* const* after, std::size_t count, Node** node) {
    for (std::size_t i = 0; i < count; ++i) {
        if (after[i] == nullptr || after[i]->owner != graph) return Result::InvalidValue;
    }
    graph->nodes.push_back(std::make_unique<Node>(Node{type, graph, std::move(child), {after, after + count}, {}}));
    *node = graph->nodes.back().get();
    return Result::Success;
}

}  // namespace

extern "C" {

Result cuGraphCreate(Graph** graph, unsigned) {
    *graph = new Graph;
    return Result::Success;
}
Result cuGraphDestroy(Graph* graph) {
    delete graph;
    return Result::Success;
}
Result cuGraphClone(Graph** copy, Graph* graph) {
    *copy = copy_of(*graph).release();
    return Result::Success;
}
Result cuGraphGetNodes(Graph* graph, Node** nodes, std::size_t* count) {
    return list(
        *graph, [](Node const&) { return true; }, nodes, count);
}
Result cuGraphGetRootNodes(Graph* graph, Node** nodes, std::size_t* count) {
    return list(
        *graph, [](Node const& node) { return node.after.empty(); }, nodes, count);
}
Result cuGraphNodeGetDependentNodes(Node* before, Node** nodes, std::size_t* count) {
    auto const waits = [&](Node const& node) { return std::ranges::find(node.after, before) != node.after.end(); };
    return list(*before->owner, waits, nodes, count);
}
Result cuGraphNodeGetType(Node* node, int* type) {
    *type = static_cast<int>(node->type);
    return Result::Success;
}
Result cuGraphAddEmptyNode(Node** node, Graph* graph, Node* const* after, std::size_t count) {
    return add(graph, Type::Empty, nullptr, after, count, node);
}
Result cuGraphAddChildGraphNode(Node** node, Graph* graph, Node* const* after, std::size_t count, Graph* child) {
    return add(graph, Type::Graph, copy_of(*child), after, count, node);
}
Result cuGraphAddMemsetNode(Node** node, Graph* graph, Node* const* after, std::size_t count, Fill const* fill, void*) {
    Result const added = add(graph, Type::Fill, nullptr, after, count, node);
    if (added == Result::Success) (*node)->fill = *fill;
    return added;
}
Result cuGraphMemsetNodeSetParams(Node* node, Fill const* fill) {
    node->fill = *fill;
    return node->type == Type::Fill ? Result::Success : Result::InvalidValue;
}
Result cuGraphMemsetNodeGetParams(Node* node, Fill* fill) {
    *fill = node->fill;
    return node->type == Type::Fill ? Result::Success : Result::InvalidValue;
}
Result cuGraphChildGraphNodeGetGraph(Node* node, Graph** graph) {
    *graph = node->child.get();
    return node->child ? Result::Success : Result::InvalidValue;
}

}  // extern "C"
