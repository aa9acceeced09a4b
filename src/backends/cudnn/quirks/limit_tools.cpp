#include "cudnn/quirks/limit_tools.h"

#include "core/findings.h"
#include "core/names.h"
#include "nodes/attention/attention_node.h"

#include <algorithm>

namespace cudnn_frontend::quirks {

bool is_ragged(nodes::TensorSpec const* tensor) {
    return tensor != nullptr && tensor->ragged_offset != nodes::kNoTensor;
}

bool needs_product_of_dq(Facts const& facts) { return is_deterministic(facts) || facts.has(Port::DBias); }

bool draws_dropout(Facts const& facts) { return facts.fields.dropout_probability.value_or(0.0f) > 0.0f; }

bool has_softmax_result(Facts const& facts) { return facts.has(Port::Max) || facts.has(Port::SumExp); }

bool shares_key_heads(Facts const& facts) { return facts.tensor(Port::K)->dim[1] < facts.tensor(Port::Q)->dim[1]; }

bool is_forward_of_one_query(Facts const& facts) { return !facts.is_backward && facts.queries() == 1; }

bool is_deterministic(Facts const& facts) {
    auto const* const backward = std::get_if<nodes::SdpaBackwardFields>(&facts.node.fields);
    return backward != nullptr && backward->deterministic;
}

static bool is_backward_activation(nodes::Node const& node) {
    auto const* const fields = std::get_if<nodes::PointwiseFields>(&node.fields);
    std::string const mode = fields == nullptr ? "" : core::name_of(fields->mode);
    return mode.size() > 4 && mode.ends_with("_BWD");
}

bool has_backward_activation(Facts const& facts) {
    return std::ranges::any_of(every_node(facts.graph), is_backward_activation);
}

bool is_per_head(nodes::TensorSpec const& tensor) {
    core::Dims const& dim = tensor.dim;
    return dim.size() == 4 && dim[1] > 1 && dim[0] == 1 && dim[2] == 1 && dim[3] == 1;
}

std::vector<nodes::TensorSpec const*> tensors_of_modifiers(Facts const& facts) {
    std::vector<nodes::TensorSpec const*> tensors;
    if (!facts.has(Port::Score)) return tensors;
    for (nodes::Node const& node : every_node(facts.graph)) {
        if (node.kind() != nodes::NodeKind::Pointwise) continue;
        for (int const port : {nodes::pointwise::In0, nodes::pointwise::In1, nodes::pointwise::In2}) {
            nodes::TensorSpec const* const operand = facts.graph.tensor(node, port);
            bool const is_read = operand != nullptr && !operand->is_virtual && !operand->is_by_value &&
                                 !operand->value && operand->dim.size() == 4;
            if (is_read && !std::ranges::count(tensors, operand)) tensors.push_back(operand);
        }
    }
    return tensors;
}

Found per_head_values(Facts const& facts) {
    Found found = wrong_at(facts, std::array{Port::Bias, Port::DropoutMask}, [](int, nodes::TensorSpec const& tensor) {
        return is_per_head(tensor) ? "per-head values" : "";
    });
    if (found) return found;
    return wrong_in_modifier(
        facts, [](nodes::TensorSpec const& tensor) { return is_per_head(tensor) ? "per-head values in" : ""; });
}

bool refuses_head_dim(Facts const& facts, std::int64_t dim) {
    bool const is_of_another_limit = nodes::is_fp8(facts.node) && !nodes::is_block_scaled(facts.node);
    return !is_of_another_limit && dim % 8 != 0;
}

std::vector<int> row_ports(Facts const& facts, bool wants_ragged) {
    std::vector<int> ports;
    for (int const port : Port::kPortsWhere<is_matrix>) {
        if (nodes::is_paged(facts.node, port)) continue;
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        if (tensor != nullptr && is_ragged(tensor) == wants_ragged) ports.push_back(port);
    }
    return ports;
}

Found violation_at(std::vector<int> const& ports, std::vector<std::string> const& texts) {
    if (ports.empty()) return {};
    std::vector<std::string> different;
    for (std::string const& text : texts) {
        if (!std::ranges::count(different, text)) different.push_back(text);
    }
    return Violation{ports.front(), core::listed(different, "and"), {ports.begin() + 1, ports.end()}};
}

}  // namespace cudnn_frontend::quirks
