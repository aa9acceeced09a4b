// From the caller's pack to the pointers that a plan runs on, with every check that can be made before running.
#pragma once

#include "ir/op_graph.h"

#include <cudnn_frontend/variant_pack.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::inline v1::pipeline {

// A tensor that the pack must name.
struct Slot {
    std::int64_t uid;
    std::string name;
    bool is_written;
    std::int64_t element_size;  // bytes
    std::int64_t span;          // bytes from the first to past the last element
    core::Dims dim, stride;
};

// One slot for each binding, in the same order.
std::vector<Slot> make_slots(ir::OpGraph const& graph);

// Fills pointers in the order of the slots. Tensors as keys belong to the graph of that id, or to none.
error_t resolve(Variant_pack pack, std::uint64_t graph_id, std::vector<Slot> const& slots,
                std::vector<void*>& pointers);

// Alignment, and outputs that share memory with other tensors.
error_t check_host_memory(std::vector<Slot> const& slots, std::vector<void*> const& pointers);

}  // namespace cudnn_frontend::inline v1::pipeline
