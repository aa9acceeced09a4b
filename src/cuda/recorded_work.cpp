#include "cuda/replay.h"

#include "cuda/cuda_graph.h"
#include "cuda/driver_table.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

namespace cudnn_frontend::cuda {
namespace {

// Reads a graph's nodes in an order in which each comes after those that it waits for.
class WorkReader {
   public:
    explicit WorkReader(RecordedWork& work) : work_(work) {}

    // Appends the graph's work, whose first nodes wait for `before`. Returns the nodes for which its end waits.
    Result<std::vector<std::size_t>> read(CUgraph graph, std::vector<std::size_t> const& before);

   private:
    // The nodes of the work for which a node of the graph waits.
    using Waits = std::map<CUgraphNode, std::vector<std::size_t>>;

    // Returns the nodes for which those after it wait.
    Result<std::vector<std::size_t>> read_node(CUgraphNode source, std::vector<std::size_t> const& after);
    error_t read_kernel(RecordedNode& node);
    error_t read_fill(RecordedNode& node);

    RecordedWork& work_;
};

Result<std::map<CUgraphNode, std::size_t>> count_predecessors(CUgraph graph) {
    std::size_t count = 0;
    SDPA_GRAPH_TRY(node_count(graph).move_to(count));
    std::vector<CUgraphNode> nodes(count);
    if (count > 0) {
        SDPA_GRAPH_TRY(ask("reading the nodes of a CUDA graph",
                           [&](Driver const& cuda) { return cuda.graph_nodes(graph, nodes.data(), &count); }));
    }
    std::map<CUgraphNode, std::size_t> counts;
    for (CUgraphNode const node : nodes) {
        counts.try_emplace(node, 0);
        auto const next = nodes_after(graph, node);
        if (next.is_bad()) return next.error();
        for (CUgraphNode const later : next.value()) ++counts[later];
    }
    return counts;
}

Result<std::vector<std::size_t>> WorkReader::read(CUgraph graph, std::vector<std::size_t> const& before) {
    auto left = count_predecessors(graph);
    if (left.is_bad()) return left.error();
    auto ready = nodes_after(graph, nullptr);
    if (ready.is_bad()) return ready.error();
    Waits waits;
    for (CUgraphNode const node : ready.value()) waits[node] = before;
    std::vector<std::size_t> last;
    for (std::size_t i = 0; i < ready.value().size(); ++i) {
        CUgraphNode const node = ready.value()[i];
        auto const tails = read_node(node, waits[node]);
        if (tails.is_bad()) return tails.error();
        auto const next = nodes_after(graph, node);
        if (next.is_bad()) return next.error();
        if (next.value().empty()) last.insert(last.end(), tails.value().begin(), tails.value().end());
        for (CUgraphNode const later : next.value()) {
            auto& of_later = waits[later];
            of_later.insert(of_later.end(), tails.value().begin(), tails.value().end());
            if (--left.value()[later] == 0) ready.value().push_back(later);
        }
    }
    return ready.value().empty() ? before : last;
}

Result<std::vector<std::size_t>> WorkReader::read_node(CUgraphNode source, std::vector<std::size_t> const& after) {
    RecordedNode node;
    SDPA_GRAPH_TRY(type_of(source).move_to(node.type));
    if (node.type == CU_GRAPH_NODE_TYPE_GRAPH) {
        auto const child = child_of(source);
        if (child.is_bad()) return child.error();
        return read(child.value(), after);
    }
    node.source = source;
    node.after = after;
    switch (node.type) {
        case CU_GRAPH_NODE_TYPE_KERNEL: SDPA_GRAPH_TRY(read_kernel(node)); break;
        case CU_GRAPH_NODE_TYPE_MEMSET: SDPA_GRAPH_TRY(read_fill(node)); break;
        case CU_GRAPH_NODE_TYPE_EMPTY: break;
        default:
            return error_t(error_code_t::CUDA_API_FAILED,
                           "the CUDA graph has a node of type " + std::to_string(node.type));
    }
    work_.push_back(std::move(node));
    return std::vector{work_.size() - 1};
}

error_t WorkReader::read_kernel(RecordedNode& node) {
    SDPA_GRAPH_TRY(ask("reading a kernel of a CUDA graph",
                       [&](Driver const& cuda) { return cuda.get_kernel_node(node.source, &node.kernel); }));
    if (node.kernel.kernelParams == nullptr) {
        return {error_code_t::CUDA_API_FAILED, "a kernel of the CUDA graph has its arguments in one block"};
    }
    auto const found = driver();
    if (found.is_bad()) return found.error();
    Driver const& cuda = *found.value();
    if (cuda.argument_of_kernel == nullptr || cuda.argument_of_function == nullptr) {
        return {error_code_t::CUDA_API_FAILED, "the CUDA driver does not report the arguments of kernels"};
    }
    for (std::size_t number = 0;; ++number) {
        std::size_t offset = 0, bytes = 0;
        CUresult const result = node.kernel.func == nullptr
                                    ? cuda.argument_of_kernel(node.kernel.kern, number, &offset, &bytes)
                                    : cuda.argument_of_function(node.kernel.func, number, &offset, &bytes);
        if (result == CUDA_ERROR_INVALID_VALUE) break;  // after the last one
        SDPA_GRAPH_TRY(driver_error(cuda, result, "asking for the arguments of a kernel"));
        node.arguments.push_back({node.words.size(), bytes});
        node.words.resize(node.words.size() + (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
        std::memcpy(&node.words[node.arguments.back().first_word], node.kernel.kernelParams[number], bytes);
    }
    node.kernel.kernelParams = nullptr;
    return {};
}

error_t WorkReader::read_fill(RecordedNode& node) {
    SDPA_GRAPH_TRY(ask("reading a fill of a CUDA graph",
                       [&](Driver const& cuda) { return cuda.get_fill_node(node.source, &node.fill); }));
    node.words = {std::exchange(node.fill.dst, 0)};
    return {};
}

CUDA_MEMSET_NODE_PARAMS fill_parameters(RecordedNode const& node) {
    CUDA_MEMSET_NODE_PARAMS fill = node.fill;
    fill.dst = node.words.front();
    return fill;
}

}  // namespace

Result<RecordedWork> read_work(CUgraph graph) {
    RecordedWork work;
    auto const last = WorkReader(work).read(graph, {});
    if (last.is_bad()) return last.error();
    return work;
}

static bool is_same_but_for_words(RecordedNode const& one, RecordedNode const& other) {
    auto const kernel = [](RecordedNode const& node) {
        auto const& of = node.kernel;
        return std::tuple(of.func, of.kern, of.gridDimX, of.gridDimY, of.gridDimZ, of.blockDimX, of.blockDimY,
                          of.blockDimZ, of.sharedMemBytes);
    };
    auto const fill = [](RecordedNode const& node) {
        auto const& of = node.fill;
        return std::tuple(of.pitch, of.value, of.elementSize, of.width, of.height);
    };
    return one.type == other.type && kernel(one) == kernel(other) && fill(one) == fill(other) &&
           one.arguments == other.arguments && one.words.size() == other.words.size() && one.after == other.after;
}

bool is_same_but_for_words(RecordedWork const& one, RecordedWork const& other) {
    return std::ranges::equal(one, other,
                              [](RecordedNode const& a, RecordedNode const& b) { return is_same_but_for_words(a, b); });
}

WorkInstance::KernelParameters WorkInstance::parameters_of(RecordedNode& node) {
    KernelParameters parameters{{}, node.kernel};
    for (KernelArgument const& argument : node.arguments) {
        parameters.pointers.push_back(&node.words[argument.first_word]);
    }
    parameters.all.kernelParams = parameters.pointers.data();
    return parameters;
}

CUresult WorkInstance::add(Driver const& cuda, std::size_t number, std::vector<CUgraphNode> const& after) {
    RecordedNode const& node = work_[number];
    CUgraphNode& own = nodes_[number];
    if (node.type == CU_GRAPH_NODE_TYPE_EMPTY) return cuda.add_empty_node(&own, graph_, after.data(), after.size());
    if (node.type == CU_GRAPH_NODE_TYPE_MEMSET) {
        CUDA_MEMSET_NODE_PARAMS const fill = fill_parameters(node);
        return cuda.add_fill_node(&own, graph_, after.data(), after.size(), &fill, context_);
    }
    CUresult const added = cuda.add_kernel_node(&own, graph_, after.data(), after.size(), &parameters_[number].all);
    return added == CUDA_SUCCESS ? cuda.copy_kernel_attributes(own, node.source) : added;
}

Result<std::unique_ptr<WorkInstance>> WorkInstance::make(RecordedWork work) {
    auto made = std::make_unique<WorkInstance>();
    made->work_ = std::move(work);
    made->nodes_.resize(made->work_.size());
    for (RecordedNode& node : made->work_) made->parameters_.push_back(parameters_of(node));
    SDPA_GRAPH_TRY(
        ask("asking for the CUDA context", [&](Driver const& cuda) { return cuda.current_context(&made->context_); }));
    SDPA_GRAPH_TRY(ask("making a CUDA graph", [&](Driver const& cuda) { return cuda.create_graph(&made->graph_, 0); }));
    for (std::size_t i = 0; i < made->work_.size(); ++i) {
        std::vector<CUgraphNode> after;
        for (std::size_t const number : made->work_[i].after) after.push_back(made->nodes_[number]);
        SDPA_GRAPH_TRY(
            ask("copying a node of a CUDA graph", [&](Driver const& cuda) { return made->add(cuda, i, after); }));
    }
    SDPA_GRAPH_TRY(ask("instantiating a CUDA graph",
                       [&](Driver const& cuda) { return cuda.instantiate_graph(&made->instance_, made->graph_, 0); }));
    return made;
}

WorkInstance::~WorkInstance() {
    auto const found = driver();
    if (found.is_bad()) return;
    if (instance_ != nullptr) found.value()->destroy_instance(instance_);
    if (graph_ != nullptr) found.value()->destroy_graph(graph_);
}

error_t WorkInstance::update(std::size_t node) {
    if (work_[node].type == CU_GRAPH_NODE_TYPE_MEMSET) {
        CUDA_MEMSET_NODE_PARAMS const fill = fill_parameters(work_[node]);
        return ask("updating a fill of an instantiated CUDA graph", [&](Driver const& cuda) {
            return cuda.set_instance_fill_node(instance_, nodes_[node], &fill, context_);
        });
    }
    return ask("updating a kernel of an instantiated CUDA graph", [&](Driver const& cuda) {
        return cuda.set_instance_kernel_node(instance_, nodes_[node], &parameters_[node].all);
    });
}

error_t WorkInstance::launch(CUstream stream) const {
    return ask("launching a CUDA graph", [&](Driver const& cuda) { return cuda.launch_graph(instance_, stream); });
}

}  // namespace cudnn_frontend::cuda
