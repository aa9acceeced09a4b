#include "cudnn/quirks/support.h"

#include <algorithm>

#include "cudnn/quirks/limit_tools.h"
#include "cudnn/quirks/one_query_limits.h"
#include "nodes/attention/fp8.h"
#include "nodes/attention/paging.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

namespace cudnn_frontend::quirks {

std::int64_t AttentionFacts::queries() const { return tensor(Port::Q)->dim[2]; }
std::int64_t AttentionFacts::keys() const { return nodes::key_count(graph, node); }
std::int64_t AttentionFacts::qk_dim() const { return tensor(Port::Q)->dim[3]; }
std::int64_t AttentionFacts::v_dim() const { return tensor(Port::V)->dim[3]; }

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
    bool const is_attention = nodes::attention_fields(node) != nullptr;
    if (!is_attention) return limit.of == Of::Moves && !nodes::schema_of(node.kind()).computes;
    switch (limit.of) {
        case Of::All: break;
        case Of::Fp8: return nodes::is_fp8(node);
        case Of::BlockScaled: return nodes::is_block_scaled(node);
        case Of::Wider: return !nodes::is_fp8(node);
        case Of::Moves: return false;
    }
    return true;
}

static AttentionFacts facts_of(nodes::GraphSpec const& graph, nodes::Node const& node, Settings const& settings = {}) {
    static nodes::AttentionFields const kNone;
    nodes::AttentionFields const* const fields = nodes::attention_fields(node);
    bool const is_backward = node.kind() == nodes::NodeKind::SdpaBackward;
    return {graph, node, fields == nullptr ? kNone : *fields, is_backward, settings};
}

Report check(nodes::ValidatedGraph const& graph, core::Capabilities const& capabilities, Settings const& settings) {
    std::vector<Finding> findings;
    for (nodes::Node const& node : graph.spec().nodes) {
        AttentionFacts const facts = facts_of(graph.spec(), node, settings);
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

bool masks_last_tile(core::Capabilities const& capabilities) {
    return is_hopper(capabilities) && capabilities.cudnn_version >= 91900;
}

bool is_wrong_in_parts(nodes::ValidatedGraph const& graph) {
    return std::ranges::any_of(graph.spec().nodes, [&](nodes::Node const& node) {
        return nodes::attention_fields(node) != nullptr && is_wrong_in_parts(facts_of(graph.spec(), node));
    });
}

// Forward splits the many keys of one query, and puts Stats together in the order in which the parts finish. Backward
// adds up dQ in that order, unless it is told otherwise, and dSink in any.
static bool has_one_order(AttentionFacts const& facts) {
    if (facts.is_backward) return is_deterministic(facts) && !facts.has(Port::dSink_token);
    return facts.queries() > 1 || !(facts.has(Port::Stats) || has_softmax_result(facts));
}

bool is_deterministic(nodes::ValidatedGraph const& graph) {
    return std::ranges::all_of(graph.spec().nodes, [&](nodes::Node const& node) {
        return nodes::attention_fields(node) == nullptr || has_one_order(facts_of(graph.spec(), node));
    });
}

}  // namespace cudnn_frontend::quirks
