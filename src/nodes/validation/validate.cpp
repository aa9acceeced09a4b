#include "nodes/validation/validate.h"

#include "nodes/attention/attention_node.h"
#include "nodes/schema/graph_spec.h"
#include "nodes/schema/rule.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"
#include "nodes/validation/execution_order.h"
#include "nodes/validation/graph_checks.h"
#include "nodes/validation/modifiers.h"

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

    // Attention says which dims its scores have before its modifier reads them.
    void infer_node(Node const& node) {
        schema_of(node.kind()).infer(spec, node);
        for (Node const& step : node.modifier) schema_of(step.kind()).infer(spec, step);
    }

    void infer_nodes(std::vector<std::size_t> const& order) {
        for (std::size_t const n : order) infer_node(spec.nodes[n]);
        if (order.size() == spec.nodes.size()) return;
        // Also infers nodes behind a cycle, so that only the cycle is reported; values that are set already stay.
        // Modifiers come last, since scores may have dims only then.
        for (Node const& node : spec.nodes) schema_of(node.kind()).infer(spec, node);
        for (Node const& node : spec.nodes) infer_node(node);
    }

    // A modifier with a cycle stays as it is, and is reported.
    void order_modifiers() {
        for (Node& node : spec.nodes) {
            if (node.modifier.empty()) continue;
            auto const order = execution_order(spec, node.modifier);
            if (order.size() == node.modifier.size()) nodes::reorder(node.modifier, order);
        }
    }

    void infer_types() {
        for (TensorSpec& tensor : spec.tensors) {
            if (tensor.data_type == DataType_t::NOT_SET) tensor.data_type = default_type(spec, tensor);
        }
        for (Node& node : every_node(spec)) {
            if (node.compute_data_type == DataType_t::NOT_SET) node.compute_data_type = spec.compute_data_type;
        }
    }

    void put_dropout_in_order() {
        for (Node& node : spec.nodes) {
            if (!nodes::put_dropout_in_order(spec, node)) continue;
            remarks += text(", node '", label(node), "' has dropout's mask and scale swapped, which is accepted");
        }
    }

    void imply_padding() {
        for (Node& node : spec.nodes) {
            if (!nodes::imply_padding(node)) continue;
            remarks += text(", node '", label(node), "' has pages with lengths, which imply a padding mask");
        }
    }

    void check_rules() {
        Uses const uses = uses_of_tensors(spec);
        for (Rule const& rule : graph_rules()) rule.check(RuleScope(spec, uses, nullptr, rule, findings));
        for (Node const& node : every_node(spec)) {
            for (Rule const& rule : schema_of(node.kind()).rules()) {
                rule.check(RuleScope(spec, uses, &node, rule, findings));
            }
        }
    }

    // Tensors that no node uses get no uid: nothing can be bound to them.
    void assign_uids() {
        std::vector<bool> used(spec.tensors.size(), false);
        for (Node const& node : every_node(spec)) {
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

    Validation run() {
        gather_modifiers(spec);
        order_modifiers();
        auto const order = execution_order(spec);
        infer_single_element_strides();
        infer_nodes(order);
        infer_types();
        put_dropout_in_order();
        imply_padding();
        check_rules();
        if (!findings.empty()) return {Report(findings.take()), std::nullopt};
        assign_uids();
        reorder(spec.nodes, order);
        return {Report(), ValidatedGraph(std::move(spec), std::move(remarks))};
    }
};

static bool meets_all_rules(GraphSpec graph) { return Validator{std::move(graph), {}}.run().report.ok(); }

// Adds the hint to the first finding alone: if the order of dims is the mistake, all findings follow from it.
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
    std::size_t position = 0;
    for (Node& node : every_node(spec)) node.position = position++;
    GraphSpec const described = spec;  // validation changes it
    Validation validation = Validator{std::move(spec), {}}.run();
    if (!validation.graph) validation.report = with_order_hint(described, std::move(validation.report));
    return validation;
}

}  // namespace cudnn_frontend::nodes
