#include "expand/expand.h"

#include "expand/node_expansions.h"
#include "nodes/schema/wording.h"
#include "nodes/validation/modifiers.h"

#include <algorithm>

namespace cudnn_frontend::expand {

using nodes::NodeKind;

// Backward attention leaves the choice to the target.
static AttentionImplementation_t implementation_of(nodes::Node const& node) {
    auto const* const forward = std::get_if<nodes::SdpaForwardFields>(&node.fields);
    return forward == nullptr ? AttentionImplementation_t::AUTO : forward->implementation;
}

static error_t no_fused_attention(std::string const& node) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "the node asks for the implementation UNIFIED, but this target has no fused attention operation; "
            "set_implementation(AttentionImplementation_t::AUTO) or COMPOSITE runs it as primitive operations",
            {.node = node}};
}

// Cumulative lengths become lengths, the inverse of a scale follows from it, and a modifier may become a region.
static constexpr bool lacks_place(attention::Operand const& row) {
    return !is_of_operation(row) && !is_length(row) && !is_inner(row) && row.port != Port::DropoutScaleInv;
}

// Whether attention as one operation has a place for everything that the node asks for, except a modifier.
static bool has_fused_form(nodes::Node const& node) {
    auto const is_connected = [&](int port) { return node.ports[static_cast<std::size_t>(port)] != nodes::kNoTensor; };
    return std::ranges::none_of(attention::kPortsWhere<lacks_place>, is_connected);
}

namespace {

class Expansion {
   public:
    Expansion(nodes::GraphSpec const& spec, TargetAbilities const& capabilities)
        : spec_(spec), capabilities_(capabilities), tensors_(spec, builder_) {}

    error_t add(nodes::Node const& node) {
        if (nodes::attention_fields(node) != nullptr) return add_attention(node);
        NodeScope at(builder_, tensors_, node);
        if (nodes::neighborhood_fields(node) == nullptr) expand_primitive(at);
        else if (capabilities_.fused_neighborhoods) expand_fused_neighborhood(at);
        else expand_neighborhood(at);
        return {};
    }

    Result<ir::OpGraph> finish() { return std::move(builder_).finish(); }

   private:
    error_t add_attention(nodes::Node const& node) {
        std::optional<ModifierNodes> const steps = steps_of(node);
        bool const has_fused = capabilities_.fused_attention != TargetAbilities::Fused::Never && has_fused_form(node) &&
                               (!nodes::has_modifier(node) || steps);
        AttentionImplementation_t const implementation = implementation_of(node);
        bool const asks_for_fused = implementation == AttentionImplementation_t::UNIFIED;
        if (asks_for_fused && !has_fused) return no_fused_attention(nodes::name_of_node(node));
        bool const is_fused =
            asks_for_fused || (implementation == AttentionImplementation_t::AUTO && has_fused && prefers_fused(node));
        ModifierNodes between = nodes_of_modifier(node);
        if (is_fused && steps)
            std::erase_if(between, [&](auto const* one) { return std::ranges::count(*steps, one) > 0; });
        InterleavedNodes modifier(node, std::move(between), [this](nodes::Node const& of_modifier) {
            NodeScope at(builder_, tensors_, of_modifier);
            expand_primitive(at);
        });
        AttentionScope at(builder_, tensors_, node, capabilities_, modifier);
        bool const is_forward = node.kind() == NodeKind::SdpaForward;
        if (!is_fused) is_forward ? expand_forward(at) : expand_backward(at);
        else is_forward ? expand_fused_forward(at, steps) : expand_fused_backward(at, steps);
        return {};
    }

    bool prefers_fused(nodes::Node const& node) const {
        return capabilities_.fused_attention == TargetAbilities::Fused::Preferred ||
               (capabilities_.needs_fused != nullptr && capabilities_.needs_fused(spec_, node));
    }

    // The modifier's steps in attention as one operation, where it may become one.
    std::optional<ModifierNodes> steps_of(nodes::Node const& node) {
        bool const may_have_steps = capabilities_.fused_modifiers && nodes::has_modifier(node) &&
                                    has_fused_form(node) && implementation_of(node) == AttentionImplementation_t::AUTO;
        if (!may_have_steps) return std::nullopt;
        if (uses_.empty()) uses_ = nodes::uses_of_tensors(spec_);
        return steps_of_region(spec_, uses_, node);
    }

    nodes::GraphSpec const& spec_;
    TargetAbilities const& capabilities_;
    nodes::Uses uses_;  // empty until a modifier asks
    ir::Builder builder_;
    UserTensors tensors_;
};

}  // namespace

Result<ir::OpGraph> expand(nodes::ValidatedGraph const& graph, TargetAbilities const& capabilities) {
    Expansion expansion(graph.spec(), capabilities);
    for (nodes::Node const& node : graph.spec().nodes) SDPA_GRAPH_TRY(expansion.add(node));
    return expansion.finish();
}

}  // namespace cudnn_frontend::expand
