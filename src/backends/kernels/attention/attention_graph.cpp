#include "kernels/attention/attention_graph.h"

#include "attention/attention_operands.h"
#include "expand/expand.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;

// The graph's only operation, with the values of its operands.
struct AttentionWork {
    ir::OpGraph const& graph;
    ir::SdpaForwardOp const& op;

    bool has(Port port) const { return op.operands[port] != ir::kNoValue; }
    bool has_any(std::initializer_list<Port> ports) const {
        return std::ranges::any_of(ports, [&](Port port) { return has(port); });
    }
    ir::Value const& value(Port port) const { return graph.value(op.operands[port]); }
    // Whether there is memory of the caller's for a result.
    bool makes(Port port) const { return has(port) && value(port).role == ir::Role::Output; }
};

// --- Conditions, each with the reason why a graph is refused

// A number that the graph holds.
std::optional<float> scale_of(AttentionWork const& work) {
    if (!work.has(Port::AttnScale)) return work.op.options.scale_value.value_or(1.0f);
    ir::Value const& scale = work.value(Port::AttnScale);
    if (scale.role != ir::Role::Constant || scale.type != DataType_t::FLOAT) return {};
    return std::bit_cast<float>(static_cast<std::uint32_t>(scale.constant.bits));
}
std::string scale_reason(AttentionWork const& work) {
    return scale_of(work) ? "" : "it needs attn_scale as a number of the graph, not as a tensor";
}

std::string dropout_reason(AttentionWork const& work) {
    bool const drops = work.op.options.dropout_probability || work.has_any({Port::DropoutMask, Port::RngDump});
    return drops ? "it has no dropout" : "";
}

std::string page_reason(AttentionWork const& work) {
    return work.has_any({Port::PageTableK, Port::PageTableV}) ? "it supports no pages" : "";
}

std::string ragged_reason(AttentionWork const& work) {
    bool is_ragged = false;
    for (ir::Value const& value : work.graph.values()) is_ragged = is_ragged || value.ragged;
    return is_ragged ? "it supports no packed sequences, which have ragged offsets" : "";
}

std::string term_reason(AttentionWork const& work) {
    bool const has_terms = work.has_any({Port::Bias, Port::SinkToken}) || work.op.options.alibi || work.op.region;
    return has_terms ? "it adds no bias, ALiBi mask or sink to scores, and runs no score modifier" : "";
}

std::string block_mask_reason(AttentionWork const& work) {
    return work.has(Port::BlockMask) ? "it supports no block mask" : "";
}

std::string result_reason(AttentionWork const& work) {
    if (work.makes(Port::Max) || work.makes(Port::SumExp)) return "it makes no Max and no Sum_exp";
    if (!work.makes(Port::O)) return "it needs O as an output";
    if (!work.makes(Port::Stats)) return "";
    bool const is_natural = !work.op.options.stats_in_base_2 && work.value(Port::Stats).type == DataType_t::FLOAT;
    return is_natural ? "" : "it needs Stats of FLOAT, and natural logarithms in it";
}

bool has_lengths(AttentionWork const& work, Port port) { return work.op.options.padding && work.has(port); }

std::string length_reason(AttentionWork const& work) {
    for (Port const port : {Port::SeqLenQ, Port::SeqLenKv}) {
        if (!has_lengths(work, port)) continue;
        ir::Value const& lengths = work.value(port);
        bool const is_legal = lengths.role == ir::Role::Input && lengths.type == DataType_t::INT32 &&
                              (lengths.dim[0] == 1 || lengths.stride[0] == 1);
        if (!is_legal) return "it needs lengths of INT32 one after the other, and not as sums";
    }
    return "";
}

constexpr auto kConditions = {scale_reason, dropout_reason,    page_reason,   ragged_reason,
                              term_reason,  block_mask_reason, result_reason, length_reason};

// --- From the operation to the kernel

Operand operand_of(AttentionWork const& work, Port port) {
    ir::Value const& value = work.value(port);
    return {value.type, value.dim, value.stride};
}

AttentionKernelProblem problem_of(AttentionWork const& work) {
    ir::AttentionOptions const& options = work.op.options;
    AttentionKernelProblem problem;
    problem.queries = operand_of(work, Port::Q);
    problem.keys = operand_of(work, Port::K);
    problem.values = operand_of(work, Port::V);
    problem.output = operand_of(work, Port::O);
    if (work.makes(Port::Stats)) problem.stats = operand_of(work, Port::Stats);
    problem.has_query_lengths = has_lengths(work, Port::SeqLenQ);
    problem.has_key_lengths = has_lengths(work, Port::SeqLenKv);
    // The graph's bound counts the diagonal.
    if (options.left_bound) problem.left = *options.left_bound - 1;
    problem.right = options.right_bound;
    problem.is_bottom_right = options.alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    problem.scale = scale_of(work).value_or(1.0f);
    return problem;
}

std::vector<KernelPlace> places_of(AttentionWork const& work, AttentionKernelProblem const& problem) {
    std::vector<Port> ports{Port::Q, Port::K, Port::V, Port::O};
    if (problem.stats) ports.push_back(Port::Stats);
    if (problem.has_query_lengths) ports.push_back(Port::SeqLenQ);
    if (problem.has_key_lengths) ports.push_back(Port::SeqLenKv);
    std::vector<KernelPlace> places;
    places.reserve(ports.size());
    for (Port const port : ports) places.push_back({.uid = work.value(port).uid});
    return places;
}

// The copy engine needs matrices at multiples of 16 bytes.
plan::PackLayout layout_of(nodes::ValidatedGraph const& graph, AttentionWork const& work) {
    plan::PackLayout layout = plan::make_pack_layout(graph.spec(), work.graph);
    layout.host_memory = plan::HostMemory::ScalarsByValue;
    for (Port const port : {Port::Q, Port::K, Port::V, Port::O}) {
        if (auto const number = layout.slot_of(work.value(port).uid)) {
            plan::Slot& slot = layout.slots[*number];
            slot.alignment = std::max(slot.alignment, attention::kMatrixAlignment);
        }
    }
    return layout;
}

error_t refusal(std::vector<std::string> const& reasons) {
    std::string text;
    for (std::string const& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the engine 'attention' cannot run this graph: " + text};
}

}  // namespace

bool is_attention_forward(nodes::ValidatedGraph const& graph) {
    auto const& nodes = graph.spec().nodes;
    return nodes.size() == 1 && nodes.front().kind() == nodes::NodeKind::SdpaForward;
}

Result<AttentionGraph> read_attention(nodes::ValidatedGraph const& graph, DeviceFacts const& device) {
    expand::TargetAbilities abilities;
    abilities.fused_attention = expand::TargetAbilities::Fused::Preferred;
    auto const op_graph = expand::expand(graph, abilities);
    if (op_graph.is_bad()) return op_graph.error();
    auto const& ops = op_graph.value().ops();
    auto const* const op = ops.size() == 1 ? std::get_if<ir::SdpaForwardOp>(&ops.front().body) : nullptr;
    if (op == nullptr) {
        return refusal(
            {"it runs attention as one operation, which 8-bit attention and the implementation COMPOSITE "
             "are not"});
    }
    AttentionWork const work{op_graph.value(), *op};
    AttentionKernelProblem problem = problem_of(work);
    std::vector<std::string> reasons = reasons_against(problem, device);
    for (auto const condition : kConditions) {
        std::string reason = condition(work);
        if (!reason.empty()) reasons.push_back(std::move(reason));
    }
    if (!reasons.empty()) return refusal(reasons);
    std::vector<KernelPlace> places = places_of(work, problem);
    return AttentionGraph{std::move(problem), std::move(places), layout_of(graph, work)};
}

}  // namespace cudnn_frontend::kernels
