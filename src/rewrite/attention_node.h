// The attention that a rewrite starts from: the only node of its graph, with the sizes of its tensors.
#pragma once

#include "rewrite/only_node.h"

#include <initializer_list>
#include <span>

namespace cudnn_frontend::rewrite {

namespace attention = nodes::attention;

class Attention : public OnlyNode {
   public:
    // Nothing if the graph is anything else.
    static std::optional<Attention> of(nodes::ValidatedGraph const& graph);
    // The same, where pointwise nodes may modify the scores, or their gradient.
    static std::optional<Attention> with_modifiers(nodes::ValidatedGraph const& graph);

    nodes::AttentionFields const& fields() const { return *nodes::attention_fields(node()); }
    bool is_backward() const { return node().kind() == nodes::NodeKind::SdpaBackward; }

    // If K is in pages, `keys` is the number of keys that a page table reaches.
    std::int64_t batches = 0, query_heads = 0, key_heads = 0, value_heads = 0, queries = 0, keys = 0;
    std::int64_t head_dim = 0, value_dim = 0;
    std::int64_t group() const { return query_heads / key_heads; }

   private:
    explicit Attention(nodes::GraphSpec const& graph);
};

// The error of a rewrite of another graph than one attention.
error_t no_attention(std::string const& rewrite);

using Condition = ConditionOf<Attention>;

// Conditions that several rewrites have.
bool has_only(Attention const& attention, std::initializer_list<int> ports);
bool has_dense_tensors(Attention const& attention);
// Whether there is memory for dQ, dK and dV, which forward does not have.
bool has_gradients(Attention const& attention);

}  // namespace cudnn_frontend::rewrite
