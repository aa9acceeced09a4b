#include "nodes/validation/checked_graphs.h"

#include "core/text.h"
#include "nodes/schema/field.h"
#include "nodes/schema/schema.h"

#include <algorithm>

namespace cudnn_frontend::nodes {
namespace {

// Collects the first few differences.
class DifferenceList {
   public:
    void add(std::string const& where, std::string const& what) {
        constexpr int kMost = 3;
        if (++count_ <= kMost) text_ += (text_.empty() ? "" : "; ") + where + ": " + what;
    }
    // The objects are of the table's type.
    void compare(std::string const& where, std::span<Field const> fields, void const* object, void const* other) {
        for (Field const& field : fields) {
            FieldValue const a = field.get(object), b = field.get(other);
            if (a != b) add(where, core::text(field.name, " ", quoted(field, a), " in place of ", quoted(field, b)));
        }
    }
    // Something differs that no table has.
    std::string take() && { return text_.empty() ? "the connections of its nodes, or how it was described" : text_; }

   private:
    static std::string quoted(Field const& field, FieldValue const& value) {
        std::string const text = value_text(field, value);
        return field.type == FieldType::Text ? "'" + text + "'" : text;
    }

    std::string text_;
    int count_ = 0;
};

template <class Part>
std::size_t differing(std::vector<Part> const& a, std::vector<Part> const& b) {
    std::size_t const common = std::min(a.size(), b.size());
    std::size_t count = std::max(a.size(), b.size()) - common;
    for (std::size_t i = 0; i < common; ++i) count += a[i] == b[i] ? 0 : 1;
    return count;
}

std::string label_of(char const* kind, std::size_t number, std::string const& name) {
    return core::text(kind, " ", number, name.empty() ? "" : " '" + name + "'");
}

void compare_nodes(DifferenceList& differences, std::string const& where, Node const& a, Node const& b) {
    NodeSchema const& schema = schema_of(a.kind());
    if (a.kind() != b.kind()) {
        differences.add(where, core::text(schema.tag, " in place of ", schema_of(b.kind()).tag));
        return;
    }
    if (a.name != b.name) differences.add(where, core::text("name '", a.name, "' in place of '", b.name, "'"));
    if (a.compute_data_type != b.compute_data_type) {
        differences.add(where, core::text("computes in ", a.compute_data_type, " in place of ", b.compute_data_type));
    }
    differences.compare(where, schema.fields, fields_object(a), fields_object(b));
    for (PortRow const& row : schema.ports) {
        auto const port = static_cast<std::size_t>(row.port);
        bool const has = a.ports[port] != kNoTensor, other_has = b.ports[port] != kNoTensor;
        if (has != other_has) differences.add(where, core::text(has ? "with " : "without ", row.name));
    }
}

}  // namespace

std::size_t differing_parts(GraphSpec const& a, GraphSpec const& b) {
    bool const is_same_head = static_cast<GraphHead const&>(a) == static_cast<GraphHead const&>(b);
    return differing(a.tensors, b.tensors) + differing(a.nodes, b.nodes) + (is_same_head ? 0 : 1);
}

std::string difference_text(GraphSpec const& graph, GraphSpec const& other) {
    DifferenceList differences;
    differences.compare("graph", graph_fields(), &graph, &other);
    auto const compare_counts = [&](char const* what, std::size_t count, std::size_t other_count) {
        if (count == other_count) return;
        differences.add("graph", core::text(count, " ", what, " in place of ", other_count));
    };
    compare_counts("nodes", graph.nodes.size(), other.nodes.size());
    compare_counts("tensors", graph.tensors.size(), other.tensors.size());
    for (std::size_t i = 0; i < std::min(graph.nodes.size(), other.nodes.size()); ++i) {
        compare_nodes(differences, label_of("node", i, graph.nodes[i].name), graph.nodes[i], other.nodes[i]);
    }
    for (std::size_t i = 0; i < std::min(graph.tensors.size(), other.tensors.size()); ++i) {
        TensorSpec const &tensor = graph.tensors[i], &another = other.tensors[i];
        differences.compare(label_of("tensor", i, tensor.name), tensor_fields(), &tensor, &another);
    }
    return std::move(differences).take();
}

}  // namespace cudnn_frontend::nodes
