#include "support/support.h"

#include <algorithm>

#include "nodes/fp8.h"
#include "nodes/paging.h"
#include "nodes/schema.h"
#include "nodes/wording.h"

namespace cudnn_frontend::inline v1::support {

namespace Port = nodes::attention;

std::int64_t AttentionFacts::queries() const { return tensor(Port::Q)->dim[2]; }
std::int64_t AttentionFacts::keys() const { return nodes::key_count(graph, node); }
std::int64_t AttentionFacts::qk_dim() const { return tensor(Port::Q)->dim[3]; }
std::int64_t AttentionFacts::v_dim() const { return tensor(Port::V)->dim[3]; }

bool AttentionFacts::is_unified() const {
    auto const* const forward = std::get_if<nodes::SdpaForwardFields>(&node.fields);
    return forward != nullptr && forward->implementation == AttentionImplementation_t::UNIFIED;
}

static std::string tensor_name(AttentionFacts const& facts, int port) {
    if (port < 0) return {};
    nodes::TensorSpec const* const tensor = facts.tensor(port);
    if (nodes::has_name(*tensor)) return tensor->name;
    for (nodes::PortRow const& row : nodes::schema_of(facts.node.kind()).ports) {
        if (row.port == port) return row.name;
    }
    return {};
}

static bool applies(Limit const& limit, nodes::Node const& node) {
    switch (limit.of) {
        case Of::All: break;
        case Of::Fp8: return nodes::is_fp8(node);
        case Of::BlockScaled: return nodes::is_block_scaled(node);
        case Of::Wider: return !nodes::is_fp8(node);
    }
    return true;
}

Report check(nodes::ValidatedGraph const& graph, core::Capabilities const& capabilities) {
    std::vector<Finding> findings;
    for (nodes::Node const& node : graph.spec().nodes) {
        nodes::AttentionFields const* const fields = nodes::attention_fields(node);
        if (fields == nullptr) continue;
        AttentionFacts const facts{graph.spec(), node, *fields, node.kind() == nodes::NodeKind::SdpaBackward};
        for (Limit const& limit : limits()) {
            if (!applies(limit, node)) continue;
            auto violation = limit.check(facts, capabilities);
            if (!violation) continue;
            findings.push_back({limit.code,
                                {limit.id, graph.label(node), tensor_name(facts, violation->port)},
                                std::move(violation->found),
                                limit.statement,
                                limit.fix});
        }
    }
    return Report(std::move(findings));
}

bool takes_dynamic_shapes(core::Capabilities const& capabilities) {
    return capabilities.cudnn_version >= 91800 && capabilities.cudnn_version < 92100;
}

// Forward splits the many keys of one query, and puts Stats together in the order in which the parts finish. Backward
// adds up dQ in that order, unless it is told otherwise, and dSink in any.
static bool has_one_order(nodes::GraphSpec const& graph, nodes::Node const& node) {
    namespace port = nodes::attention;
    auto const has = [&](int at) { return graph.tensor(node, at) != nullptr; };
    if (node.kind() == nodes::NodeKind::SdpaForward) {
        return graph.tensor(node, port::Q)->dim[2] > 1 || !(has(port::Stats) || has(port::Max) || has(port::Sum_exp));
    }
    auto const* const backward = std::get_if<nodes::SdpaBackwardFields>(&node.fields);
    return backward == nullptr || (backward->deterministic && !has(port::dSink_token));
}

bool is_deterministic(nodes::ValidatedGraph const& graph) {
    nodes::GraphSpec const& spec = graph.spec();
    return std::ranges::all_of(spec.nodes, [&](nodes::Node const& node) { return has_one_order(spec, node); });
}

}  // namespace cudnn_frontend::inline v1::support
