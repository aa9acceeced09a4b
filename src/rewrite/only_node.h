// The node that a rewrite starts from, the only one of its graph, whose tensors are views. Conditions of rewrites, and
// neighborhood attention as such a node; attention has a header of its own.
#pragma once

#include "core/findings.h"
#include "core/result.h"
#include "rewrite/program.h"

#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace cudnn_frontend::rewrite {

class OnlyNode {
   public:
    nodes::GraphSpec const& graph() const { return *graph_; }
    nodes::Node const& node() const { return graph_->nodes.front(); }

    nodes::TensorSpec const* tensor(int port) const { return graph_->tensor(node(), port); }
    // Whether there is memory for it, or a number.
    bool has(int port) const { return tensor(port) != nullptr && !tensor(port)->is_virtual; }
    // The whole tensor of a port that it has.
    View view(int port) const { return whole(node().ports[static_cast<std::size_t>(port)]); }
    View whole(nodes::TensorId id) const {
        nodes::TensorSpec const& tensor = graph_->tensors[static_cast<std::size_t>(id)];
        return {{Place::Of::Tensor, static_cast<std::size_t>(id), 0},
                tensor.data_type,
                tensor.dim,
                tensor.stride,
                tensor.alignment};
    }

   protected:
    explicit OnlyNode(nodes::GraphSpec const& graph) : graph_(&graph) {}

   private:
    nodes::GraphSpec const* graph_;
};

// One condition under which a rewrite computes what the graph says. Its summary has no verb.
template <class Subject>
using ConditionOf = core::RuleFor<Subject, bool>;

// The error that names the conditions that do not hold; success if there is none.
error_t refusal(std::string const& rewrite, std::vector<core::Rule> const& unmet);

template <class Subject>
error_t check(char const* rewrite, std::span<std::type_identity_t<ConditionOf<Subject>> const> conditions,
              Subject const& subject) {
    std::vector<core::Rule> unmet;
    for (ConditionOf<Subject> const& condition : conditions) {
        if (!condition.check(subject)) unmet.push_back(condition);
    }
    return refusal(rewrite, unmet);
}

namespace neighborhood = nodes::neighborhood;

// The fused neighborhood attention that a rewrite starts from.
class Neighborhood : public OnlyNode {
   public:
    // Nothing if the graph is anything else.
    static std::optional<Neighborhood> of(nodes::ValidatedGraph const& graph);

    bool is_backward() const { return node().kind() == nodes::NodeKind::NeighborhoodBackward; }
    float scale() const;

    std::int64_t batches = 0, columns = 0;
    std::vector<neighborhood::Axis> axes;

   private:
    explicit Neighborhood(nodes::GraphSpec const& graph);
};

}  // namespace cudnn_frontend::rewrite
