#include "nodes/validation/validate.h"

#include "nodes/attention/attention_node.h"
#include "nodes/schema/graph_spec.h"
#include "nodes/schema/rule.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"
#include "nodes/validation/execution_order.h"
#include "nodes/validation/graph_checks.h"

#include <algorithm>
#include <set>

namespace cudnn_frontend::nodes {

// The steps of validation, with access to ValidatedGraph's constructor.
struct Validator {
    GraphSpec spec;
    core::Findings findings;
    std::string remarks = {};

    // For a single element all strides are equivalent.
    void infer_single_element_strides() {
        for (TensorSpec& tensor : spec.tensors) {
            bool const is_single = !tensor.dim.empty() && core::volume(tensor.dim) == 1;
            if (is_single && tensor.stride.empty()) tensor.stride = core::packed_strides(tensor.dim);
        }
    }

    void infer_nodes(std::vector<NodeRound> const& order) {
        for (NodeRound const& step : order) schema_of(spec.nodes[step.node].kind()).infer(spec, spec.nodes[step.node]);
        if (finished_nodes(order).size() == spec.nodes.size()) return;
        // Also infers nodes behind a cycle, so that only the cycle is reported; values that are set already stay.
        for (Node const& node : spec.nodes) schema_of(node.kind()).infer(spec, node);
    }

    void infer_types() {
        for (TensorSpec& tensor : spec.tensors) {
            if (tensor.data_type == DataType_t::NOT_SET) tensor.data_type = default_type(spec, tensor);
        }
        for (Node& node : spec.nodes) {
            if (node.compute_data_type == DataType_t::NOT_SET) node.compute_data_type = spec.compute_data_type;
        }
    }

    void put_dropout_in_order() {
        for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
            if (!nodes::put_dropout_in_order(spec, spec.nodes[i])) continue;
            remarks += text(", node '", nodes::label(spec.nodes[i], i),
                            "' has dropout's mask and scale swapped, which is accepted");
        }
    }

    void imply_padding() {
        for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
            if (!nodes::imply_padding(spec.nodes[i])) continue;
            remarks += text(", node '", nodes::label(spec.nodes[i], i),
                            "' has pages with lengths, which imply a padding mask");
        }
    }

    void check_rules() {
        Uses const uses = uses_of_tensors(spec);
        for (Rule const& rule : graph_rules()) rule.check(RuleScope(spec, uses, nullptr, rule, findings));
        for (Node const& node : spec.nodes) {
            for (Rule const& rule : schema_of(node.kind()).rules()) {
                rule.check(RuleScope(spec, uses, &node, rule, findings));
            }
        }
    }

    // Tensors that no node uses get no uid: nothing can be bound to them.
    void assign_uids() {
        std::vector<bool> used(spec.tensors.size(), false);
        for (Node const& node : spec.nodes) {
            for (TensorId const id : node.ports) {
                if (id != kNoTensor) used[static_cast<std::size_t>(id)] = true;
            }
        }
        for (std::size_t i = 0; i < used.size(); ++i) {
            TensorId const offset = spec.tensors[i].ragged_offset;
            if (used[i] && offset != kNoTensor) used[static_cast<std::size_t>(offset)] = true;
        }
        std::set<std::int64_t> taken;
        for (TensorSpec const& tensor : spec.tensors) {
            if (tensor.uid) taken.insert(*tensor.uid);
        }
        // An earlier automatic uid is kept if possible: a plan may be bound to it.
        for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
            TensorSpec& tensor = spec.tensors[i];
            bool const keeps = used[i] && !tensor.uid && tensor.automatic_uid;
            if (keeps && taken.insert(*tensor.automatic_uid).second) tensor.uid = tensor.automatic_uid;
        }
        std::int64_t next = 1;
        for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
            if (!used[i] || spec.tensors[i].uid) continue;
            while (taken.contains(next)) ++next;
            spec.tensors[i].uid = spec.tensors[i].automatic_uid = next++;
        }
    }

    void reorder(std::vector<std::size_t> const& positions) {
        std::vector<Node> sorted;
        sorted.reserve(spec.nodes.size());
        for (std::size_t const n : positions) sorted.push_back(std::move(spec.nodes[n]));
        spec.nodes = std::move(sorted);
    }

    Validation run() {
        auto const order = execution_order(spec);
        infer_single_element_strides();
        infer_nodes(order);
        infer_types();
        put_dropout_in_order();
        imply_padding();
        check_rules();
        if (!findings.empty()) return {Report(findings.take()), std::nullopt};
        assign_uids();
        std::vector<std::size_t> positions = finished_nodes(order);
        reorder(positions);
        return {Report(), ValidatedGraph(std::move(spec), std::move(positions), std::move(remarks))};
    }
};

std::string ValidatedGraph::label(Node const& node) const {
    return nodes::label(node, positions_[static_cast<std::size_t>(&node - spec_.nodes.data())]);
}

static bool meets_all_rules(GraphSpec graph) { return Validator{std::move(graph), {}}.run().report.ok(); }

// Only with the first finding: if the order of dims is the mistake, all findings follow from it.
static Report with_order_hint(GraphSpec const& described, Report report) {
    std::vector<Finding> findings = report.findings();
    auto const is_of_attention = [](Finding const& finding) { return finding.where.rule.starts_with("sdpa_"); };
    if (std::ranges::none_of(findings, is_of_attention)) return report;
    std::string const hint = order_hint(described, meets_all_rules);
    if (hint.empty()) return report;
    std::string& fix = findings.front().fix;
    fix = fix.empty() ? hint : fix + "; or, " + hint;
    return Report(std::move(findings));
}

Validation validate(GraphSpec spec) {
    GraphSpec const described = spec;  // inference changes it
    Validation validation = Validator{std::move(spec), {}}.run();
    if (!validation.graph) validation.report = with_order_hint(described, std::move(validation.report));
    return validation;
}

}  // namespace cudnn_frontend::nodes
