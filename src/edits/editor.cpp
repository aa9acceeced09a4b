#include "edits/editor.h"

#include "core/findings.h"
#include "core/text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cudnn_frontend::edits {

bool is_attention(nodes::Node const& node) { return nodes::attention_fields(node) != nullptr; }

nodes::AttentionFields* attention_fields(nodes::Node& node) {
    return const_cast<nodes::AttentionFields*>(nodes::attention_fields(std::as_const(node)));
}

TensorIds Editor::at_ports(std::span<int const> ports) const {
    TensorIds ids;
    for (nodes::Node const& node : graph_.nodes) {
        if (!is_attention(node)) continue;
        for (int const port : ports) {
            nodes::TensorId const id = node.ports[static_cast<std::size_t>(port)];
            if (id != nodes::kNoTensor && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
        }
    }
    return ids;
}

core::Dims Editor::dim_at(int port) const {
    TensorIds const ids = at_ports({port});
    return ids.empty() || tensor(ids.front()).dim.size() != 4 ? core::Dims() : tensor(ids.front()).dim;
}

DataType_t Editor::type_of(nodes::TensorSpec const& tensor) const {
    return tensor.data_type == DataType_t::NOT_SET ? nodes::default_type(graph_, tensor) : tensor.data_type;
}

std::string Editor::name_of(nodes::TensorId id) const {
    return tensor(id).name.empty() ? core::text("t", id) : tensor(id).name;
}

std::string Editor::names(TensorIds const& ids) const {
    std::vector<std::string> all;
    for (nodes::TensorId const id : ids) all.push_back(name_of(id));
    return core::listed(all, "and");
}

void Editor::add(int cost, std::string const& text, nodes::GraphSpec changed, std::string const& kind) {
    if (changed != graph_) edits_.push_back({cost, kind.empty() ? text : kind, text, std::move(changed)});
}

std::vector<Edit> Editor::take() {
    std::ranges::stable_sort(edits_, {}, &Edit::cost);
    return std::move(edits_);
}

core::Dims packed_like(core::Dims const& dim, core::Dims const& stride) {
    std::vector<std::size_t> order(dim.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (stride.size() == dim.size())
        std::ranges::stable_sort(order, [&](auto a, auto b) { return stride[a] > stride[b]; });
    core::Dims packed(dim.size(), 1);
    std::int64_t next = 1;
    for (auto place = order.rbegin(); place != order.rend(); ++place) {
        packed[*place] = next;
        next = core::saturating_multiply(next, std::max<std::int64_t>(dim[*place], 1));
    }
    return packed;
}

void resize(nodes::TensorSpec& tensor, core::Dims const& dim) {
    if (!tensor.stride.empty()) tensor.stride = packed_like(dim, tensor.stride);
    tensor.dim = dim;
}

nodes::TensorId add_tensor(nodes::GraphSpec& graph, std::string const& name, DataType_t type, core::Dims const& dim) {
    nodes::TensorSpec tensor;
    tensor.name = name;
    tensor.data_type = type;
    tensor.dim = dim;
    tensor.stride = packed_like(dim, {});
    graph.tensors.push_back(std::move(tensor));
    return static_cast<nodes::TensorId>(graph.tensors.size() - 1);
}

std::vector<Edit> edits_of(nodes::GraphSpec const& graph) {
    Editor editor(graph);
    add_option_edits(editor);
    add_description_edits(editor);
    add_type_edits(editor);
    add_layout_edits(editor);
    add_size_edits(editor);
    return editor.take();
}

}  // namespace cudnn_frontend::edits
