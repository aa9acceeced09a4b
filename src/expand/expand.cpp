#include "expand/expand.h"

#include "expand/node_expansions.h"

namespace cudnn_frontend::inline v1::expand {

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

// Keys that the Hopper engines work on at once.
static constexpr std::int64_t kKeyTile = 128;

static error_t expand_attention(AttentionScope& at, Capabilities const& capabilities) {
    bool const is_forward = at.node().kind() == NodeKind::SdpaForward;
    AttentionImplementation_t const implementation = implementation_of(at.node());
    using Fused = Capabilities::Fused;
    bool const asks_for_fused = implementation == AttentionImplementation_t::UNIFIED;
    if (asks_for_fused && capabilities.fused_attention == Fused::Never) return no_fused_attention(at.name());
    bool const prefers_fused =
        implementation == AttentionImplementation_t::AUTO && capabilities.fused_attention == Fused::Preferred;
    bool const is_partial = at.keys() % kKeyTile != 0 || at.queries() == 1;
    if (!is_forward && capabilities.full_lengths_in_backward && is_partial) at.use_full_lengths();
    if (asks_for_fused || prefers_fused) {
        is_forward ? expand_fused_forward(at) : expand_fused_backward(at);
    } else {
        is_forward ? expand_forward(at) : expand_backward(at);
    }
    return {};
}

static error_t expand_node(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node,
                           Capabilities const& capabilities) {
    if (nodes::attention_fields(node) != nullptr) {
        AttentionScope at(builder, tensors, node);
        return expand_attention(at, capabilities);
    }
    NodeScope at(builder, tensors, node);
    expand_primitive(at);
    return {};
}

Result<ir::OpGraph> expand(nodes::ValidatedGraph const& graph, Capabilities const& capabilities) {
    ir::Builder builder;
    UserTensors tensors(graph.spec(), builder);
    for (nodes::Node const& node : graph.spec().nodes) {
        SDPA_GRAPH_TRY(expand_node(builder, tensors, node, capabilities));
    }
    return std::move(builder).finish();
}

}  // namespace cudnn_frontend::inline v1::expand
