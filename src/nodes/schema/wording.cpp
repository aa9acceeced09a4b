#include "nodes/schema/wording.h"

#include "nodes/schema/schema.h"

namespace cudnn_frontend::nodes {

std::string listed(std::vector<std::string> const& parts, std::string_view last_word) {
    constexpr std::size_t kMost = 16;
    std::string list;
    for (std::size_t i = 0; i < parts.size() && i < kMost; ++i) {
        bool const is_last = i + 1 == parts.size();
        if (i > 0) list += is_last ? text(" ", last_word, " ") : ", ";
        list += parts[i];
    }
    return parts.size() <= kMost ? list : text(list, " ", last_word, " ", parts.size() - kMost, " more");
}

std::string label(Node const& node, std::size_t position) {
    if (!node.name.empty()) return node.name;
    return text(schema_of(node.kind()).tag, " ", position);
}

std::string label(GraphSpec const& graph, Node const& node) {
    return label(node, static_cast<std::size_t>(&node - graph.nodes.data()));
}

std::string name_of_node(Node const& node) {
    if (!node.name.empty()) return node.name;
    std::string name = schema_of(node.kind()).tag;
    for (char& letter : name) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return name;
}

std::string name_of_tensor(TensorSpec const& tensor, Node const* producer) {
    if (has_name(tensor)) return tensor.name;
    if (!tensor.name.empty() && producer != nullptr) return name_of_node(*producer) + tensor.name;
    return "tensor_" + std::to_string(tensor.uid.value_or(-1));
}

}  // namespace cudnn_frontend::nodes
