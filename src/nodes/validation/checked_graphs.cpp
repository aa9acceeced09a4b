#include "nodes/validation/checked_graphs.h"

#include "core/heap_bytes.h"

namespace cudnn_frontend::nodes {
namespace {

std::size_t hash_of(GraphSpec const& described) {
    DescriptionHash hash(described);
    for (TensorSpec const& tensor : described.tensors) hash.add(tensor.name, tensor.dim);
    return hash.get();
}

}  // namespace

Result<CheckedGraphs::Found> check(GraphSpec const& described) {
    auto const make = [&]() -> Result<CheckedGraphPointer> {
        Validation validation = validate(described);
        if (!validation.graph) return validation.report.to_error();
        return std::make_shared<CheckedGraph const>(CheckedGraph{described, std::move(*validation.graph)});
    };
    return CheckedGraphs::of_process().find_or_make(hash_of(described), described, make);
}

std::size_t heap_bytes(GraphSpec const& spec) {
    using core::heap_bytes;
    std::size_t bytes = heap_bytes(spec.name) + heap_bytes(spec.tensors) + heap_bytes(spec.nodes);
    for (TensorSpec const& tensor : spec.tensors) {
        bytes += heap_bytes(tensor.name) + heap_bytes(tensor.dim) + heap_bytes(tensor.stride);
    }
    for (Node const& node : every_node(spec)) {
        bytes += heap_bytes(node.name) + heap_bytes(node.ports) + heap_bytes(node.modifier);
    }
    return bytes;
}

std::size_t CheckedGraphKind::bytes_of(Object const& checked) {
    return sizeof(CheckedGraph) + heap_bytes(checked.described) + heap_bytes(checked.graph.spec());
}

}  // namespace cudnn_frontend::nodes
