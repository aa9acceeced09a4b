#include "nodes/validation/graph_checks.h"

#include "nodes/attention/attention_node.h"
#include "nodes/schema/uses.h"
#include "nodes/schema/wording.h"

#include <set>
#include <span>
#include <utility>
#include <vector>

namespace cudnn_frontend::nodes {
namespace {

using namespace attention;

// Each attempt validates the graph again.
constexpr std::size_t kMostNodes = 64;

constexpr bool has_rows(Operand const& row) { return may_be_ragged(row) && !is_page_table(row); }
constexpr bool has_columns(Operand const& row) { return has_rows(row) && has_vectors(row); }
constexpr bool is_of_keys(Operand const& row) { return has_columns(row) && has_key_rows(row); }
constexpr bool is_of_queries(Operand const& row) { return has_columns(row) && has_query_rows(row); }

// The sets of tensors that are exchanged together, in the order of trying: all tensors with heads and rows first, since
// a program has one convention; then all except those that are often made separately; then the sides, and single
// tensors.
constexpr auto kAll = kPortsWhere<has_rows>;
constexpr auto kOfColumns = kPortsWhere<has_columns>;
constexpr int kInputs[] = {Q, K, V};
constexpr auto kOfKeys = kPortsWhere<is_of_keys>;
constexpr auto kOfQueries = kPortsWhere<is_of_queries>;
constexpr int kResults[] = {O, DO, Stats};
constexpr int kAlone[] = {K, V, O, DO, Stats};

std::set<TensorId> tensors_at(GraphSpec const& graph, std::span<int const> ports) {
    std::set<TensorId> tensors;
    for (Node const& node : graph.nodes) {
        if (attention_fields(node) == nullptr) continue;
        for (int const port : ports) {
            TensorSpec const* const tensor = graph.tensor(node, port);
            if (ports.size() == 1 && is_paged(node, port)) continue;  // both containers have one layout
            if (tensor != nullptr && tensor->dim.size() == 4 && tensor->dim[1] != tensor->dim[2]) {
                tensors.insert(node.ports[static_cast<std::size_t>(port)]);
            }
        }
    }
    return tensors;
}

GraphSpec exchanged(GraphSpec graph, std::set<TensorId> const& tensors) {
    for (TensorId const id : tensors) {
        TensorSpec& tensor = graph.tensors[static_cast<std::size_t>(id)];
        std::swap(tensor.dim[1], tensor.dim[2]);
        if (tensor.stride.size() == 4) std::swap(tensor.stride[1], tensor.stride[2]);
    }
    return graph;
}

std::vector<std::string> names_of(GraphSpec const& graph, std::set<TensorId> const& tensors) {
    std::vector<std::string> names;
    names.reserve(tensors.size());
    Uses const uses = uses_of_tensors(graph);
    for (TensorId const id : tensors) names.push_back(label(graph, uses, graph.tensors[static_cast<std::size_t>(id)]));
    return names;
}

}  // namespace

std::string order_hint(GraphSpec const& described, bool (*meets_all_rules)(GraphSpec graph)) {
    if (described.nodes.size() > kMostNodes) return {};
    std::vector<std::span<int const>> groups{kAll, kOfColumns, kInputs, kOfKeys, kOfQueries, kResults};
    for (int const& port : kAlone) groups.emplace_back(&port, 1);
    std::set<std::set<TensorId>> tried{{}};
    for (auto const ports : groups) {
        auto const tensors = tensors_at(described, ports);
        if (!tried.insert(tensors).second || !meets_all_rules(exchanged(described, tensors))) continue;
        return text("if dims 1 and 2 of ", core::listed(names_of(described, tensors), "and"),
                    " are rows and heads, swap them and their strides: dims are always batch, heads, rows, columns; "
                    "strides give the order in memory");
    }
    return {};
}

}  // namespace cudnn_frontend::nodes
