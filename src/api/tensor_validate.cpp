// A tensor checked by itself, with the rules that a graph has for its tensors.
#include "api/tensor_access.h"
#include "nodes/schema/rule.h"
#include "nodes/validation/validate.h"

#include <cudnn_frontend/report.h>

namespace cudnn_frontend::graph {

error_t Tensor_attributes::validate() const {
    nodes::GraphSpec spec;
    detail::Tensor_access::describe(*this, spec.tensors.emplace_back());
    // The type may still come from the graph.
    if (spec.tensors[0].data_type == DataType_t::NOT_SET) spec.tensors[0].data_type = DataType_t::FLOAT;
    nodes::Uses const uses = nodes::uses_of_tensors(spec);
    nodes::FindingList findings;
    for (nodes::Rule const& rule : nodes::graph_rules()) {
        rule.check(nodes::RuleScope(spec, uses, nullptr, rule, findings));
    }
    return Report(findings.take()).to_error();
}

}  // namespace cudnn_frontend::graph
