#include "cudnn/quirks/support.h"

#include "cudnn/quirks/limit_tools.h"
#include "cudnn/quirks/quirk_rows.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>

namespace cudnn_frontend::quirks {

std::int64_t AttentionFacts::queries() const { return tensor(Port::Q)->dim[2]; }
std::int64_t AttentionFacts::keys() const { return nodes::key_count(graph, node); }
std::int64_t AttentionFacts::qk_dim() const { return tensor(Port::Q)->dim[3]; }
std::int64_t AttentionFacts::v_dim() const { return tensor(Port::V)->dim[3]; }

namespace {

std::string tensor_name(nodes::GraphSpec const& graph, nodes::Node const& node, int port) {
    if (port < 0) return {};
    nodes::TensorSpec const* const tensor = graph.tensor(node, port);
    return nodes::has_name(*tensor) ? tensor->name : nodes::port_name(node.kind(), port);
}

bool is_about(Quirk const& quirk, nodes::Node const& node) {
    bool const is_attention = nodes::attention_fields(node) != nullptr;
    if (!is_attention)
        return quirk.of == QuirkScope::Moves && nodes::schema_of(node.kind()).computes == nodes::Computes::Nothing;
    switch (quirk.of) {
        case QuirkScope::All: break;
        case QuirkScope::Fp8: return nodes::is_fp8(node);
        case QuirkScope::BlockScaled: return nodes::is_block_scaled(node);
        case QuirkScope::Wider: return !nodes::is_fp8(node);
        case QuirkScope::Moves: return false;
    }
    return true;
}

AttentionFacts facts_of(nodes::GraphSpec const& graph, nodes::Node const& node, Capabilities const& here = {},
                        QuirkSettings const& settings = {}) {
    static nodes::AttentionFields const kNone;
    nodes::AttentionFields const* const fields = nodes::attention_fields(node);
    bool const is_backward = node.kind() == nodes::NodeKind::SdpaBackward;
    return {graph, node, fields == nullptr ? kNone : *fields, is_backward, here, settings};
}

std::optional<Violation> violation_of(Quirk const& quirk, Verdict verdict, AttentionFacts const& facts) {
    bool const is_meant = quirk.verdict == verdict && quirk.is_in_force(facts.here) && is_about(quirk, facts.node);
    return is_meant ? quirk.check(facts) : std::nullopt;
}

void find_violations(AttentionFacts const& facts, std::vector<Violated>& found) {
    std::string_view last;
    for (Quirk const& quirk : quirks()) {
        if (quirk.id == last) continue;
        auto violation = violation_of(quirk, Verdict::Refuse, facts);
        if (!violation) continue;
        found.push_back({&quirk, &facts.node, std::move(*violation)});
        last = quirk.id;
    }
}

std::string place_text(Capabilities const& here) {
    return " on compute capability " + number(here.sm / 10) + "." + number(here.sm % 10) + " with cuDNN " +
           version_text(here.cudnn_version);
}

// Whether another release or another GPU would help.
std::string standing_text(Quirk const& quirk) {
    std::string const releases = quirk.cudnn.from == 0 && quirk.cudnn.until == 0 ? "in every release of cuDNN"
                                                                                 : "with cuDNN " + to_text(quirk.cudnn);
    std::string const gpus = quirk.on == kEvery ? ", on every GPU" : ", on compute capability " + quirk.on.to_text();
    return "This limit holds " + releases + gpus + ": docs/cudnn-quirks.md";
}

}  // namespace

std::vector<Violated> violations(nodes::ValidatedGraph const& graph, Capabilities const& here,
                                 QuirkSettings const& settings) {
    std::vector<Violated> found;
    for (nodes::Node const& node : every_node(graph.spec())) {
        find_violations(facts_of(graph.spec(), node, here, settings), found);
    }
    return found;
}

Report check(nodes::ValidatedGraph const& graph, Capabilities const& here, QuirkSettings const& settings) {
    core::Findings findings;
    for (auto& [quirk, node, violation] : violations(graph, here, settings)) {
        std::vector<int> ports{violation.port};
        ports.insert(ports.end(), violation.others.begin(), violation.others.end());
        for (int const port : ports) {
            findings.add(quirk->rule().violation(nodes::label(*node), tensor_name(graph.spec(), *node, port),
                                                 violation.found + place_text(here), quirk->summary,
                                                 std::string(quirk->fix) + ". " + standing_text(*quirk)),
                         node);
        }
    }
    return Report(findings.take());
}

Quirk const* bar_on_split_keys(nodes::ValidatedGraph const& graph, Capabilities const& here) {
    for (nodes::Node const& node : every_node(graph.spec())) {
        AttentionFacts const facts = facts_of(graph.spec(), node, here);
        for (Quirk const& quirk : quirks()) {
            if (violation_of(quirk, Verdict::BarEngine, facts)) return &quirk;
        }
    }
    return nullptr;
}

bool is_in_force(std::string_view id, Capabilities const& here) {
    return std::ranges::any_of(quirks(), [&](Quirk const& quirk) { return quirk.id == id && quirk.is_in_force(here); });
}

// Forward splits the many keys of one query, and puts Stats together in the order in which the parts finish. Backward
// does so with dQ, unless the deterministic algorithm is requested; for dSink see cudnn.w26.
static bool has_one_order(AttentionFacts const& facts) {
    if (facts.is_backward) return is_deterministic(facts);
    return facts.queries() > 1 || !(facts.has(Port::Stats) || has_softmax_result(facts));
}

bool is_deterministic(nodes::ValidatedGraph const& graph) {
    return std::ranges::all_of(every_node(graph.spec()), [&](nodes::Node const& node) {
        return nodes::attention_fields(node) == nullptr || has_one_order(facts_of(graph.spec(), node));
    });
}

}  // namespace cudnn_frontend::quirks
