// The node that a rewrite starts from, whose tensors are views: the only one of its graph, or the only one of its kind.
// Conditions of rewrites, and neighborhood attention as such a node; attention has a header of its own.
#pragma once

#include "core/findings.h"
#include "core/result.h"
#include "rewrite/program.h"

#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::rewrite {

class OnlyNode {
   public:
    nodes::GraphSpec const& graph() const { return *graph_; }
    nodes::Node const& node() const { return graph_->nodes[index_]; }

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
    explicit OnlyNode(nodes::GraphSpec const& graph, std::size_t index = 0) : graph_(&graph), index_(index) {}

   private:
    nodes::GraphSpec const* graph_;
    std::size_t index_;
};

// One condition under which a rewrite computes what the graph says.
template <class Subject>
struct ConditionOf {
    char const* id;       // such as few_queries.c02
    char const* summary;  // the condition, without a verb
    bool (*holds)(Subject const& subject);

    core::Rule rule() const { return {id, summary, error_code_t::GRAPH_NOT_SUPPORTED}; }
};

// Collects the conditions of a rewrite that do not hold.
class BrokenConditions {
   public:
    explicit BrokenConditions(std::string rewrite) : rewrite_(std::move(rewrite)) {}

    void add(core::Rule const& condition) { findings_.add(condition.violation("", "", "", condition.summary, "")); }
    error_t to_error() const {
        return findings_.empty() ? error_t() : findings_.to_error("the rewrite " + rewrite_ + " does not apply:");
    }

   private:
    std::string rewrite_;
    core::Findings findings_;
};

// The error of a rewrite of which one condition does not hold.
inline error_t refusal(std::string const& rewrite, core::Rule const& condition) {
    BrokenConditions broken(rewrite);
    broken.add(condition);
    return broken.to_error();
}

// An error that names all conditions that do not hold.
template <class Subject, class Conditions>
error_t check(char const* rewrite, Conditions const& conditions, Subject const& subject) {
    BrokenConditions broken(rewrite);
    for (ConditionOf<Subject> const& condition : conditions) {
        if (!condition.holds(subject)) broken.add(condition.rule());
    }
    return broken.to_error();
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
