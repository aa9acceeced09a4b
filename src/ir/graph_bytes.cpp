#include "ir/graph_bytes.h"

#include "core/heap_bytes.h"

namespace cudnn_frontend::ir {

// Lists of the bodies, such as the steps of regions, are few and short.
std::size_t heap_bytes(OpGraph const& graph) {
    using core::heap_bytes;
    std::size_t bytes = heap_bytes(graph.values()) + heap_bytes(graph.ops()) + heap_bytes(graph.bindings());
    for (Value const& value : graph.values()) {
        bytes += heap_bytes(value.name) + heap_bytes(value.dim) + heap_bytes(value.stride) + heap_bytes(value.table);
    }
    for (Op const& op : graph.ops()) bytes += heap_bytes(op.name);
    return bytes;
}

}  // namespace cudnn_frontend::ir
