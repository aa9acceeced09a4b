// The pointwise node: one arithmetic operation on up to three tensors, element by element.
#include "core/pointwise.h"
#include "nodes/schema/rule.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudnn_frontend::nodes {
namespace {

using enum error_code_t;

constexpr std::array kPortRows = {
    PortRow{pointwise::In0, "IN_0", Direction::Input, Presence::Required, "first operand"},
    PortRow{pointwise::In1, "IN_1", Direction::Input, Presence::Optional, "second operand"},
    PortRow{pointwise::In2, "IN_2", Direction::Input, Presence::Optional, "predicate of BINARY_SELECT"},
    PortRow{pointwise::Out0, "OUT_0", Direction::Output, Presence::Required, "result"},
};

constexpr std::array kFieldRows = {
    field<PointwiseFields, &PointwiseFields::mode>("mode", "the operation"),
    field<PointwiseFields, &PointwiseFields::axis>("axis", "the dim whose index GEN_INDEX gives"),
    field<PointwiseFields, &PointwiseFields::relu_lower_clip>("relu_lower_clip", "smallest result of RELU"),
    field<PointwiseFields, &PointwiseFields::relu_upper_clip>("relu_upper_clip", "largest result of RELU"),
    field<PointwiseFields, &PointwiseFields::relu_lower_clip_slope>("relu_lower_clip_slope",
                                                                    "slope of RELU below the lower clip"),
    field<PointwiseFields, &PointwiseFields::swish_beta>("swish_beta", "beta of SWISH"),
    field<PointwiseFields, &PointwiseFields::elu_alpha>("elu_alpha", "alpha of ELU"),
    field<PointwiseFields, &PointwiseFields::softplus_beta>("softplus_beta", "beta of SOFTPLUS"),
};

// The broadcast dims: aligned at the last, each the larger of the two.
core::Dims broadcast(core::Dims a, core::Dims b) {
    if (a.size() < b.size()) a.swap(b);
    for (std::size_t i = 1; i <= b.size(); ++i) {
        a[a.size() - i] = std::max(a[a.size() - i], b[b.size() - i]);
    }
    return a;
}

// Comparisons give BOOLEAN and GEN_INDEX gives integers, whatever the graph's default is.
DataType_t result_type(PointwiseMode_t mode) {
    if (core::is_comparison(mode) || core::is_logical(mode)) return DataType_t::BOOLEAN;
    return mode == PointwiseMode_t::GEN_INDEX ? DataType_t::INT32 : DataType_t::NOT_SET;
}

void infer(GraphSpec& graph, Node const& node) {
    core::Dims dim;
    for (int const port : {pointwise::In0, pointwise::In1, pointwise::In2}) {
        if (TensorSpec const* const operand = graph.tensor(node, port)) dim = broadcast(dim, operand->dim);
    }
    PointwiseMode_t const mode = std::get<PointwiseFields>(node.fields).mode;
    if (!dim.empty()) infer_output(graph.tensor(node, pointwise::Out0), dim, result_type(mode));
}

using enum PointwiseMode_t;

constexpr std::array kOperandPorts = {pointwise::In0, pointwise::In1, pointwise::In2};

PointwiseFields const& fields(RuleScope const& scope) { return std::get<PointwiseFields>(scope.node().fields); }

bool is_known(PointwiseMode_t mode) { return mode != NOT_SET && core::is_known(mode); }

// A parameter of some modes.
struct ModeParameter {
    char const* name;
    std::optional<core::Exact<float>> PointwiseFields::*value;
    PointwiseMode_t forward;
    PointwiseMode_t backward;
};

constexpr ModeParameter kParameters[] = {
    {"relu_lower_clip", &PointwiseFields::relu_lower_clip, RELU_FWD, RELU_BWD},
    {"relu_upper_clip", &PointwiseFields::relu_upper_clip, RELU_FWD, RELU_BWD},
    {"relu_lower_clip_slope", &PointwiseFields::relu_lower_clip_slope, RELU_FWD, RELU_BWD},
    {"swish_beta", &PointwiseFields::swish_beta, SWISH_FWD, SWISH_BWD},
    {"elu_alpha", &PointwiseFields::elu_alpha, ELU_FWD, ELU_BWD},
    {"softplus_beta", &PointwiseFields::softplus_beta, SOFTPLUS_FWD, SOFTPLUS_BWD},
};

// The dims, or none if they are not all positive, which another rule reports.
core::Dims sound_dims(TensorSpec const* tensor) {
    if (tensor == nullptr || std::ranges::any_of(tensor->dim, [](auto size) { return size <= 0; })) return {};
    return tensor->dim;
}

// The size of the dim `from_end` before the last one; 1 if there is none.
std::int64_t size_from_end(core::Dims const& dim, std::size_t from_end) {
    return from_end < dim.size() ? dim[dim.size() - 1 - from_end] : 1;
}

// The operands' broadcast dims; none if a size is invalid.
core::Dims broadcast_dims(RuleScope const& scope) {
    core::Dims common;
    for (int const port : kOperandPorts) {
        if (scope.tensor(port) == nullptr) continue;
        core::Dims const dim = sound_dims(scope.tensor(port));
        if (dim.empty()) return {};
        core::Dims wider(std::max(common.size(), dim.size()));
        for (std::size_t i = 0; i < wider.size(); ++i) {
            wider[wider.size() - 1 - i] = std::max(size_from_end(common, i), size_from_end(dim, i));
        }
        common = wider;
    }
    return common;
}

bool operands_broadcast(RuleScope const& scope, core::Dims const& common) {
    return std::ranges::all_of(kOperandPorts, [&](int port) {
        return scope.tensor(port) == nullptr || core::broadcasts_to(scope.tensor(port)->dim, common);
    });
}

void has_mode(RuleScope const& scope) {
    if (fields(scope).mode != NOT_SET) return;
    scope.report_node("no pointwise mode", "the operation to compute", "call set_mode(), such as PointwiseMode_t::ADD");
}

void has_all_operands(RuleScope const& scope) {
    PointwiseMode_t const mode = fields(scope).mode;
    if (!is_known(mode)) return;
    for (std::size_t operand = 1; operand < core::operand_count(mode); ++operand) {
        int const port = kOperandPorts[operand];
        if (scope.tensor(port) != nullptr) continue;
        scope.report_port(port, text("no operand ", port_name(NodeKind::Pointwise, port), " for ", mode),
                          text(core::operand_count(mode), " operands"),
                          text("call pointwise() with ", core::operand_count(mode), " tensors"));
    }
}

void has_no_more_operands(RuleScope const& scope) {
    PointwiseMode_t const mode = fields(scope).mode;
    if (!is_known(mode)) return;
    for (std::size_t operand = core::operand_count(mode); operand < kOperandPorts.size(); ++operand) {
        int const port = kOperandPorts[operand];
        if (scope.tensor(port) == nullptr) continue;
        scope.report_port(
            port, text("an operand ", port_name(NodeKind::Pointwise, port), " for ", mode),
            text("no more than ", core::operand_count(mode), core::operand_count(mode) == 1 ? " operand" : " operands"),
            text("call pointwise() with ", core::operand_count(mode), " of the tensors"));
    }
}

void operands_agree(RuleScope const& scope) {
    core::Dims const common = broadcast_dims(scope);
    if (common.empty()) return;
    for (int const port : kOperandPorts) {
        TensorSpec const* const operand = scope.tensor(port);
        if (operand == nullptr || core::broadcasts_to(operand->dim, common)) continue;
        scope.report_port(
            port, text(port_name(NodeKind::Pointwise, port), " with dims ", operand->dim),
            text("dims that equal those of the other operands or are 1, so that all broadcast to ", common),
            "set differing dims to 1, which broadcasts them, or to the other operand's size");
    }
}

void result_has_dims(RuleScope const& scope) {
    core::Dims const common = broadcast_dims(scope);
    core::Dims const dim = sound_dims(scope.tensor(pointwise::Out0));
    if (common.empty() || dim.empty() || dim == common || !operands_broadcast(scope, common)) return;
    scope.report_port(pointwise::Out0, text("OUT_0 with dims ", dim),
                      text("dims ", common, ", to which the operands broadcast"),
                      "leave out set_dim() on the result to have it inferred");
}

void index_has_axis(RuleScope const& scope) {
    if (fields(scope).mode != GEN_INDEX) return;
    TensorSpec const* const operand = scope.tensor(pointwise::In0);
    if (operand == nullptr || operand->dim.empty()) return;
    auto const axis = fields(scope).axis;
    auto const rank = static_cast<std::int64_t>(operand->dim.size());
    if (axis && *axis >= 0 && *axis < rank) return;
    scope.report_node(axis ? text("axis ", *axis, " for GEN_INDEX") : std::string("no axis for GEN_INDEX"),
                      text("an axis from 0 to ", rank - 1, ", a dim of IN_0"),
                      "call set_axis() with the dim whose index to generate");
}

void only_index_has_axis(RuleScope const& scope) {
    PointwiseMode_t const mode = fields(scope).mode;
    if (!is_known(mode) || mode == GEN_INDEX || !fields(scope).axis) return;
    scope.report_node(text("axis ", *fields(scope).axis, " for ", mode), "an axis for GEN_INDEX only",
                      "leave out set_axis()");
}

constexpr char const* kToBoolean = "call set_data_type(DataType_t::BOOLEAN) on it; a comparison gives such a tensor";

// Calls report(port, operand) for each operand that is read as true or false and has a type.
template <class Report>
void for_each_predicate(RuleScope const& scope, Report const& report) {
    PointwiseMode_t const mode = fields(scope).mode;
    bool const is_logical = core::is_logical(mode);
    for (int const port : kOperandPorts) {
        TensorSpec const* const operand = scope.tensor(port);
        bool const is_predicate = is_logical || (mode == BINARY_SELECT && port == pointwise::In2);
        if (is_predicate && operand != nullptr && has_type(*operand)) report(port, *operand);
    }
}

std::string typed_operand(RuleScope const& scope, int port, TensorSpec const& operand) {
    return text(port_name(NodeKind::Pointwise, port), " of type ", operand.data_type, " for ", fields(scope).mode);
}

void predicates_are_true_or_false(RuleScope const& scope) {
    for_each_predicate(scope, [&](int port, TensorSpec const& operand) {
        if (operand.data_type == DataType_t::BOOLEAN || operand.data_type == DataType_t::INT32) return;
        scope.report_port(port, typed_operand(scope, port, operand), "type BOOLEAN, or INT32", kToBoolean);
    });
}

void predicates_are_boolean(RuleScope const& scope) {
    for_each_predicate(scope, [&](int port, TensorSpec const& operand) {
        if (operand.data_type == DataType_t::BOOLEAN) return;
        scope.report_port(port, typed_operand(scope, port, operand), "0 is false there, and any other number is true",
                          kToBoolean);
    });
}

void parameters_fit_mode(RuleScope const& scope) {
    PointwiseMode_t const mode = fields(scope).mode;
    if (!is_known(mode)) return;
    for (ModeParameter const& parameter : kParameters) {
        std::optional<float> const value = fields(scope).*parameter.value;
        if (!value || mode == parameter.forward || mode == parameter.backward) continue;
        scope.report_node(text(parameter.name, " = ", *value, " for ", mode),
                          text(parameter.name, " for ", parameter.forward, " and ", parameter.backward, " only"),
                          text("leave out set_", parameter.name, "()"));
    }
}

void parameters_are_finite(RuleScope const& scope) {
    for (ModeParameter const& parameter : kParameters) {
        std::optional<float> const value = fields(scope).*parameter.value;
        if (!value || std::isfinite(*value)) continue;
        scope.report_node(text(parameter.name, " = ", *value), "a finite number",
                          text("leave out set_", parameter.name, "() for the default"));
    }
}

void clips_are_ordered(RuleScope const& scope) {
    std::optional<float> const lower = fields(scope).relu_lower_clip;
    std::optional<float> const upper = fields(scope).relu_upper_clip;
    if (!upper || !(lower.value_or(0.0f) > *upper)) return;
    scope.report_node(text("relu_lower_clip = ", lower.value_or(0.0f), " above relu_upper_clip = ", *upper),
                      "a lower clip of at most the upper clip", "swap the two");
}

constexpr Rule kRules[] = {
    {"pointwise.c01", "The mode is set.", ATTRIBUTE_NOT_SET, has_mode},
    {"pointwise.c02", "Each operand of the mode is connected.", ATTRIBUTE_NOT_SET, has_all_operands},
    {"pointwise.c03", "No operand is connected that the mode does not have.", INVALID_VALUE, has_no_more_operands},
    {"pointwise.c04", "The operands' dims, aligned at the last one, are equal or 1.", INVALID_VALUE, operands_agree},
    {"pointwise.c05", "The result has the dims to which the operands broadcast.", INVALID_VALUE, result_has_dims},
    {"pointwise.c06", "GEN_INDEX has an axis, which is a dim of its operand.", INVALID_VALUE, index_has_axis},
    {"pointwise.c07", "Only GEN_INDEX has an axis.", INVALID_VALUE, only_index_has_axis},
    {"pointwise.c08", "The predicate of BINARY_SELECT and the operands of logical modes are BOOLEAN or INT32.",
     GRAPH_NOT_SUPPORTED, predicates_are_true_or_false},
    {"pointwise.c09", "A parameter is given only with a mode that has it.", INVALID_VALUE, parameters_fit_mode},
    {"pointwise.c10", "Parameters are finite.", INVALID_VALUE, parameters_are_finite},
    {"pointwise.c11", "The lower clip of RELU, 0 where it is not set, is at most the upper clip.", INVALID_VALUE,
     clips_are_ordered},
};

std::span<Rule const> rules() { return kRules; }

constexpr Rule kAdvice[] = {
    {"advice.a21", "A logical mode or BINARY_SELECT reads INT32 as true or false.", OK, predicates_are_boolean},
};

}  // namespace

std::span<Rule const> pointwise_advice() { return kAdvice; }

constinit NodeSchema const PointwiseFields::schema = {
    NodeKind::Pointwise, "POINTWISE", pointwise::PortCount, kPortRows, kFieldRows, infer, rules};

}  // namespace cudnn_frontend::nodes
