// The attention that a rewrite starts from: the only node of its graph, with the sizes of its tensors.
#pragma once

#include "core/result.h"
#include "rewrite/program.h"

#include <initializer_list>
#include <span>

namespace cudnn_frontend::rewrite {

namespace attention = nodes::attention;

class Attention {
   public:
    // Nothing if the graph is anything else.
    static std::optional<Attention> of(nodes::ValidatedGraph const& graph);

    nodes::GraphSpec const& graph() const { return *graph_; }
    nodes::Node const& node() const { return graph_->nodes.front(); }
    nodes::AttentionFields const& fields() const { return *nodes::attention_fields(node()); }
    bool is_backward() const { return node().kind() == nodes::NodeKind::SdpaBackward; }

    nodes::TensorSpec const* tensor(int port) const { return graph_->tensor(node(), port); }
    // Whether there is memory for it, or a number.
    bool has(int port) const { return tensor(port) != nullptr && !tensor(port)->is_virtual; }
    // The whole tensor of a port that it has.
    View view(int port) const;

    // In pages, all keys that a page table reaches.
    std::int64_t batches = 0, query_heads = 0, key_heads = 0, value_heads = 0, queries = 0, keys = 0;
    std::int64_t head_dim = 0, value_dim = 0;
    std::int64_t group() const { return query_heads / key_heads; }

   private:
    explicit Attention(nodes::GraphSpec const& graph);

    nodes::GraphSpec const* graph_;
};

// One condition under which a rewrite computes what the graph says.
struct Condition {
    char const* id;       // such as few_queries.c02
    char const* summary;  // the condition, as a sentence
    bool (*holds)(Attention const& attention);
};

// An error that names all conditions that do not hold.
error_t check(char const* rewrite, std::span<Condition const> conditions, Attention const& attention);

// Conditions that several rewrites have.
bool has_only(Attention const& attention, std::initializer_list<int> ports);
bool has_dense_tensors(Attention const& attention);

}  // namespace cudnn_frontend::rewrite
