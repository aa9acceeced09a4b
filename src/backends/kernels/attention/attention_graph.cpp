#include "kernels/attention/attention_graph.h"

#include "core/data_type.h"
#include "expand/expand.h"
#include "kernels/attention/attention_values.h"
#include "nodes/validation/modifiers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;

Result<ir::OpGraph> fused(nodes::ValidatedGraph const& graph) {
    expand::TargetAbilities abilities;
    abilities.fused_attention = expand::TargetAbilities::Fused::Preferred;
    abilities.fused_modifiers = true;
    return expand::expand(graph, abilities);
}

// From the operation to the kernels.
class Reader {
   public:
    Reader(nodes::ValidatedGraph const& graph, AttentionValues const& values) : graph_(graph), values_(values) {}

    AttentionGraph run() {
        read_operands();
        read_lengths();
        read_offsets();
        read_options();
        read_dropout();
        modifier_failure_ = read_modifier();
        read_.layout = layout();
        return std::move(read_);
    }
    // Why the score modifier has no code, where it has none.
    error_t const& modifier_failure() const { return modifier_failure_; }

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
            bool const is_unread_sink = row.port == Port::SinkToken && !values_.reads_sink();
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
        ir::Value const& source = values_.source_of(values_.value(port));
        bool const are_sums = values_.value(port).steps_of != ir::kNoValue;
        return SequenceLengths{add_place(source), source.type == DataType_t::INT64, are_sums};
    }

    void read_offsets() {
        for (attention::Operand const& row : attention::kOperands) {
            if (!attention::is_of_operation(row) || !read_.problem.has(row.port)) continue;
            ir::Ragged const& ragged = values_.value(row.port).ragged;
            if (!ragged) continue;
            ir::Value const& offsets = values_.graph.value(ragged.offset);
            read_.problem.packed[row.port] = PackedOffsets{add_place(offsets), ragged.multiplier,
                                                           offsets.type == DataType_t::INT64, ragged.most_rows};
        }
    }

    void read_options() {
        ir::AttentionOptions const& options = values_.options;
        AttentionKernelProblem& problem = read_.problem;
        problem.is_backward = values_.is_backward;
        problem.is_deterministic = values_.deterministic;
        // The graph's bound counts the diagonal.
        if (options.left_bound) problem.left = *options.left_bound - 1;
        problem.right = options.right_bound;
        problem.is_bottom_right = options.alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
        problem.has_alibi = options.alibi;
        problem.scale = values_.scale().value_or(1.0f);
        problem.keys_in_pages = values_.keys_in_pages;
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
        read_.problem.modifier = std::move(code.modifier);
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
    error_t modifier_failure_;
};

}  // namespace

static bool is_attention_node(nodes::Node const& node) { return nodes::attention_fields(node) != nullptr; }

// The first attention of the graph; null where it has none.
static nodes::Node const* attention_node(nodes::ValidatedGraph const& graph) {
    auto const& nodes = graph.spec().nodes;
    auto const found = std::ranges::find_if(nodes, is_attention_node);
    return found == nodes.end() ? nullptr : &*found;
}

bool is_attention(nodes::ValidatedGraph const& graph) {
    return std::ranges::count_if(graph.spec().nodes, is_attention_node) == 1;
}

bool is_one_attention(nodes::ValidatedGraph const& graph) {
    auto const& nodes = graph.spec().nodes;
    if (nodes.size() != 1 || !nodes.front().modifier.empty()) return false;
    nodes::NodeKind const kind = nodes.front().kind();
    return kind == nodes::NodeKind::SdpaForward || kind == nodes::NodeKind::SdpaBackward;
}

bool has_bias_or_modifier(nodes::ValidatedGraph const& graph) {
    if (!is_attention(graph)) return false;
    nodes::Node const& node = *attention_node(graph);
    return graph.spec().tensor(node, Port::Bias) != nullptr || nodes::has_modifier(node);
}

Result<AttentionGraph> read_attention(nodes::ValidatedGraph const& graph, DeviceFacts const& device,
                                      AttentionOffer offer) {
    auto const op_graph = fused(graph);
    if (op_graph.is_bad()) return op_graph.error();
    auto const values = attention_values(op_graph.value());
    SDPA_GRAPH_TRY(check_operation(attention_node(graph), values));
    Reader reader(graph, *values);
    AttentionGraph read = reader.run();
    SDPA_GRAPH_TRY(check_attention(*values, read.problem, reader.modifier_failure(), device, offer));
    if (offer == AttentionOffer::InAnyBatch) read.problem.modifier.text_of_short_score.clear();
    if (workspace_of(read.problem).bytes > 0) {
        read.problem.workspace_pointer = read.places.size();
        read.places.push_back({.is_in_workspace = true});
    }
    return read;
}

}  // namespace cudnn_frontend::kernels
