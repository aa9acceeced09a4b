// The attention of an op graph as kernels need it: the operation with the values of its operands, and its score
// modifier as CUDA C++.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"
#include "kernels/attention/attention_problem.h"

#include <optional>
#include <vector>

namespace cudnn_frontend::kernels {

struct AttentionValues {
    ir::OpGraph const& graph;
    ir::Op const& op;
    bool is_backward;
    ir::AttentionOptions const& options;
    attention::OfOperation<ir::ValueId> const& operands;
    ir::ScoreRegion const& region;
    bool deterministic;
    std::optional<std::int64_t> keys_in_pages;

    bool has(attention::Port port) const { return operands[port] != ir::kNoValue; }
    ir::Value const& value(attention::Port port) const { return graph.value(operands[port]); }
    // Whether there is memory of the caller's for a result.
    bool makes(attention::Port port) const { return has(port) && value(port).role == ir::Role::Output; }
    // Whether a kernel has the operand.
    bool uses(attention::Port port) const;
    // Backward reads a sink for its gradient alone.
    bool reads_sink() const;
    // A number that the graph holds.
    std::optional<float> scale() const;
    // The numbers of which lengths are the differences, or the lengths.
    ir::Value const& source_of(ir::Value const& lengths) const;
};

// The first attention of the graph as one operation; nothing where it has none.
std::optional<AttentionValues> attention_values(ir::OpGraph const& graph);

struct ScoreCode {
    ModifierCode modifier;
    std::vector<ir::ValueId> tensors;  // what the modifier reads for each score, by number
    std::vector<ir::ValueId> numbers;  // what is one number for all scores
};

// The code of a score modifier, with which the kernels are compiled. An error with the reason where a function or a
// type has no form in the kernels, or there are too many values.
Result<ScoreCode> score_code(ir::OpGraph const& graph, ir::ScoreRegion const& region);

}  // namespace cudnn_frontend::kernels
