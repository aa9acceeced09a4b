// Graphs of a libcuda.so.1 that runs on the host: nodes, their dependencies, and instances. Lists of nodes come newest
// first, since their order means nothing.
#include "fake_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace {

enum Result { Success = 0, InvalidValue = 1 };
enum class Type { Kernel = 0, Fill = 2, Graph = 4, Empty = 5 };

// The memory that a node fills and the value, laid out as in the driver's own struct.
struct Fill {
    unsigned long long start;
    std::size_t pitch;
    unsigned value, element_size;
    std::size_t width, height;
};

// A launch of a kernel, laid out as in the driver's own struct.
struct Launch {
    void* function;
    unsigned grid[3], block[3], shared;
    void** arguments;
    void** extra;
    FakeKernel const* kernel;
    void* context;
};

// A launch with arguments of its own.
struct OwnLaunch {
    Launch all = {};
    std::vector<std::vector<char>> bytes;
    std::vector<void*> pointers;

    OwnLaunch() = default;
    OwnLaunch(OwnLaunch const& other) { *this = other; }
    OwnLaunch& operator=(OwnLaunch const& other) {
        if (other.all.kernel != nullptr) set(other.all);
        return *this;
    }
    void set(Launch const& launch) {
        std::vector<std::vector<char>> copied;
        for (std::size_t i = 0; i < launch.kernel->count; ++i) {
            auto const* const first = static_cast<char const*>(launch.arguments[i]);
            copied.emplace_back(first, first + launch.kernel->sizes[i]);
        }
        all = launch;
        bytes = std::move(copied);
        pointers.clear();
        for (auto& argument : bytes) pointers.push_back(argument.data());
        all.arguments = pointers.data();
    }
};

struct Graph;

struct Node {
    Type type;
    Graph* owner;
    std::unique_ptr<Graph> child;
    std::vector<Node*> after;
    Fill fill = {};
    OwnLaunch launch = {};
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
};

// A copy of a graph, whose nodes are found by those of the original.
struct Instance {
    std::unique_ptr<Graph> graph;
    std::vector<Node const*> originals;

    Node* find(Node const* original) {
        auto const at = std::ranges::find(originals, original);
        return at == originals.end() ? nullptr : graph->nodes[static_cast<std::size_t>(at - originals.begin())].get();
    }
};

// Nodes are added after those that they wait for.
void run(Graph const& graph) {
    for (auto const& node : graph.nodes) {
        if (node->type == Type::Graph) run(*node->child);
        if (node->type == Type::Kernel) node->launch.all.kernel->run(node->launch.all.arguments);
        if (node->type == Type::Fill) {
            std::memset(reinterpret_cast<void*>(node->fill.start), static_cast<int>(node->fill.value),
                        node->fill.width);
        }
    }
}

std::unique_ptr<Graph> copy_of(Graph const& graph) {
    auto copy = std::make_unique<Graph>();
    auto const counterpart = [&](Node const* node) {
        auto const at = std::ranges::find(graph.nodes, node, &std::unique_ptr<Node>::get);
        return copy->nodes[static_cast<std::size_t>(at - graph.nodes.begin())].get();
    };
    for (auto const& node : graph.nodes) {
        auto child = node->child ? copy_of(*node->child) : nullptr;
        copy->nodes.push_back(
            std::make_unique<Node>(Node{node->type, copy.get(), std::move(child), {}, node->fill, node->launch}));
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
    graph->nodes.push_back(std::make_unique<Node>(Node{type, graph, std::move(child), {after, after + count}, {}, {}}));
    *node = graph->nodes.back().get();
    return Result::Success;
}

// The stream that is captured, and its work since then.
void* captured_stream = nullptr;
std::unique_ptr<Graph> captured_work;

}  // namespace

extern "C" {

Result cuStreamBeginCapture_v2(void* stream, int) {
    if (captured_work != nullptr) return Result::InvalidValue;
    captured_stream = stream;
    captured_work = std::make_unique<Graph>();
    return Result::Success;
}
Result cuStreamEndCapture(void* stream, Graph** graph) {
    if (captured_work == nullptr || stream != captured_stream) return Result::InvalidValue;
    *graph = captured_work.release();
    return Result::Success;
}
Result cuMemsetD8Async(unsigned long long start, unsigned char value, std::size_t bytes, void* stream) {
    if (captured_work == nullptr || stream != captured_stream) {
        std::memset(reinterpret_cast<void*>(start), value, bytes);
        return Result::Success;
    }
    auto const& nodes = captured_work->nodes;
    Node* const last = nodes.empty() ? nullptr : nodes.back().get();
    Node* added = nullptr;
    Result const result = add(captured_work.get(), Type::Fill, nullptr, &last, nodes.empty() ? 0 : 1, &added);
    added->fill = {start, 0, value, 1, bytes, 1};
    return result;
}

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

Result cuGraphAddKernelNode_v2(Node** node, Graph* graph, Node* const* after, std::size_t count, Launch const* launch) {
    Result const added = add(graph, Type::Kernel, nullptr, after, count, node);
    if (added == Result::Success) (*node)->launch.set(*launch);
    return added;
}
Result cuGraphKernelNodeGetParams_v2(Node* node, Launch* launch) {
    *launch = node->launch.all;
    return node->type == Type::Kernel ? Result::Success : Result::InvalidValue;
}
Result cuGraphKernelNodeSetParams_v2(Node* node, Launch const* launch) {
    node->launch.set(*launch);
    return node->type == Type::Kernel ? Result::Success : Result::InvalidValue;
}
Result cuGraphKernelNodeCopyAttributes(Node* to, Node const* from) {
    bool const are_kernels = to->type == Type::Kernel && from->type == Type::Kernel;
    return are_kernels ? Result::Success : Result::InvalidValue;
}
Result cuKernelGetParamInfo(FakeKernel const* kernel, std::size_t number, std::size_t* offset, std::size_t* size) {
    if (number >= kernel->count) return Result::InvalidValue;
    *offset = 0;
    *size = kernel->sizes[number];
    return Result::Success;
}
Result cuFuncGetParamInfo(void*, std::size_t, std::size_t*, std::size_t*) { return Result::InvalidValue; }

Result cuGraphInstantiateWithFlags(Instance** instance, Graph* graph, unsigned long long) {
    auto made = std::make_unique<Instance>(Instance{copy_of(*graph), {}});
    for (auto const& node : graph->nodes) made->originals.push_back(node.get());
    *instance = made.release();
    return Result::Success;
}
Result cuGraphExecDestroy(Instance* instance) {
    delete instance;
    return Result::Success;
}
Result cuGraphExecKernelNodeSetParams_v2(Instance* instance, Node const* node, Launch const* launch) {
    Node* const own = instance->find(node);
    if (own == nullptr || own->type != Type::Kernel) return Result::InvalidValue;
    own->launch.set(*launch);
    return Result::Success;
}
Result cuGraphExecMemsetNodeSetParams(Instance* instance, Node const* node, Fill const* fill, void*) {
    Node* const own = instance->find(node);
    if (own == nullptr || own->type != Type::Fill) return Result::InvalidValue;
    own->fill = *fill;
    return Result::Success;
}
Result cuGraphLaunch(Instance* instance, void*) {
    run(*instance->graph);
    return Result::Success;
}

}  // extern "C"
