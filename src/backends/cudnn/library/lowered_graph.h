// An op graph lowered to cuDNN's backend API: an operation graph, and the source of each of its tensors' pointers.
#pragma once

#include "core/data_type.h"
#include "cudnn/library/descriptor.h"
#include "cudnn/passes/legal_graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

// Where the memory of a backend tensor is.
enum class MemorySource {
    Caller,     // index of a binding of the op graph
    Number,     // index of a number that this library keeps on the host
    Table,      // index of a table that this library keeps on the device
    Workspace,  // offset in bytes
};

struct BoundTensor {
    std::int64_t uid = 0;
    MemorySource source = MemorySource::Caller;
    std::int64_t at = 0;

    friend bool operator==(BoundTensor const&, BoundTensor const&) = default;
};

// Constants of the graph that engines read from device memory.
struct ConstantTable {
    std::vector<std::byte> bytes;

    friend bool operator==(ConstantTable const&, ConstantTable const&) = default;
};

struct Bindings {
    std::vector<BoundTensor> tensors;    // everything that a variant pack must name
    std::vector<std::uint64_t> numbers;  // the bits of each number, low bytes first
    std::vector<ConstantTable> tables;
    std::int64_t scratch_bytes = 0;  // this library's part of the workspace, before the engine's

    friend bool operator==(Bindings const&, Bindings const&) = default;
};

struct LoweredGraph {
    Descriptor graph;
    Bindings bindings;
    std::int64_t engine_count = 0;  // engines that the backend has for this graph, by number
};

struct LoweringOptions {
    bool dynamic_shapes = false;
    bool unfuses_multiplication = false;  // for attention as one operation, in kernels for 10.x
};

// The op graph has passed ir::verify() and was legalized by passes/.
Result<LoweredGraph> lower(LegalGraph const& graph, Api const& api, LoweringOptions const& options);

}  // namespace cudnn_frontend::cudnn
