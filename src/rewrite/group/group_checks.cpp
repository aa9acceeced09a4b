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

using attention::Port;
using core::text;

// The input of a check: a rank's part of an attention.
struct GroupScope : core::Reporter {
    Attention const& attention;
    group::Task const& task;
    bool has_sound_layouts;
};

std::string fault_of_layouts(group::Task const& task) {
    std::string const fault = group::fault_of(task.queries);
    return fault.empty() ? group::fault_of(task.keys) : fault;
}

// Whether the layouts can be asked about the rank.
bool has_sound_layouts(group::Task const& task) {
    bool const are_of_group = task.queries.ranks() == task.size() && task.keys.ranks() == task.size();
    return task.transport != nullptr && are_of_group && fault_of_layouts(task).empty();
}

void check_member(GroupScope const& scope) {
    group::Task const& task = scope.task;
    if (task.transport == nullptr) {
        return scope.report("", "a Group() without a rank", "a rank of a group",
                            "make it by Group::of_threads(), of_nccl() or described()");
    }
    for (group::Layout const* const layout : {&task.queries, &task.keys}) {
        if (layout->ranks() == task.size()) continue;
        return scope.report("", text("a layout for ", layout->ranks(), " ranks"),
                            text("one for the ", task.size(), " ranks of the group"), "pass the group's size");
    }
}

void check_layouts(GroupScope const& scope) {
    std::string const fault = fault_of_layouts(scope.task);
    if (fault.empty()) return;
    scope.report("", fault, "each token of one rank, and some tokens for each rank",
                 "use fewer ranks, or correct the ranges");
}

// The dims of packed tensors hold the longest document.
void check_rows(GroupScope const& scope) {
    if (!scope.has_sound_layouts || has_documents(scope.attention)) return;
    auto const check = [&](char const* names, std::int64_t rows, group::Layout const& layout) {
        std::int64_t const tokens = layout.count_of(scope.task.rank());
        if (rows == tokens) return;
        scope.report(names, text(rows, " rows"),
                     text("the ", tokens, " tokens that the layout gives to rank ", scope.task.rank()),
                     "describe the rank's part of the tensor, or correct the layout");
    };
    check("Q", scope.attention.queries, scope.task.queries);
    check("K", scope.attention.keys, scope.task.keys);
}

// A tensor that ends in a dim of 1 may be that of a rank's only key.
bool is_shared_by_keys(GroupScope const& scope, nodes::TensorSpec const& tensor) {
    group::Layout const& keys = scope.task.keys;
    for (int rank = 0; rank < keys.ranks(); ++rank) {
        if (keys.ranks() > 1 && keys.count_of(rank) == 1) return false;
    }
    return tensor.dim[3] == 1;
}
constexpr char const* kSharedByKeys =
    "a last dim of 1, and two keys or more on each rank, as others own most of the keys";

void check_operands(GroupScope const& scope) {
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
        scope.report(attention::operand(port).name,
                     is_known ? text("a bias of ", a.tensor(port)->dim) : std::string("it is connected"),
                     is_known ? kSharedByKeys : "only what each rank has for its rows",
                     "leave it out, or compute the attention on one rank");
    }
}

void check_documents(GroupScope const& scope) {
    if (!has_documents(scope.attention)) return;
    group::Task const& task = scope.task;
    std::string obstacle = obstacle_to_documents(scope.attention);
    if (obstacle.empty() && has_bounds(scope.attention) && task.queries.length() != task.keys.length()) {
        obstacle = text("bounds, and layouts of ", task.queries.length(), " queries and ", task.keys.length(), " keys");
    }
    if (obstacle.empty()) return;
    scope.report("", obstacle,
                 "packed tensors whose rows hold all heads, INT32 lengths as they are, no bias and no tensors of score "
                 "modifiers with rows of queries, and with bounds as many queries as keys",
                 "pack all tensors alike, by tokens, heads, elements");
}

void check_dense(GroupScope const& scope) {
    if (has_documents(scope.attention)) return;
    if (has_dense_tensors(scope.attention)) return;
    scope.report("", "a tensor that is packed by lengths, reordered or vectorized",
                 "the same rows for each batch entry in all tensors, or all of them packed",
                 "lay all tensors of tokens out with ragged offsets, or none");
}

void check_band(GroupScope const& scope) {
    if (!scope.has_sound_layouts) return;
    group::Task const& task = scope.task;
    nodes::AttentionFields const& fields = scope.attention.fields();
    // Lengths move such a diagonal.
    if (fields.padding_mask && fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT) return;
    if (has_documents(scope.attention)) return;
    WholeBand const band(fields, task.queries.length(), task.keys.length());
    if (band.shows_each_query_a_key()) return;
    scope.report(
        "",
        text("a band in which some of ", task.queries.length(), " queries see none of ", task.keys.length(), " keys"),
        "a key for each query", "leave those queries out, or change the bounds");
}

void check_results(GroupScope const& scope) {
    Attention const& a = scope.attention;
    if (a.is_backward() ? has_gradients(a) : a.has(Port::O)) return;
    scope.report("", "a result without memory", a.is_backward() ? "memory for dQ, dK and dV" : "memory for O",
                 "set_output(true) on it");
}

void check_modifiers(GroupScope const& scope) {
    for (nodes::TensorSpec const* const tensor : tensors_of_modifiers(scope.attention)) {
        bool const is_number = tensor->is_by_value || tensor->value;
        if (is_number || (tensor->dim.size() == 4 && is_shared_by_keys(scope, *tensor))) continue;
        scope.report(tensor->name, text("a tensor of ", tensor->dim, " that a score modifier reads"),
                     tensor->dim.size() == 4 ? kSharedByKeys : "a number by value, or four dims",
                     "compute it from the positions of queries and keys, or compute the attention on one rank");
    }
}

void check_dropout(GroupScope const& scope) {
    if (!draws_dropout(scope.attention)) return;
    for (int const port : {Port::Seed, Port::Offset}) {
        nodes::TensorSpec const& tensor = *scope.attention.tensor(port);
        if (!tensor.is_by_value && !tensor.value) continue;
        scope.report(attention::operand(port).name, "a number by value",
                     "one integer in memory, where the rank's other tensors are", "call set_is_pass_by_value(false)");
    }
}

// The obstacle to GATHER where the ranks cannot exchange heads instead. GATHER computes the lengths of parts, and needs
// to know which keys a part's queries see.
std::string obstacle_to_only_way(GroupScope const& scope) {
    group::Task const& task = scope.task;
    bool const is_free = task.way == group::Group_way::AUTO && task.stages == 0 && task.size() > 0;
    bool const is_by_heads = task.way == group::Group_way::ALL_TO_ALL;
    if (is_by_heads || (is_free && can_be_by_heads(scope.attention, task))) return {};
    return obstacle_to_gather(scope.attention);
}
constexpr char const* kExchangeHeads = "use ALL_TO_ALL, with a number of ranks that divides the heads of K and V";

void check_gathered_documents(GroupScope const& scope) {
    if (!has_documents(scope.attention)) return;
    std::string const obstacle = obstacle_to_only_way(scope);
    if (obstacle.empty()) return;
    scope.report("", obstacle, "one tensor of lengths for Q and K, and a causal mask, a window of it or none",
                 kExchangeHeads);
}

void check_gathered_lengths(GroupScope const& scope) {
    if (has_documents(scope.attention)) return;
    std::string const obstacle = obstacle_to_only_way(scope);
    if (obstacle.empty()) return;
    scope.report("", obstacle,
                 "lengths of INT32 as they are, a diagonal from the top left, and with a left bound Stats and a sink "
                 "token of FLOAT, in base e and without Sum_exp of a sink",
                 kExchangeHeads);
}

void check_ring(GroupScope const& scope) {
    if (scope.task.way != group::Group_way::RING) return;
    std::string const obstacle = obstacle_to_ring(scope.attention, scope.task);
    if (obstacle.empty()) return;
    scope.report("", obstacle,
                 "one layout for queries and keys, and neither documents, a sink token, Max, Sum_exp, Stats of base 2 "
                 "nor a score modifier that counts rows or columns",
                 "use GATHER or AUTO");
}

bool divides_heads(std::int64_t count, Attention const& a) {
    return count > 0 && a.key_heads % count == 0 && a.value_heads % count == 0;
}

std::string heads_text(Attention const& a) { return text(a.key_heads, " heads of K and ", a.value_heads, " of V"); }

void check_heads(GroupScope const& scope) {
    Attention const& a = scope.attention;
    group::Task const& task = scope.task;
    if (task.way != group::Group_way::ALL_TO_ALL) return;
    if (task.size() > 0 && !divides_heads(task.size(), a)) {
        scope.report("", heads_text(a), text("multiples of the ", task.size(), " ranks"), "use GATHER or AUTO");
    }
    for (nodes::TensorSpec const* const tensor : tensors_of_rows(a)) {
        scope.report(tensor->name, text("dims of ", tensor->dim), "a third dim of 1", "use GATHER or AUTO");
    }
}

void check_stages(GroupScope const& scope) {
    std::int64_t const stages = scope.task.stages;
    if (stages == 0 || divides_heads(stages, scope.attention)) return;
    scope.report("", text(stages, " stages for ", heads_text(scope.attention)),
                 "a divisor of both, or 0 to have it chosen", "use another number of stages");
}

using enum error_code_t;

constexpr core::Rule kAttention{"group.c01",
                                "The graph is one attention, or its backward, and operations that modify its scores.",
                                GRAPH_NOT_SUPPORTED};

constexpr core::RuleFor<GroupScope> kRules[] = {
    {"group.c02", "The group has this process as a rank, and the layouts have its ranks.", INVALID_VALUE, check_member},
    {"group.c03", "A layout gives each token to one rank, and each rank some.", INVALID_VALUE, check_layouts},
    {"group.c04", "Q has as many rows as the rank has tokens, and so have K and V.", INVALID_VALUE, check_rows},
    {"group.c05",
     "No tensor is connected except Q, K, V, O, Stats, Max, Sum_exp, dO, attn_scale, a sink token, a bias that all "
     "keys share, lengths, the seed and the offset of dropout, dQ, dK, dV and dSink_token.",
     GRAPH_NOT_SUPPORTED, check_operands},
    {"group.c06", "All tensors of tokens are packed by lengths, or none; none is in blocks.", GRAPH_NOT_SUPPORTED,
     check_dense},
    {"group.c24",
     "Packed tensors have rows of all heads, INT32 lengths that are no sums, neither a bias nor tensors of score "
     "modifiers with rows of queries, and with bounds as many queries as keys.",
     GRAPH_NOT_SUPPORTED, check_documents},
    {"group.c07", "Each query sees a key.", GRAPH_NOT_SUPPORTED, check_band},
    {"group.c08", "There is memory for O, in backward for dQ, dK and dV.", GRAPH_NOT_SUPPORTED, check_results},
    {"group.c22", "All keys share the tensors that a score modifier reads.", GRAPH_NOT_SUPPORTED, check_modifiers},
    {"group.c26", "The seed and the offset of dropout are in memory.", GRAPH_NOT_SUPPORTED, check_dropout},
    {"group.c25", "By GATHER packed queries and keys share one tensor of lengths, and bounds are causal.",
     GRAPH_NOT_SUPPORTED, check_gathered_documents},
    {"group.c27",
     "By RING queries and keys are split alike, and there are neither documents, a sink token, Max, Sum_exp, Stats of "
     "base 2 nor a score modifier that counts rows or columns.",
     GRAPH_NOT_SUPPORTED, check_ring},
    {"group.c23",
     "By GATHER or RING lengths are INT32 and no sums, and with them a diagonal starts at the top left. With a left "
     "bound too, forward's Stats are FLOAT; a sink token comes without Sum_exp, and next to Stats or Max it is FLOAT, "
     "with its numbers side by side, and Stats are of base e.",
     GRAPH_NOT_SUPPORTED, check_gathered_lengths},
    {"group.c10",
     "By ALL_TO_ALL the number of ranks divides the numbers of heads of K and V, and all queries share a bias and what "
     "a score modifier reads.",
     GRAPH_NOT_SUPPORTED, check_heads},
    {"group.c11", "The number of stages divides the numbers of heads of K and V.", INVALID_VALUE, check_stages},
};

}  // namespace

error_t check_in_group(nodes::ValidatedGraph const& graph, group::Task const& task) {
    auto const attention = Attention::with_modifiers(graph);
    if (!attention) {
        return group::rules::violation(kAttention,
                                       text("a graph of ", std::ranges::distance(every_node(graph.spec())), " nodes"),
                                       "one node, of attention or its backward, and pointwise nodes that modify scores",
                                       "compute what is around it in other graphs");
    }
    core::Findings findings;
    bool const has_layouts = has_sound_layouts(task);
    for (auto const& rule : kRules) {
        rule.check({{rule, findings, attention->node().name}, *attention, task, has_layouts});
    }
    return findings.to_error("the group cannot compute the graph:");
}

}  // namespace cudnn_frontend::rewrite
