// An op graph in the form that cuDNN's engines accept and compute right.
#pragma once

#include "ir/op_graph.h"

#include <map>
#include <optional>
#include <vector>

namespace cudnn_frontend::cudnn {

// Memory in the plan's workspace for a value that the op graph keeps between operations.
struct GraphScratch {
    // The ragged value whose layout of rows it has, with room for as many rows as that one has at most; kNoValue: the
    // value has room for its own dims.
    ir::ValueId packed_like = ir::kNoValue;

    friend bool operator==(GraphScratch const&, GraphScratch const&) = default;
};

using ScratchMap = std::map<ir::ValueId, GraphScratch>;

// Steps that engines perform unasked, from the input of each to its output: to engines these are one tensor.
using ImpliedSteps = std::map<ir::ValueId, ir::ValueId>;

// The constants that hold where the batch entries of dense tensors start, in a graph with ragged ones. Engines treat
// such a tensor as a ragged one, and leave its rows past the lengths unwritten.
using GivenOffsets = std::map<ir::ValueId, ir::ValueId>;

// The gradient of a sink that this library computes itself, from these values.
struct SinkGradient {
    ir::ValueId o, d_o, stats, sink, gradient;
    ir::ValueId lengths;             // of the queries; kNoValue: all rows count
    std::vector<ir::ValueId> steps;  // results of the operations that engines do not get

    friend bool operator==(SinkGradient const&, SinkGradient const&) = default;
};

// Bytes of which a value's address is a multiple, where they are not kAlignment.
using Alignments = std::map<ir::ValueId, std::int64_t>;
inline constexpr std::int64_t kAlignment = 16;

struct LegalGraph {
    ir::OpGraph graph;
    Alignments alignments = {};
    ScratchMap scratch = {};
    ImpliedSteps implied = {};
    GivenOffsets offsets = {};
    std::optional<SinkGradient> sink_gradient = {};
};

// Whether cuDNN gets the same from both except for names.
inline bool same_work(LegalGraph const& a, LegalGraph const& b) {
    return ir::same_work(a.graph, b.graph) && a.alignments == b.alignments && a.scratch == b.scratch &&
           a.implied == b.implied && a.offsets == b.offsets && a.sink_gradient == b.sink_gradient;
}

}  // namespace cudnn_frontend::cudnn
