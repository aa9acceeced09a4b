// The rules of graphs that a group computes.
#include "core/text.h"
#include "group/group_rules.h"
#include "group/layout_checks.h"
#include "rewrite/group/documents.h"
#include "rewrite/group/score_nodes.h"
#include "rewrite/group/ways.h"
#include "rewrite/group/whole_band.h"

#include <algorithm>
#include <array>

namespace cudnn_frontend::rewrite {
namespace {

namespace rules = group::rules;
using attention::Port;
using core::text;

struct Scope {
    Attention const& attention;
    group::Task const& task;
    core::Findings& findings;

    void report(core::Rule const& rule, std::string tensor, std::string found, std::string needed,
                std::string fix) const {
        findings.add(rule.violation(attention.node().name, std::move(tensor), std::move(found), std::move(needed),
                                    std::move(fix)));
    }
};

void check_member(Scope const& scope) {
    group::Task const& task = scope.task;
    if (task.transport == nullptr) {
        return scope.report(rules::kMember, "", "a Group() without a rank", "a rank of a group",
                            "make it by Group::of_threads(), of_nccl() or described()");
    }
    for (group::Layout const* const layout : {&task.queries, &task.keys}) {
        if (layout->ranks() == task.size()) continue;
        return scope.report(rules::kMember, "", text("a layout for ", layout->ranks(), " ranks"),
                            text("one for the ", task.size(), " ranks of the group"), "pass the group's size");
    }
}

// Whether the layouts can be asked about the rank.
bool has_sound_layouts(Scope const& scope) {
    std::string fault = group::fault_of(scope.task.queries);
    if (fault.empty()) fault = group::fault_of(scope.task.keys);
    if (!fault.empty()) {
        scope.report(rules::kLayout, "", fault, "each token of one rank, and some tokens for each rank",
                     "use fewer ranks, or correct the ranges");
    }
    return fault.empty();
}

// The dims of packed tensors hold the longest document.
void check_rows(Scope const& scope) {
    if (has_documents(scope.attention)) return;
    auto const check = [&](char const* names, std::int64_t rows, group::Layout const& layout) {
        std::int64_t const tokens = layout.count_of(scope.task.rank());
        if (rows == tokens) return;
        scope.report(rules::kRows, names, text(rows, " rows"),
                     text("the ", tokens, " tokens that the layout gives to rank ", scope.task.rank()),
                     "describe the rank's part of the tensor, or correct the layout");
    };
    check("Q", scope.attention.queries, scope.task.queries);
    check("K", scope.attention.keys, scope.task.keys);
}

// A tensor that ends in a dim of 1 may be that of a rank's only key.
bool is_shared_by_keys(Scope const& scope, nodes::TensorSpec const& tensor) {
    group::Layout const& keys = scope.task.keys;
    for (int rank = 0; rank < keys.ranks(); ++rank) {
        if (keys.ranks() > 1 && keys.count_of(rank) == 1) return false;
    }
    return tensor.dim[3] == 1;
}
constexpr char const* kSharedByKeys =
    "a last dim of 1, and two keys or more on each rank, as others own most of the keys";

void check_operands(Scope const& scope) {
    constexpr std::array kPorts = {
        Port::Q,          Port::K,       Port::V,        Port::O,         Port::Stats,      Port::Max,  Port::SumExp,
        Port::DO,         Port::DQ,      Port::DK,       Port::DV,        Port::AttnScale,  Port::Bias, Port::SinkToken,
        Port::DSinkToken, Port::SeqLenQ, Port::SeqLenKv, Port::CuSeqLenQ, Port::CuSeqLenKv, Port::Seed, Port::Offset};
    Attention const& a = scope.attention;
    for (int port = 0; port < static_cast<int>(a.node().ports.size()); ++port) {
        if (!a.has(port)) continue;
        bool const is_known = std::ranges::find(kPorts, port) != kPorts.end();
        bool const is_shared = port != Port::Bias || is_shared_by_keys(scope, *a.tensor(port));
        if (is_known && is_shared) continue;
        scope.report(rules::kOperands, attention::operand(port).name,
                     is_known ? text("a bias of ", a.tensor(port)->dim) : std::string("it is connected"),
                     is_known ? kSharedByKeys : "only what each rank has for its rows",
                     "leave it out, or compute the attention on one rank");
    }
}

void check_documents(Scope const& scope) {
    group::Task const& task = scope.task;
    std::string obstacle = obstacle_to_documents(scope.attention);
    if (obstacle.empty() && has_bounds(scope.attention) && task.queries.length() != task.keys.length()) {
        obstacle = text("bounds, and layouts of ", task.queries.length(), " queries and ", task.keys.length(), " keys");
    }
    if (obstacle.empty()) return;
    scope.report(rules::kDocuments, "", obstacle,
                 "packed tensors whose rows hold all heads, INT32 lengths as they are, no bias and no tensors of score "
                 "modifiers with rows of queries, and with bounds as many queries as keys",
                 "pack all tensors alike, by tokens, heads, elements");
}

void check_dense(Scope const& scope) {
    if (has_documents(scope.attention)) return check_documents(scope);
    if (has_dense_tensors(scope.attention)) return;
    scope.report(rules::kDense, "", "a tensor that is packed by lengths, reordered or vectorized",
                 "the same rows for each batch entry in all tensors, or all of them packed",
                 "lay all tensors of tokens out with ragged offsets, or none");
}

void check_band(Scope const& scope) {
    group::Task const& task = scope.task;
    nodes::AttentionFields const& fields = scope.attention.fields();
    // Lengths move such a diagonal.
    if (fields.padding_mask && fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT) return;
    if (has_documents(scope.attention)) return;
    WholeBand const band(fields, task.queries.length(), task.keys.length());
    if (band.shows_each_query_a_key()) return;
    scope.report(
        rules::kVisible, "",
        text("a band in which some of ", task.queries.length(), " queries see none of ", task.keys.length(), " keys"),
        "a key for each query", "leave those queries out, or change the bounds");
}

void check_results(Scope const& scope) {
    Attention const& a = scope.attention;
    if (a.is_backward() ? has_gradients(a) : a.has(Port::O)) return;
    scope.report(rules::kResults, "", "a result without memory",
                 a.is_backward() ? "memory for dQ, dK and dV" : "memory for O", "set_output(true) on it");
}

void check_modifiers(Scope const& scope) {
    for (nodes::TensorSpec const* const tensor : tensors_of_modifiers(scope.attention)) {
        bool const is_number = tensor->is_by_value || tensor->value;
        if (is_number || (tensor->dim.size() == 4 && is_shared_by_keys(scope, *tensor))) continue;
        scope.report(rules::kModifier, tensor->name, text("a tensor of ", tensor->dim, " that a score modifier reads"),
                     tensor->dim.size() == 4 ? kSharedByKeys : "a number by value, or four dims",
                     "compute it from the positions of queries and keys, or compute the attention on one rank");
    }
}

void check_dropout(Scope const& scope) {
    if (!draws_dropout(scope.attention)) return;
    for (int const port : {Port::Seed, Port::Offset}) {
        nodes::TensorSpec const& tensor = *scope.attention.tensor(port);
        if (!tensor.is_by_value && !tensor.value) continue;
        scope.report(rules::kDropout, attention::operand(port).name, "a number by value",
                     "one integer in memory, where the rank's other tensors are", "call set_is_pass_by_value(false)");
    }
}

// GATHER computes the lengths of parts, and needs to know which keys a part's queries see.
void check_lengths(Scope const& scope) {
    std::string const obstacle = obstacle_to_gather(scope.attention);
    group::Task const& task = scope.task;
    bool const is_free = task.way == group::Group_way::AUTO && task.stages == 0 && task.size() > 0;
    bool const is_by_heads = task.way == group::Group_way::ALL_TO_ALL;
    if (obstacle.empty() || is_by_heads || (is_free && can_be_by_heads(scope.attention, task))) return;
    if (has_documents(scope.attention)) {
        return scope.report(rules::kGatheredDocuments, "", obstacle,
                            "one tensor of lengths for Q and K, a causal mask, a window of it or none, and modifiers "
                            "without indices",
                            "use ALL_TO_ALL, with a number of ranks that divides the heads of K and V");
    }
    scope.report(rules::kLengths, "", obstacle, "lengths of INT32 as they are, and a diagonal from the top left",
                 "use ALL_TO_ALL, with a number of ranks that divides the heads of K and V");
}

void check_way(Scope const& scope) {
    Attention const& a = scope.attention;
    group::Task const& task = scope.task;
    auto const divides = [&](std::int64_t count) {
        return count > 0 && a.key_heads % count == 0 && a.value_heads % count == 0;
    };
    std::string const heads = text(a.key_heads, " heads of K and ", a.value_heads, " of V");
    bool const is_forced = task.way == group::Group_way::ALL_TO_ALL;
    if (is_forced && task.size() > 0 && !divides(task.size())) {
        scope.report(rules::kHeads, "", heads, text("multiples of the ", task.size(), " ranks"), "use GATHER or AUTO");
    }
    for (nodes::TensorSpec const* const tensor : tensors_of_rows(a)) {
        if (!is_forced) continue;
        scope.report(rules::kHeads, tensor->name, text("dims of ", tensor->dim), "a third dim of 1",
                     "use GATHER or AUTO");
    }
    if (task.stages != 0 && !divides(task.stages)) {
        scope.report(rules::kStages, "", text(task.stages, " stages for ", heads),
                     "a divisor of both, or 0 to have it chosen", "use another number of stages");
    }
}

}  // namespace

error_t check_in_group(nodes::ValidatedGraph const& graph, group::Task const& task) {
    auto const attention = Attention::with_modifiers(graph);
    if (!attention) {
        return group::rules::violation(rules::kAttention, text("a graph of ", graph.spec().nodes.size(), " nodes"),
                                       "one node, of attention or its backward, and pointwise nodes that modify scores",
                                       "compute what is around it in other graphs");
    }
    core::Findings findings;
    Scope const scope{*attention, task, findings};
    check_member(scope);
    bool const is_sound = has_sound_layouts(scope) && findings.empty();
    if (is_sound) check_rows(scope);
    check_operands(scope);
    check_dense(scope);
    if (is_sound) check_band(scope);
    check_results(scope);
    check_modifiers(scope);
    check_dropout(scope);
    check_lengths(scope);
    check_way(scope);
    return findings.to_error("the group cannot compute the graph:");
}

}  // namespace cudnn_frontend::rewrite
