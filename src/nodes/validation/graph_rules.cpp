// The rules of the graph as a whole: its tensors, and the connections of its nodes.
#include "nodes/attention/attention_checks.h"
#include "nodes/schema/rule.h"
#include "nodes/schema/uses.h"
#include "nodes/schema/wording.h"
#include "nodes/validation/execution_order.h"
#include "nodes/validation/graph_checks.h"
#include "nodes/validation/modifiers.h"

#include <algorithm>

namespace cudnn_frontend::nodes {
namespace {

using namespace tensor_checks;
using enum error_code_t;

// The origin of the tensor of a required port.
std::string source_of(Node const& node, int port) {
    char const* const forward = node.kind() == NodeKind::SdpaBackward && port == attention::Stats ? "sdpa()"
                                : node.kind() == NodeKind::NeighborhoodBackward && port == neighborhood::Stats
                                    ? "neighborhood_attention()"
                                    : nullptr;
    if (forward == nullptr) return "pass a tensor that the graph's tensor() or another node returned";
    return text("call set_generate_stats(true) on the attributes of the forward attention, and pass the Stats that ",
                forward, " returns then");
}

void required_ports_are_connected(RuleScope const& scope) {
    for (Node const& node : every_node(scope.graph())) {
        for (PortRow const& row : schema_of(node.kind()).ports) {
            if (row.presence != Presence::Required || scope.at(node).tensor(row.port) != nullptr) continue;
            scope.at(node).report_port(row.port, "no tensor (null)", text("the tensor ", row.name, ", ", row.summary),
                                       source_of(node, row.port));
        }
    }
}

void primitives_have_compute_type(RuleScope const& scope) {
    for (Node const& node : every_node(scope.graph())) {
        if (schema_of(node.kind()).computes != Computes::InNamedType) continue;
        if (node.compute_data_type != DataType_t::NOT_SET) continue;
        scope.at(node).report_node("no compute data type", "the type to compute in, the node's own or the graph's",
                                   "call set_compute_data_type(DataType_t::FLOAT) on the graph or on the attributes");
    }
}

// Calls visit(tensor, uses) for each tensor of the graph.
template <class Visit>
void for_each_tensor(RuleScope const& scope, Visit const& visit) {
    for (std::size_t i = 0; i < scope.uses().size(); ++i) visit(scope.graph().tensors[i], scope.uses()[i]);
}

std::string name_of_port(PortUse const& use) { return text(label(*use.node), ".", use.port->name); }

void is_written_once(RuleScope const& scope) {
    for_each_tensor(scope, [&](TensorSpec const& tensor, TensorUses const& uses) {
        if (uses.writers.size() < 2) return;
        scope.report(
            tensor,
            text("a tensor written as ", name_of_port(uses.writers[0]), " and as ", name_of_port(uses.writers[1])),
            "a tensor of its own for each result", "make one more tensor and connect it to one of the two");
    });
}

void written_is_not_by_value(RuleScope const& scope) {
    for_each_tensor(scope, [&](TensorSpec const& tensor, TensorUses const& uses) {
        if (uses.writers.empty() || (!tensor.is_by_value && !tensor.is_constant && !tensor.value)) return;
        scope.report(tensor, text("a tensor passed by value that is written as ", name_of_port(uses.writers[0])),
                     "memory that the result can be written to", "call set_is_pass_by_value(false)");
    });
}

// Whether two indices of one batch entry share an element.
bool entries_overlap_themselves(TensorSpec const& tensor) {
    if (tensor.dim.empty()) return false;
    auto const without_first = [](core::Dims const& list) { return core::Dims(list.begin() + 1, list.end()); };
    return core::overlaps_itself(without_first(tensor.dim), without_first(tensor.stride));
}

// The offsets of a ragged tensor say where its batch entries start; its first stride does not.
bool overlaps_itself(TensorSpec const& tensor) {
    bool const is_ragged = tensor.ragged_offset != kNoTensor;
    return is_ragged ? entries_overlap_themselves(tensor) : core::overlaps_itself(tensor.dim, tensor.stride);
}

void written_does_not_overlap(RuleScope const& scope) {
    for_each_tensor(scope, [&](TensorSpec const& tensor, TensorUses const& uses) {
        if (uses.writers.empty() || !has_regular_layout(tensor)) return;
        if (!core::span_of(tensor.dim, tensor.stride) || !overlaps_itself(tensor)) return;
        bool const may_be_packed = tensor.dim.size() == 4 && !entries_overlap_themselves(tensor);
        scope.report(
            tensor, text("dims ", tensor.dim, " with strides ", tensor.stride, " on a tensor that is written"),
            "strides under which no two indices share an element",
            text("call set_stride(); row-major without gaps is ", core::packed_strides(tensor.dim),
                 may_be_packed ? "; for packed sequences call set_ragged_offset(), which says where each starts" : ""));
    });
}

void virtual_input_is_produced(RuleScope const& scope) {
    for_each_tensor(scope, [&](TensorSpec const& tensor, TensorUses const& uses) {
        if (!tensor.is_virtual || tensor.is_foreign || uses.readers.empty() || !uses.writers.empty()) return;
        scope.report(
            tensor,
            text("a virtual tensor that is read as ", name_of_port(uses.readers[0]), " and that no node writes"),
            "a node that computes it, or memory that holds it",
            "call set_is_virtual(false) and pass a pointer, or connect a node's result instead");
    });
}

void results_are_used(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    for (Node const& node : every_node(graph)) {
        PortRow const* unused = nullptr;
        bool is_used = false;
        for (PortRow const& row : schema_of(node.kind()).ports) {
            TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
            if (row.direction != Direction::Output || row.is_inner || id == kNoTensor) continue;
            auto const i = static_cast<std::size_t>(id);
            if (!graph.tensors[i].is_virtual || !scope.uses()[i].readers.empty()) is_used = true;
            else if (unused == nullptr) unused = &row;
        }
        if (is_used || unused == nullptr) continue;
        scope.at(node).report_port(unused->port, "a node without a result that is an output or that another node reads",
                                   "at least one result that is used", text("call set_output(true) on ", unused->name));
    }
}

void is_acyclic(RuleScope const& scope) {
    constexpr std::size_t kMostNames = 16;
    auto const cycle = find_cycle(scope.graph());
    if (cycle.empty()) return;
    std::size_t const shown = std::min(cycle.size(), kMostNames);
    std::string names = label(*cycle[0]);
    for (std::size_t i = 1; i < shown; ++i) names += " <- " + label(*cycle[i]);
    if (shown < cycle.size()) names += text(" <- and ", cycle.size() - shown, " more");
    // Attention alone may stand between the scores of other attention and what this reads in their place.
    scope.at(*cycle[0]).report_node(
        text("nodes that read each other's results: ", names),
        "an order in which each node's inputs exist before it runs",
        std::ranges::any_of(cycle, [](Node const* node) { return has_modifier(*node); })
            ? "move attention that reads the scores, and operations that read the modified attention's "
              "result, out of the score modifier"
            : "connect a tensor from outside the cycle to one of these nodes");
}

void outputs_exist(RuleScope const& scope) {
    if (scope.graph().missing_outputs == 0) return;
    scope.report_node("output() of a null pointer", "a tensor that a node returned",
                      "call set_generate_stats(true) on the attributes of the attention if it is its Stats, which is "
                      "null otherwise");
}

constexpr Rule kRules[] = {
    {"graph.c01", "Each required port of a node is connected.", ATTRIBUTE_NOT_SET, required_ports_are_connected},
    {"graph.c02", "A node uses tensors of its own graph only.", INVALID_VALUE, belongs_to_graph},
    {"graph.c03", "Each tensor in use has a data type: its own, or the graph's io or intermediate type.",
     ATTRIBUTE_NOT_SET, has_data_type},
    {"graph.c04",
     "Each node but attention, neighborhood attention, slice, reshape and transpose has a compute data type: its own "
     "or the graph's.",
     ATTRIBUTE_NOT_SET, primitives_have_compute_type},
    {"graph.c05", "Each tensor that is an input of the graph has dims and strides.", ATTRIBUTE_NOT_SET, has_layout},
    {"graph.c06", "A tensor has at most 8 dims.", INVALID_VALUE, has_rank_in_range},
    {"graph.c07", "A tensor that has strides has one for each dim.", INVALID_VALUE, has_stride_for_each_dim},
    {"graph.c08", "Each dim is at least 1.", INVALID_VALUE, has_positive_dims},
    {"graph.c09", "Each stride is at least 0.", INVALID_VALUE, has_no_negative_stride},
    {"graph.c10", "The elements of a tensor, and the span that its strides reach, are at most 2^62 bytes.",
     INVALID_VALUE, fits_memory},
    {"graph.c11", "A tensor's elements are whole bytes.", GRAPH_NOT_SUPPORTED, has_whole_byte_elements},
    {"graph.c12", "A tensor's alignment is a power of two and at least the size of an element.", INVALID_VALUE,
     has_sound_alignment},
    {"graph.c13", "A tensor is neither reordered nor vectorized, except for block scales in the order F8_128x4.",
     GRAPH_NOT_SUPPORTED, is_plainly_laid_out},
    {"graph.c14",
     "A ragged offset is INT32 or INT64, has dims {B + 1, 1, 1, 1}, is in memory, and is not computed by a node.",
     GRAPH_NOT_SUPPORTED, ragged_checks::offsets_are_sound},
    {"graph.c15", "A uid is at least 0.", INVALID_VALUE, has_valid_uid},
    {"graph.c16", "No two tensors of a graph have the same uid.", INVALID_VALUE, has_own_uid},
    {"graph.c17", "A tensor that is passed by value has one element.", INVALID_VALUE, by_value_is_one_element},
    {"graph.c18", "A tensor that is passed by value is not virtual.", INVALID_VALUE, by_value_is_not_virtual},
    {"graph.c19", "An embedded scalar has its tensor's data type.", INVALID_VALUE, embedded_value_has_own_type},
    {"graph.c20", "No node writes a tensor that is passed by value.", INVALID_VALUE, written_is_not_by_value},
    {"graph.c21", "A tensor is written at most once.", INVALID_VALUE, is_written_once},
    {"graph.c22",
     "In a tensor that a node writes, no two indices share an element; the first stride of a ragged one does not "
     "count.",
     INVALID_VALUE, written_does_not_overlap},
    {"graph.c23", "A virtual tensor that is read is written by a node.", INVALID_VALUE, virtual_input_is_produced},
    {"graph.c24", "At least one result of each node is an output or read by a node.", ATTRIBUTE_NOT_SET,
     results_are_used},
    {"graph.c25", "Nodes do not form a cycle.", INVALID_VALUE, is_acyclic},
    {"graph.c26", "Each field of an enumeration holds one of its values.", INVALID_VALUE, enumerators_are_known},
    {"graph.c27",
     "A ragged tensor is in memory, and attention's Q, K, V, O, Stats, Max, Sum_exp, a gradient of these or a page "
     "table; where a node writes it, its rows hold all heads.",
     GRAPH_NOT_SUPPORTED, ragged_checks::ragged_tensors_fit},
    {"graph.c28",
     "Tensors that share a ragged offset, and whose rows hold all heads, have rows of equal width in units of their "
     "multipliers.",
     INVALID_VALUE, ragged_checks::offsets_fit_all_rows},
    {"graph.c29", "All uses of a ragged tensor have the same lengths, and those of a page table the same page size.",
     INVALID_VALUE, ragged_checks::uses_agree_on_rows},
    {"graph.c30", "The multiplier of a ragged offset is from 1 to 2^31, and 1 without an offset.", INVALID_VALUE,
     ragged_checks::multipliers_are_in_range},
    {"graph.c31", "What output() is asked for is a tensor.", ATTRIBUTE_NOT_SET, outputs_exist},
};

}  // namespace

std::span<Rule const> graph_rules() { return kRules; }

}  // namespace cudnn_frontend::nodes
