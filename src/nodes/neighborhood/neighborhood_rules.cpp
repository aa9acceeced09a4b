// The rules of neighborhood attention. All functions share one table: a check is silent where a function lacks the
// checked property.
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"
#include "nodes/neighborhood/neighborhood_schema.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::nodes {
namespace {

using namespace neighborhood;
using attention_checks::computes_in_float;
using attention_checks::expect_one_of;
using attention_checks::expect_type;
using attention_checks::is_wide;
using enum error_code_t;

NeighborhoodFields const& fields(RuleScope const& scope) { return *neighborhood_fields(scope.node()); }

std::optional<NeighborhoodSizes> sizes(RuleScope const& scope) {
    return neighborhood_sizes(scope.graph(), scope.node());
}

void has_space(RuleScope const& scope) {
    int const port = leading_port(scope.node());
    TensorSpec const* const tensor = scope.tensor(port);
    if (tensor == nullptr || tensor->dim.empty()) return;
    if (tensor->dim.size() >= 4 && tensor->dim.size() <= 3 + kMostAxes) return;
    scope.report_port(port, text(kPort, " with ", tensor->dim.size(), " dims ", tensor->dim),
                      has_heads_last(scope.node())
                          ? "4, 5 or 6 dims, in the order batch, one to three axes of space, heads, vectors"
                          : "4, 5 or 6 dims, in the order batch, heads, one to three axes of space, vectors",
                      "call set_dim() with a size for each");
}

// Reports a list of the node that has another number of entries than space has axes.
template <class List>
void expect_entry_for_each_axis(RuleScope const& scope, char const* name, List const& list, char const* fix) {
    auto const of = sizes(scope);
    if (!of || list.size() == of->space.size()) return;
    scope.report_node(list.empty() ? text("no ", name) : text(name, " ", list),
                      text("an entry for each axis of the space ", of->space), fix);
}

void kernel_has_axes(RuleScope const& scope) {
    expect_entry_for_each_axis(scope, "kernel_size", fields(scope).kernel_size,
                               "call set_kernel_size() with a size for each axis");
}

void dilation_has_axes(RuleScope const& scope) {
    if (fields(scope).dilation.empty()) return;
    expect_entry_for_each_axis(scope, "dilation", fields(scope).dilation, "leave set_dilation() out for 1 along each");
}

void causality_has_axes(RuleScope const& scope) {
    if (fields(scope).is_causal.empty()) return;
    expect_entry_for_each_axis(scope, "is_causal", fields(scope).is_causal,
                               "leave set_is_causal() out where no axis is causal");
}

void expect_positive(RuleScope const& scope, char const* name, core::Dims const& list, char const* fix) {
    if (std::ranges::all_of(list, [](std::int64_t entry) { return entry >= 1; })) return;
    scope.report_node(text(name, " ", list), "at least 1 along each axis", fix);
}

void kernel_is_positive(RuleScope const& scope) {
    expect_positive(scope, "kernel_size", fields(scope).kernel_size,
                    "call set_kernel_size() with 1 for an axis along which a query sees its own position alone");
}

void dilation_is_positive(RuleScope const& scope) {
    expect_positive(scope, "dilation", fields(scope).dilation, "call set_dilation() with 1 for neighbors without gaps");
}

void windows_fit(RuleScope const& scope) {
    auto const of = sizes(scope);
    auto const& [kernel, dilations, causal] = fields(scope);
    if (!of || kernel.size() != of->space.size()) return;
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
        std::int64_t const dilation = axis < dilations.size() ? dilations[axis] : 1, length = of->space[axis];
        if (kernel[axis] < 1 || dilation < 1 || kernel[axis] <= length / dilation) continue;
        scope.report_node(text("kernel_size ", kernel[axis], " with dilation ", dilation, " along axis ", axis),
                          text("kernel_size times dilation of at most ", length, ", the length of that axis"),
                          length < dilation
                              ? text("call set_dilation() with at most ", length, " there")
                              : text("call set_kernel_size() with at most ", length / dilation, " there"));
    }
}

// Reports the tensor of the port where it is connected and has other dims than follow from the leading one.
void expect_dims(RuleScope const& scope, int port, char const* meaning) {
    TensorSpec const* const tensor = scope.tensor(port);
    core::Dims const wanted = neighborhood_dims(scope.graph(), scope.node(), port);
    if (tensor == nullptr || tensor->dim.empty() || wanted.empty() || tensor->dim == wanted) return;
    scope.report_port(port, text(kPort, " with dims ", tensor->dim), text("dims ", wanted, ", ", meaning),
                      text("call set_dim() on ", kPort, " with these dims, or change what they follow from"));
}

void tokens_agree(RuleScope const& scope) {
    char const* const meaning = leading_port(scope.node()) == Q ? "those of Q" : "those of V";
    for (int const port : {K, V, O, DO, DQ, DK, DV}) expect_dims(scope, port, meaning);
}

void stats_has_dims(RuleScope const& scope) { expect_dims(scope, Stats, "a number for each token and head"); }

void slots_have_dims(RuleScope const& scope) {
    for (int const port : {Attn, DAttn}) {
        expect_dims(scope, port, "batch, heads, space, and a slot for each key of a window");
    }
}

void bias_has_dims(RuleScope const& scope) {
    for (int const port : {RelPosBias, DRelPosBias}) {
        expect_dims(scope, port, "heads, and the distances along each axis, 2 * kernel_size - 1");
    }
}

int bias_port(RuleScope const& scope) { return scope.tensor(RelPosBias) != nullptr ? RelPosBias : DRelPosBias; }

bool has_bias(RuleScope const& scope) { return scope.tensor(bias_port(scope)) != nullptr; }

void bias_has_no_causal_axis(RuleScope const& scope) {
    std::vector<bool> const& causal = fields(scope).is_causal;
    if (!has_bias(scope) || std::ranges::count(causal, true) == 0) return;
    scope.report_port(bias_port(scope), text("a relative position bias with is_causal ", causal),
                      "no causal axis with a relative position bias",
                      "leave out the bias, or leave out set_is_causal()");
}

void kernel_is_odd(RuleScope const& scope) {
    core::Dims const& kernel = fields(scope).kernel_size;
    bool const has_even = std::ranges::any_of(kernel, [](std::int64_t size) { return size >= 1 && size % 2 == 0; });
    bool const is_fused = has_heads_last(scope.node());
    if (!has_even || (is_fused && !has_bias(scope))) return;
    if (is_fused) {
        scope.report_node(text("kernel_size ", kernel, " with a relative position bias"),
                          "odd sizes, so that windows are centered", "make the even sizes odd, or leave out the bias");
    } else {
        scope.report_node(text("kernel_size ", kernel, " in a product of its own"),
                          "odd sizes, so that windows are centered",
                          "make the even sizes odd, or use neighborhood_attention(), which supports them");
    }
}

void operands_have_one_type(RuleScope const& scope) {
    int const leading = leading_port(scope.node());
    TensorSpec const* const tensor = scope.tensor(leading);
    if (tensor == nullptr || !has_type(*tensor)) return;
    expect_one_of(scope, leading, is_wide, "type HALF, BFLOAT16 or FLOAT",
                  "convert the operands to one of these types");
    if (!is_wide(tensor->data_type) || leading == V) return;
    for (int const port : {K, V}) expect_type(scope, port, tensor->data_type);
}

void others_are_wide(RuleScope const& scope) {
    for (int const port : {RelPosBias, Attn, O, DO, DAttn, DQ, DK, DV, DRelPosBias}) {
        expect_one_of(scope, port, is_wide, "type HALF, BFLOAT16 or FLOAT", "call set_data_type() with one of these");
    }
}

void stats_is_float(RuleScope const& scope) { expect_type(scope, Stats, DataType_t::FLOAT); }

void inputs_are_in_memory(RuleScope const& scope) {
    for_each_port(scope.node(), Direction::Input, [&](PortRow const& row, TensorId) {
        TensorSpec const& tensor = *scope.tensor(row.port);
        if (!tensor.is_by_value && !tensor.is_constant) return;
        scope.report_port(row.port, text(kPort, " passed by value"), "a pointer to its elements",
                          "call set_is_pass_by_value(false)");
    });
}

std::optional<float> scale_of(Node const& node) {
    if (auto const* forward = std::get_if<NeighborhoodForwardFields>(&node.fields)) return forward->attn_scale;
    if (auto const* backward = std::get_if<NeighborhoodBackwardFields>(&node.fields)) return backward->attn_scale;
    return {};
}

void scale_is_finite(RuleScope const& scope) {
    auto const scale = scale_of(scope.node());
    if (!scale || std::isfinite(*scale)) return;
    scope.report_node(text("the attention scale ", *scale), "a finite number",
                      "call set_attn_scale() with a finite number; leave it out for 1 / sqrt(D)");
}

void stats_as_asked(RuleScope const& scope) {
    auto const* const forward = std::get_if<NeighborhoodForwardFields>(&scope.node().fields);
    bool const is_connected = scope.tensor(Stats) != nullptr;
    if (forward == nullptr || forward->generate_stats == is_connected) return;
    scope.report_port(Stats,
                      is_connected ? "a Stats tensor and generate_stats off" : "generate_stats on and no Stats tensor",
                      "a Stats tensor exactly where generate_stats is on",
                      is_connected ? "call set_generate_stats(true)" : "connect a tensor to Stats");
}

void bias_gradient_has_bias(RuleScope const& scope) {
    bool const is_backward = scope.node().kind() == NodeKind::NeighborhoodBackward;
    if (!is_backward || scope.tensor(DRelPosBias) == nullptr || scope.tensor(RelPosBias) != nullptr) return;
    scope.report_port(DRelPosBias, "dRel_pos_bias and no Rel_pos_bias", "the bias that forward added to the scores",
                      "call set_rel_pos_bias(), or leave out set_drel_pos_bias()");
}

void slots_fit(RuleScope const& scope) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    core::Dims const dim = neighborhood_dims(scope.graph(), scope.node(), Attn);
    if (dim.empty() || core::volume(dim).value_or(kMost + 1) <= kMost) return;
    scope.report_node(text("scores of dims ", dim), "at most 2^60 elements",
                      "split the batch or the heads over several graphs");
}

// One shape for all rows.
// clang-format off
constexpr Rule kRules[] = {
    {"neighborhood.c01",
     "Q, or V where there is no Q, has 4 to 6 dims: one to three of them are space.",
     INVALID_VALUE, has_space},
    {"neighborhood.c02",
     "kernel_size has an entry for each axis of space.",
     INVALID_VALUE, kernel_has_axes},
    {"neighborhood.c03",
     "dilation has an entry for each axis of space, or none.",
     INVALID_VALUE, dilation_has_axes},
    {"neighborhood.c04",
     "is_causal has an entry for each axis of space, or none.",
     INVALID_VALUE, causality_has_axes},
    {"neighborhood.c05",
     "The entries of kernel_size are at least 1.",
     INVALID_VALUE, kernel_is_positive},
    {"neighborhood.c06",
     "The entries of dilation are at least 1.",
     INVALID_VALUE, dilation_is_positive},
    {"neighborhood.c07",
     "Along each axis kernel_size times dilation is at most the length.",
     INVALID_VALUE, windows_fit},
    {"neighborhood.c08",
     "K, V, O, dO and the gradients of Q, K and V have the dims of Q; without Q, those of V.",
     INVALID_VALUE, tokens_agree},
    {"neighborhood.c09",
     "Stats has dims {B, space, H}.",
     INVALID_VALUE, stats_has_dims},
    {"neighborhood.c10",
     "Attn and dAttn have dims {B, H, space, W}, with W the product of kernel_size.",
     INVALID_VALUE, slots_have_dims},
    {"neighborhood.c11",
     "Rel_pos_bias and dRel_pos_bias have dims {H, 2 k - 1 for each entry k of kernel_size}.",
     INVALID_VALUE, bias_has_dims},
    {"neighborhood.c12",
     "No axis is causal where there is a relative position bias.",
     INVALID_VALUE, bias_has_no_causal_axis},
    {"neighborhood.c13",
     "kernel_size is odd where there is a relative position bias, and in the two products and their gradients.",
     INVALID_VALUE, kernel_is_odd},
    {"neighborhood.c14",
     "Q, K and V have one type: HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, operands_have_one_type},
    {"neighborhood.c15",
     "Rel_pos_bias, Attn, O and the gradients are HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, others_are_wide},
    {"neighborhood.c16",
     "Stats is FLOAT.",
     GRAPH_NOT_SUPPORTED, stats_is_float},
    {"neighborhood.c17",
     "The compute data type is FLOAT; where none is set it is FLOAT.",
     GRAPH_NOT_SUPPORTED, computes_in_float},
    {"neighborhood.c18",
     "Inputs are not passed by value.",
     GRAPH_NOT_SUPPORTED, inputs_are_in_memory},
    {"neighborhood.c19",
     "The attention scale is finite.",
     INVALID_VALUE, scale_is_finite},
    {"neighborhood.c20",
     "A Stats tensor is connected exactly where generate_stats is on.",
     ATTRIBUTE_NOT_SET, stats_as_asked},
    {"neighborhood.c21",
     "In backward, dRel_pos_bias comes with Rel_pos_bias.",
     ATTRIBUTE_NOT_SET, bias_gradient_has_bias},
    {"neighborhood.c22",
     "The scores {B, H, space, W} have at most 2^60 elements.",
     GRAPH_NOT_SUPPORTED, slots_fit},
};
// clang-format on

}  // namespace

std::span<Rule const> neighborhood_rules() { return kRules; }

}  // namespace cudnn_frontend::nodes
