#include "expand/expand.h"

#include "expand/node_expansions.h"

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

static error_t expand_attention(AttentionScope& at) {
    TargetAbilities const& capabilities = at.capabilities();
    bool const is_forward = at.node().kind() == NodeKind::SdpaForward;
    AttentionImplementation_t const implementation = implementation_of(at.node());
    bool const asks_for_fused = implementation == AttentionImplementation_t::UNIFIED;
    bool const lacks_fused = capabilities.fused_attention == TargetAbilities::Fused::Never ||
                             !has_fused_form(at.node()) || (at.is_connected(Port::Score) && at.region() == nullptr);
    if (asks_for_fused && lacks_fused) return no_fused_attention(at.name());
    bool const wants_fused = capabilities.fused_attention == TargetAbilities::Fused::Preferred ||
                             (capabilities.needs_fused != nullptr && capabilities.needs_fused(at.graph(), at.node()));
    bool const prefers_fused = implementation == AttentionImplementation_t::AUTO && !lacks_fused && wants_fused;
    if (asks_for_fused || prefers_fused) {
        is_forward ? expand_fused_forward(at) : expand_fused_backward(at);
    } else {
        is_forward ? expand_forward(at) : expand_backward(at);
    }
    return {};
}

namespace {

class Expansion {
   public:
    Expansion(nodes::GraphSpec const& spec, TargetAbilities const& capabilities)
        : capabilities_(capabilities),
          tensors_(spec, builder_),
          waiting_(spec, [this](nodes::Node const& node) { return expand(node); }) {
        if (!capabilities.fused_modifiers) return;
        regions_ = ScoreRegions::of_graph(spec, [](nodes::Node const& node) {
            return implementation_of(node) == AttentionImplementation_t::AUTO && has_fused_form(node);
        });
    }

    error_t add(nodes::Node const& node) {
        if (regions_.has_step(node)) return {};  // it is added with its attention
        if (waiting_.keeps(node)) return {};
        SDPA_GRAPH_TRY(expand(node));
        return waiting_.status();
    }

    Result<ir::OpGraph> finish() { return std::move(builder_).finish(); }

   private:
    error_t expand(nodes::Node const& node) {
        if (nodes::attention_fields(node) != nullptr) {
            AttentionScope at(builder_, tensors_, node, waiting_, capabilities_, regions_.find(node));
            return expand_attention(at);
        }
        NodeScope at(builder_, tensors_, node);
        if (nodes::neighborhood_fields(node) == nullptr) expand_primitive(at);
        else if (capabilities_.fused_neighborhoods) expand_fused_neighborhood(at);
        else expand_neighborhood(at);
        return {};
    }

    TargetAbilities const& capabilities_;
    ir::Builder builder_;
    UserTensors tensors_;
    WaitingNodes waiting_;
    ScoreRegions regions_;
};

}  // namespace

Result<ir::OpGraph> expand(nodes::ValidatedGraph const& graph, TargetAbilities const& capabilities) {
    Expansion expansion(graph.spec(), capabilities);
    for (nodes::Node const& node : graph.spec().nodes) SDPA_GRAPH_TRY(expansion.add(node));
    return expansion.finish();
}

}  // namespace cudnn_frontend::expand
