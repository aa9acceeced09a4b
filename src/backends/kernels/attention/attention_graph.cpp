#include "kernels/attention/attention_graph.h"

#include "core/data_type.h"
#include "expand/expand.h"
#include "kernels/attention/score_code.h"
#include "nodes/validation/modifiers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;

// The graph's only operation, with the values of its operands.
struct AttentionValues {
    ir::OpGraph const& graph;
    bool is_backward;
    ir::AttentionOptions const& options;
    attention::OfOperation<ir::ValueId> const& operands;
    ir::ScoreRegion const& region;
    bool deterministic;

    bool has(Port port) const { return operands[port] != ir::kNoValue; }
    bool has_any(std::initializer_list<Port> ports) const {
        return std::ranges::any_of(ports, [&](Port port) { return has(port); });
    }
    ir::Value const& value(Port port) const { return graph.value(operands[port]); }
    // Whether there is memory of the caller's for a result.
    bool makes(Port port) const { return has(port) && value(port).role == ir::Role::Output; }
    // Whether a kernel has the operand.
    bool uses(Port port) const {
        if (!has(port)) return false;
        ir::Role const role = value(port).role;
        return role == ir::Role::Input || role == ir::Role::Output;
    }
};

Result<ir::OpGraph> fused(nodes::ValidatedGraph const& graph) {
    expand::TargetAbilities abilities;
    abilities.fused_attention = expand::TargetAbilities::Fused::Preferred;
    abilities.fused_modifiers = true;
    return expand::expand(graph, abilities);
}

std::optional<AttentionValues> values_of(ir::OpGraph const& graph) {
    if (graph.ops().size() != 1) return {};
    ir::OpBody const& body = graph.ops().front().body;
    if (auto const* const op = std::get_if<ir::SdpaForwardOp>(&body)) {
        return AttentionValues{graph, false, op->options, op->operands, op->region, false};
    }
    if (auto const* const op = std::get_if<ir::SdpaBackwardOp>(&body)) {
        return AttentionValues{graph, true, op->options, op->operands, op->region, op->deterministic};
    }
    return {};
}

// --- Conditions, each with the reason why a graph is refused

// A number that the graph holds.
std::optional<float> scale_of(AttentionValues const& values) {
    if (!values.has(Port::AttnScale)) return static_cast<float>(values.options.scale_value.value_or(1.0));
    ir::Value const& scale = values.value(Port::AttnScale);
    if (scale.role != ir::Role::Constant || scale.type != DataType_t::FLOAT) return {};
    return std::bit_cast<float>(static_cast<std::uint32_t>(scale.constant.bits));
}
std::string scale_reason(AttentionValues const& values) {
    return scale_of(values) ? "" : "it needs attn_scale as a number of the graph, not as a tensor";
}

std::string dropout_reason(AttentionValues const& values) {
    return values.has(Port::DropoutMask) ? "it has no dropout by a mask of the caller's" : "";
}

std::string page_reason(AttentionValues const& values) {
    return values.has_any({Port::PageTableK, Port::PageTableV}) ? "it supports no pages" : "";
}

std::string block_mask_reason(AttentionValues const& values) {
    return values.has(Port::BlockMask) ? "it supports no block mask" : "";
}

// Backward reads a sink for its gradient alone.
bool reads_sink(AttentionValues const& values) {
    return values.has(Port::SinkToken) && (!values.is_backward || values.makes(Port::DSinkToken));
}
std::string sink_reason(AttentionValues const& values) {
    bool const is_legal = !reads_sink(values) || values.value(Port::SinkToken).type == DataType_t::FLOAT;
    return is_legal ? "" : "it needs a sink token of FLOAT";
}

std::string result_reason(AttentionValues const& values) {
    if (values.makes(Port::Max) || values.makes(Port::SumExp)) return "it makes no Max and no Sum_exp";
    for (Port const port : {Port::O, Port::DQ, Port::DK, Port::DV}) {
        bool const is_result = values.has(port) && (port != Port::O || !values.is_backward);
        if (is_result && !values.makes(port)) return "it needs its results as outputs";
    }
    if (!values.uses(Port::Stats)) return "";
    bool const is_natural = !values.options.stats_in_base_2 && values.value(Port::Stats).type == DataType_t::FLOAT;
    return is_natural ? "" : "it needs Stats of FLOAT, and natural logarithms in it";
}

std::string determinism_reason(AttentionValues const& values) {
    return values.deterministic ? "it adds up gradients of queries in any order" : "";
}

ir::Value const& source_of(AttentionValues const& values, ir::Value const& lengths) {
    return lengths.steps_of != ir::kNoValue ? values.graph.value(lengths.steps_of) : lengths;
}

// Whether the memory of the caller's has an entry's number behind that of the entry before.
bool are_in_turn(ir::Value const& numbers) {
    return numbers.role == ir::Role::Input && (numbers.dim[0] == 1 || numbers.stride[0] == 1);
}

// Whether the lengths that there are all fit.
template <class Fits>
bool lengths_fit(AttentionValues const& values, Fits const& fits) {
    if (!values.options.padding) return true;
    return std::ranges::all_of(std::array{Port::SeqLenQ, Port::SeqLenKv},
                               [&](Port port) { return !values.has(port) || fits(values.value(port)); });
}

std::string length_reason(AttentionValues const& values) {
    auto const fits = [&](ir::Value const& lengths) { return are_in_turn(source_of(values, lengths)); };
    return lengths_fit(values, fits) ? "" : "it needs lengths one after the other";
}

std::string offset_reason(AttentionValues const& values) {
    for (attention::Operand const& row : attention::kOperands) {
        if (!attention::is_of_operation(row) || !values.uses(row.port) || !values.value(row.port).ragged) continue;
        if (!attention::has_vectors(row) && row.port != Port::Stats)
            return "it supports no packed tensors but those of rows";
        ir::Value const& offsets = values.graph.value(values.value(row.port).ragged.offset);
        if (offsets.role != ir::Role::Input || offsets.stride[0] != 1)
            return "it needs ragged offsets one after the other";
    }
    return "";
}

// --- Conditions next to other engines

std::string ragged_reason(AttentionValues const& values) {
    bool is_ragged = false;
    for (ir::Value const& value : values.graph.values()) is_ragged = is_ragged || value.ragged;
    return is_ragged ? "it supports no packed sequences, which have ragged offsets" : "";
}

std::string term_reason(AttentionValues const& values) {
    bool const has_terms = values.has(Port::SinkToken) || values.options.alibi;
    return has_terms ? "next to other engines, it adds no ALiBi mask or sink to scores" : "";
}

// The bias of a graph without an advantage.
std::string bias_reason(AttentionValues const& values) {
    return values.has(Port::Bias)
               ? "next to other engines, it adds a bias only where the copy engine moves it, and its "
                 "gradient: for head dims up to 128, at least 64 queries and no score modifier, in "
                 "BFLOAT16 or HALF, with a number for each query and key and strides of 16 bytes"
               : "";
}

std::string plain_length_reason(AttentionValues const& values) {
    auto const fits = [](ir::Value const& lengths) {
        return lengths.type == DataType_t::INT32 && are_in_turn(lengths);
    };
    return lengths_fit(values, fits) ? "" : "it needs lengths of INT32 one after the other, and not as sums";
}

// The two passes of a training step must draw the same numbers.
std::string generator_reason(AttentionValues const& values) {
    return values.options.dropout_probability
               ? "its dropout draws other numbers than engines that may run the other pass"
               : "";
}

// --- Conditions under which a row's bits depend on its own sequence alone

std::string pass_reason(AttentionValues const& values) {
    return values.is_backward ? "batch-invariant, it runs forward alone: it adds up gradients of queries in any order"
                              : "";
}

std::string numbering_reason(AttentionValues const& values) {
    return values.options.dropout_probability
               ? "batch-invariant, it has no dropout, whose numbers depend on a sequence's place in the batch"
               : "";
}

// Whether a modifier is applied where it changes nothing depends on the other rows of a tile, and rounds.
std::string modifier_reason(AttentionKernelProblem const& problem) {
    return problem.leaves_scores
               ? "batch-invariant, it has no modifier that leaves scores as they are, such as a mask of documents"
               : "";
}

constexpr auto kBatchConditions = {pass_reason, numbering_reason};
constexpr auto kSharedConditions = {generator_reason};
constexpr auto kPlainConditions = {ragged_reason, term_reason, bias_reason, plain_length_reason};

constexpr auto kConditions = {scale_reason,  dropout_reason,     page_reason,   block_mask_reason, sink_reason,
                              result_reason, determinism_reason, length_reason, offset_reason};

// --- From the operation to the kernels

class Reader {
   public:
    Reader(nodes::ValidatedGraph const& graph, AttentionValues const& values) : graph_(graph), values_(values) {}

    Result<AttentionGraph> run() {
        read_operands();
        read_lengths();
        read_offsets();
        read_options();
        read_dropout();
        SDPA_GRAPH_TRY(read_modifier());
        read_.layout = layout();
        return std::move(read_);
    }

   private:
    std::size_t add_place(ir::Value const& value) {
        read_.places.push_back({.uid = value.uid});
        return read_.places.size() - 1;
    }
    PlacedOperand placed(ir::Value const& value) { return {{value.type, value.dim, value.stride}, add_place(value)}; }

    void read_operands() {
        for (attention::Operand const& row : attention::kOperands) {
            bool const is_operand =
                attention::is_of_operation(row) && values_.uses(row.port) && !attention::is_length(row);
            bool const is_unread_sink = row.port == Port::SinkToken && !reads_sink(values_);
            bool const is_of_generator = row.port == Port::Seed || row.port == Port::Offset;
            if (!is_operand || is_unread_sink || is_of_generator) continue;
            read_.problem.operands[row.port] = placed(values_.value(row.port));
        }
    }

    void read_lengths() {
        if (!values_.options.padding) return;
        read_.problem.query_lengths = lengths_of(Port::SeqLenQ);
        read_.problem.key_lengths = lengths_of(Port::SeqLenKv);
    }
    std::optional<SequenceLengths> lengths_of(Port port) {
        if (!values_.has(port)) return {};
        ir::Value const& source = source_of(values_, values_.value(port));
        bool const are_sums = values_.value(port).steps_of != ir::kNoValue;
        return SequenceLengths{add_place(source), source.type == DataType_t::INT64, are_sums};
    }

    void read_offsets() {
        for (attention::Operand const& row : attention::kOperands) {
            if (!attention::is_of_operation(row) || !read_.problem.has(row.port)) continue;
            ir::Ragged const& ragged = values_.value(row.port).ragged;
            if (!ragged) continue;
            ir::Value const& offsets = values_.graph.value(ragged.offset);
            read_.problem.packed[row.port] =
                PackedOffsets{add_place(offsets), ragged.multiplier, offsets.type == DataType_t::INT64};
        }
    }

    void read_options() {
        ir::AttentionOptions const& options = values_.options;
        AttentionKernelProblem& problem = read_.problem;
        problem.is_backward = values_.is_backward;
        // The graph's bound counts the diagonal.
        if (options.left_bound) problem.left = *options.left_bound - 1;
        problem.right = options.right_bound;
        problem.is_bottom_right = options.alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
        problem.has_alibi = options.alibi;
        problem.scale = scale_of(values_).value_or(1.0f);
    }

    void read_dropout() {
        if (!values_.options.dropout_probability) return;
        read_.problem.dropout =
            GeneratedDropout{*values_.options.dropout_probability, integer_of(Port::Seed), integer_of(Port::Offset)};
    }
    PlacedInteger integer_of(Port port) {
        ir::Value const& value = values_.value(port);
        if (value.role == ir::Role::Constant) {
            std::uint64_t const bits = value.constant.bits;
            return {.number = value.constant.type == DataType_t::INT64 ? static_cast<std::int64_t>(bits)
                                                                       : static_cast<std::int32_t>(bits)};
        }
        return {add_place(value), value.type == DataType_t::INT64, value.role == ir::Role::ByValue};
    }

    error_t read_modifier() {
        if (!values_.region) return {};
        ScoreCode code;
        SDPA_GRAPH_TRY(score_code(values_.graph, values_.region).move_to(code));
        read_.problem.score_code = std::move(code.text);
        read_.problem.score_code_of_bounds = std::move(code.text_of_bounds);
        read_.problem.leaves_scores = code.leaves_scores;
        read_.problem.hides_by_batch = code.hides_by_batch;
        read_.problem.hides_by_head = code.hides_by_head;
        for (ir::ValueId const id : code.tensors)
            read_.problem.score_tensors.push_back(placed(values_.graph.value(id)));
        for (ir::ValueId const id : code.numbers)
            read_.problem.score_numbers.push_back(number_of(values_.graph.value(id)));
        return {};
    }
    static std::uint32_t number_of(ir::Value const& value) {
        double const number = core::load(value.constant.type, &value.constant.bits, 0);
        if (value.type == DataType_t::INT32) return static_cast<std::uint32_t>(static_cast<std::int32_t>(number));
        return std::bit_cast<std::uint32_t>(static_cast<float>(number));
    }

    // The copy engine needs matrices at multiples of 16 bytes.
    plan::PackLayout layout() const {
        plan::PackLayout layout = plan::make_pack_layout(graph_.spec(), values_.graph);
        layout.host_memory = plan::HostMemory::ScalarsByValue;
        for (attention::Operand const& row : attention::kOperands) {
            if (!attention::is_of_operation(row) || !attention::has_vectors(row) || !values_.uses(row.port)) continue;
            if (auto const number = layout.slot_of(values_.value(row.port).uid)) {
                plan::Slot& slot = layout.slots[*number];
                slot.alignment = std::max(slot.alignment, attention::kMatrixAlignment);
            }
        }
        return layout;
    }

    nodes::ValidatedGraph const& graph_;
    AttentionValues const& values_;
    AttentionGraph read_;
};

error_t refusal(std::vector<std::string> const& reasons) {
    std::string text;
    for (std::string const& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the engine 'attention' cannot run this graph: " + text};
}

}  // namespace

static bool is_attention_node(nodes::Node const& node) { return nodes::attention_fields(node) != nullptr; }

bool is_attention(nodes::ValidatedGraph const& graph) {
    return std::ranges::count_if(graph.spec().nodes, is_attention_node) == 1;
}

bool is_attention_forward(nodes::ValidatedGraph const& graph) {
    auto const& nodes = graph.spec().nodes;
    return nodes.size() == 1 && nodes.front().kind() == nodes::NodeKind::SdpaForward && nodes.front().modifier.empty();
}

bool has_bias_or_modifier(nodes::ValidatedGraph const& graph) {
    if (!is_attention(graph)) return false;
    nodes::Node const& node = *std::ranges::find_if(graph.spec().nodes, is_attention_node);
    return graph.spec().tensor(node, Port::Bias) != nullptr || nodes::has_modifier(node);
}

Result<AttentionGraph> read_attention(nodes::ValidatedGraph const& graph, DeviceFacts const& device,
                                      AttentionScope scope) {
    auto const op_graph = fused(graph);
    if (op_graph.is_bad()) return op_graph.error();
    auto const values = values_of(op_graph.value());
    if (!values) {
        return refusal(
            {"it runs attention as one operation, which 8-bit attention and the implementation COMPOSITE are not"});
    }
    AttentionGraph read;
    auto const failure = Reader(graph, *values).run().move_to(read);
    std::vector<std::string> reasons;
    if (failure.is_good()) reasons = reasons_against(read.problem, device);
    auto const add = [&](auto const& conditions) {
        for (auto const condition : conditions) {
            std::string reason = condition(*values);
            if (!reason.empty()) reasons.push_back(std::move(reason));
        }
    };
    add(kConditions);
    bool const has_others = scope == AttentionScope::NextToOthers || scope == AttentionScope::BeforeOthers;
    if (has_others) add(kSharedConditions);
    if (scope == AttentionScope::NextToOthers && advantage_of(read.problem).empty()) add(kPlainConditions);
    if (scope == AttentionScope::InAnyBatch) {
        add(kBatchConditions);
        if (std::string reason = modifier_reason(read.problem); !reason.empty()) reasons.push_back(std::move(reason));
    }
    if (failure.is_bad()) reasons.push_back(failure.err_msg);
    if (!reasons.empty()) return refusal(reasons);
    if (workspace_of(read.problem).bytes > 0) {
        read.problem.workspace_pointer = read.places.size();
        read.places.push_back({.is_in_workspace = true});
    }
    return read;
}

}  // namespace cudnn_frontend::kernels
