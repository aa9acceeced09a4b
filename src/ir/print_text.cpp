// The op graph as text: one line for each value that no operation makes, then one for each operation.
#include "core/data_type.h"
#include "core/names.h"
#include "core/text.h"
#include "ir/faults.h"

#include <algorithm>
#include <span>

namespace cudnn_frontend::ir {
namespace {

using core::shortest_text;

std::string scalar_text(detail::Scalar const& scalar) {
    return core::is_floating_point(scalar.type) ? shortest_text(core::to_double(scalar))
                                                : shortest_text(core::to_integer(scalar));
}

std::string constant_text(Value const& value) {
    if (value.table.empty()) return scalar_text(value.constant);
    constexpr std::size_t kShown = 16;
    std::string text;
    for (double const element : std::span(value.table).first(std::min(kShown, value.table.size()))) {
        text += (text.empty() ? "{" : ", ") + shortest_text(element);
    }
    if (value.table.size() > kShown) text += ", ... " + std::to_string(value.table.size()) + " numbers";
    return text + "}";
}

char const* role_name(Role role) {
    switch (role) {
        case Role::Input: return "input";
        case Role::Output: return "output";
        case Role::Virtual: return "virtual";
        case Role::ByValue: return "by value";
        case Role::Constant: return "constant";
    }
    return "?";
}

char const* name_of(MaskedBy operand) {
    switch (operand) {
        case MaskedBy::Neither: return "neither";
        case MaskedBy::First: return "in_0";
        case MaskedBy::Second: return "in_1";
        case MaskedBy::Either: return "either";
    }
    return "?";
}

std::string text_of(RegionOperand const& operand) {
    switch (operand.from) {
        case RegionOperand::From::None: break;
        case RegionOperand::From::Score: return "score";
        case RegionOperand::From::Gradient: return "gradient";
        case RegionOperand::From::Step: return "$" + std::to_string(operand.index);
        case RegionOperand::From::Value: return "%" + std::to_string(operand.index);
    }
    return "?";
}

// The fields of an operation that differ from their defaults, as ", name=value".
class FieldPrinter {
   public:
    template <class T>
    void add(char const* name, std::optional<T> const& value) {
        if (value) add(name, shortest_text(*value));
    }
    void add(char const* name, std::string const& value) { text_ += std::string(", ") + name + "=" + value; }
    void flag(char const* name, bool value) {
        if (value) text_ += std::string(", ") + name;
    }
    std::string const& text() const { return text_; }

    void operator()(MatmulOp const& op) {
        if (op.padding != 0.0) add("padding", shortest_text(op.padding));
        flag("a_masks", op.a_masks);
        flag("deterministic", op.is_deterministic);
    }
    void operator()(PointwiseFunction const& op) {
        if (op.mode == PointwiseMode_t::GEN_INDEX) add("axis", shortest_text(op.axis));
        add("relu_lower_clip", op.relu_lower_clip);
        add("relu_upper_clip", op.relu_upper_clip);
        add("relu_lower_clip_slope", op.relu_lower_clip_slope);
        add("swish_beta", op.swish_beta);
        add("elu_alpha", op.elu_alpha);
        add("softplus_beta", op.softplus_beta);
        if (op.masked_by != MaskedBy::Neither) add("masked_by", name_of(op.masked_by));
    }
    void operator()(ReductionOp const& op) { flag("deterministic", op.is_deterministic); }
    void operator()(RngOp const& op) { add("probability", shortest_text(op.probability)); }
    void operator()(ReshapeOp const& op) { flag("logical", op.mode == ReshapeMode_t::LOGICAL); }
    void operator()(SliceOp const& op) {
        add("start", core::to_string(op.start));
        add("step", core::to_string(op.step));
    }
    void operator()(TransposeOp const& op) { add("permutation", core::to_string(op.permutation)); }
    void operator()(WindowProductOp const& op) {
        (*this)(op.options);
        if (op.without_key != 0.0) add("without_key", shortest_text(op.without_key));
    }
    void operator()(WindowBiasOp const& op) { (*this)(op.options); }
    void operator()(WindowBiasSumOp const& op) { (*this)(op.options); }
    void operator()(NeighborhoodOp const& op) {
        (*this)(op.options);
        if (op.scale != 1.0) add("scale", shortest_text(op.scale));
    }
    void operator()(neighborhood::Options const& options) {
        add("kernel_size", core::to_string(options.kernel_size));
        if (!options.dilation.empty()) add("dilation", core::to_string(options.dilation));
        if (!options.is_causal.empty()) add("is_causal", core::to_string(options.is_causal));
    }
    void operator()(BlockMaskOp const&) {}
    void operator()(BlockDequantizeOp const& op) { add("axis", shortest_text(op.axis)); }
    void operator()(BlockQuantizeOp const& op) { add("axis", shortest_text(op.axis)); }
    void operator()(PagedLoadOp const&) {}
    void operator()(SdpaForwardOp const& op) {
        (*this)(op.options);
        add("keys", op.keys);
        (*this)(op.region);
    }
    void operator()(SdpaBackwardOp const& op) {
        (*this)(op.options);
        flag("deterministic", op.deterministic);
        (*this)(op.region);
    }
    void operator()(AttentionOptions const& options) {
        add("scale_value", options.scale_value);
        flag("alibi", options.alibi);
        flag("padding", options.padding);
        bool const is_banded = options.left_bound || options.right_bound;
        if (is_banded) add("alignment", core::name_of(options.alignment));
        add("left_bound", options.left_bound);
        add("right_bound", options.right_bound);
        add("dropout_probability", options.dropout_probability);
        flag("stats_in_base_2", options.stats_in_base_2);
    }
    // "region={$0 = DIV(score, %7); $1 = TANH_FWD($0); score: $1}"
    void operator()(ScoreRegion const& region) {
        if (!region) return;
        std::string text;
        for (std::size_t i = 0; i < region.steps.size(); ++i) text += step_text(region.steps[i], i) + "; ";
        text += "score: " + text_of(region.score);
        if (region.gradient.from != RegionOperand::From::None) text += "; gradient: " + text_of(region.gradient);
        add("region", "{" + text + "}");
    }

   private:
    static std::string step_text(RegionStep const& step, std::size_t index) {
        std::string operands;
        for (RegionOperand const& operand : step.in) {
            if (operand.from == RegionOperand::From::None) continue;
            operands += (operands.empty() ? "" : ", ") + text_of(operand);
        }
        FieldPrinter fields;
        fields(step.function);
        return "$" + std::to_string(index) + " = " + core::name_of(step.function.mode) + "(" + operands +
               fields.text() + ")";
    }

    std::string text_;
};

std::string fields_text(Op const& op) {
    FieldPrinter fields;
    std::visit(fields, op.body);
    return fields.text();
}

std::string type_and_dims(Value const& value) {
    std::string text = std::string(core::name_of(value.type)) + " " + core::to_string(value.dim);
    if (value.stride != core::packed_strides(value.dim)) text += " strides " + core::to_string(value.stride);
    if (value.reordering != TensorReordering_t::NONE) text += std::string(" ") + core::name_of(value.reordering);
    if (value.ragged) text += " ragged by %" + std::to_string(value.ragged.offset);
    if (value.ragged.multiplier != 1) text += " times " + std::to_string(value.ragged.multiplier);
    if (value.ragged.most_rows != 0) text += " of at most " + std::to_string(value.ragged.most_rows) + " rows";
    return text;
}

std::string role_text(OpGraph const& graph, Value const& value) {
    if (value.view_of != kNoValue) return "view of " + label_of(graph, value.view_of);
    if (value.steps_of != kNoValue) return "steps of " + label_of(graph, value.steps_of);
    if (value.role == Role::Constant) return "constant " + constant_text(value);
    std::string const uid = value.uid < 0 ? "" : " uid " + std::to_string(value.uid);
    return role_name(value.role) + uid;
}

// Values that no operation line introduces: inputs, scalars and views.
std::vector<bool> made_by_ops(OpGraph const& graph) {
    std::vector<bool> made(graph.values().size(), false);
    for (Op const& op : graph.ops()) {
        for (NamedValue const& out : outputs_of(op)) made[static_cast<std::size_t>(out.value)] = true;
    }
    return made;
}

std::string value_line(OpGraph const& graph, ValueId id) {
    Value const& value = graph.value(id);
    return label_of(graph, id) + ": " + role_text(graph, value) + " " + type_and_dims(value) + "\n";
}

std::string result_text(OpGraph const& graph, ValueId id) {
    Value const& value = graph.value(id);
    bool const is_plain = value.role == Role::Virtual && value.view_of == kNoValue;
    return type_and_dims(value) + (is_plain ? "" : " " + role_text(graph, value));
}

template <class Show>
std::string joined(std::vector<NamedValue> const& operands, Show const& show) {
    std::string text;
    for (NamedValue const& operand : operands) text += (text.empty() ? "" : ", ") + show(operand);
    return text;
}

std::string op_line(OpGraph const& graph, Op const& op) {
    auto const label = [&](NamedValue const& operand) { return label_of(graph, operand.value); };
    auto const argument = [&](NamedValue const& operand) { return std::string(operand.label) + ": " + label(operand); };
    auto const result = [&](NamedValue const& operand) { return result_text(graph, operand.value); };
    std::string const name = op.name.empty() ? "" : "  # " + op.name;
    return joined(outputs_of(op), label) + " = " + kind_name(op) + "(" + joined(inputs_of(op), argument) +
           fields_text(op) + ") -> " + joined(outputs_of(op), result) + name + "\n";
}

}  // namespace

std::string to_text(OpGraph const& graph) {
    std::string text;
    std::vector<bool> const made = made_by_ops(graph);
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (!made[i]) text += value_line(graph, static_cast<ValueId>(i));
    }
    for (Op const& op : graph.ops()) text += op_line(graph, op);
    return text;
}

}  // namespace cudnn_frontend::ir
