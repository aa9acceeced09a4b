#include "nodes/validation/graph_checks.h"

#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

namespace cudnn_frontend::nodes {
namespace {

using EnumeratorNames = std::span<char const* const>;

// Calls report(found, needed, fix) if the number has no name.
template <class Report>
void check(char const* field, std::int64_t number, EnumeratorNames names, Report const& report) {
    if (number >= 0 && static_cast<std::size_t>(number) < names.size()) return;
    report(text(field, " with the value ", number),
           text("one of its ", names.size(), " values from ", names.front(), " to ", names.back()),
           "pass an enumerator of the type instead of a number");
}

template <class Report>
void check_fields(std::span<Field const> fields, void const* object, Report const& report) {
    for (Field const& field : fields) {
        if (field.type != FieldType::Enum) continue;
        FieldValue const value = field.get(object);
        if (auto const* const number = std::get_if<std::int64_t>(&value)) {
            check(field.name, *number, field.enumerators(), report);
        }
    }
}

}  // namespace

void enumerators_are_known(RuleScope const& scope) {
    GraphSpec const& graph = scope.graph();
    auto const report_at = [](RuleScope const& at) {
        return [at](std::string found, std::string needed, std::string fix) {
            at.report_node(std::move(found), std::move(needed), std::move(fix));
        };
    };
    check_fields(graph_fields(), &graph, report_at(scope));
    for (TensorSpec const& tensor : graph.tensors) {
        check_fields(tensor_fields(), &tensor, [&](std::string found, std::string needed, std::string fix) {
            scope.report(tensor, std::move(found), std::move(needed), std::move(fix));
        });
    }
    for (Node const& node : every_node(graph)) {
        auto const report = report_at(scope.at(node));
        check("compute_data_type", static_cast<std::int64_t>(node.compute_data_type), core::names_of<DataType_t>(),
              report);
        check_fields(schema_of(node.kind()).fields, fields_object(node), report);
    }
}

}  // namespace cudnn_frontend::nodes
