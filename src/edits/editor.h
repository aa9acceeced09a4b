// Shared by the kinds of edits: questions about the attention of a graph, and the list that they add to.
#pragma once

#include "edits/edits.h"
#include "nodes/schema/schema.h"

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::edits {

namespace Port = nodes::attention;

// A change of neither memory nor numbers is cheap, one of the result is dear.
namespace cost {
inline constexpr int kSetting = 0, kDescription = 1, kPrecision = 4, kCopy = 5, kPadding = 6, kRounding = 8,
                     kOtherSize = 9, kOtherResult = 12;
}

inline constexpr std::array<int, 8> kMatrices = {Port::Q,  Port::K,  Port::V,  Port::O,
                                                 Port::DO, Port::DQ, Port::DK, Port::DV};

using TensorIds = std::vector<nodes::TensorId>;

class Editor {
   public:
    explicit Editor(nodes::GraphSpec const& graph) : graph_(graph) {}

    nodes::GraphSpec const& graph() const { return graph_; }
    nodes::TensorSpec const& tensor(nodes::TensorId id) const { return graph_.tensors[static_cast<std::size_t>(id)]; }
    // The tensors at these ports of attention nodes, each once.
    TensorIds at_ports(std::span<int const> ports) const;
    TensorIds at_ports(std::initializer_list<int> ports) const { return at_ports(std::span(ports)); }
    bool has(int port) const { return !at_ports({port}).empty(); }
    // The dims at a port of attention; empty where they are not four.
    core::Dims dim_at(int port) const;
    // The type that a tensor has, its own or the graph's.
    DataType_t type_of(nodes::TensorSpec const& tensor) const;
    std::string name_of(nodes::TensorId id) const;
    std::string names(TensorIds const& ids) const;

    // Keeps an edit; none where nothing is changed.
    void add(int cost, std::string const& text, nodes::GraphSpec changed, std::string const& kind = {});
    // Adds an edit whose change is made by a function of a copy of the graph, which returns the tensors that it
    // changed. The text has their names at the end of `before`.
    template <class Change>
    void add_for_tensors(int cost, std::string const& before, std::string const& behind, Change const& change) {
        nodes::GraphSpec changed = graph_;
        TensorIds const ids = change(changed);
        if (!ids.empty()) add(cost, before + names(ids) + behind, std::move(changed));
    }

    std::vector<Edit> take();

   private:
    nodes::GraphSpec const& graph_;
    std::vector<Edit> edits_;
};

bool is_attention(nodes::Node const& node);
// The fields that forward and backward attention share; null for other nodes.
nodes::AttentionFields* attention_fields(nodes::Node& node);
// Strides without gaps for these dims, in the order of the strides so far; row-major where there are none.
core::Dims packed_like(core::Dims const& dim, core::Dims const& stride);
// Gives a tensor other dims and, where it has strides, packed ones in their order.
void resize(nodes::TensorSpec& tensor, core::Dims const& dim);
nodes::TensorId add_tensor(nodes::GraphSpec& graph, std::string const& name, DataType_t type, core::Dims const& dim);

// A file for each.
void add_description_edits(Editor& editor);  // what the description lacks, or says twice
void add_type_edits(Editor& editor);
void add_layout_edits(Editor& editor);
void add_size_edits(Editor& editor);
void add_option_edits(Editor& editor);

}  // namespace cudnn_frontend::edits
