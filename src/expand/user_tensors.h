// The user's tensors as values of the op graph.
#pragma once

#include "ir/builder.h"
#include "nodes/schema/graph_spec.h"

#include <vector>

namespace cudnn_frontend::expand {

// The rows of a ragged tensor, as in ir::Ragged.
struct RaggedRows {
    ir::ValueId lengths = ir::kNoValue;
    std::int64_t together = 1;
    std::int64_t most = 0;
};

// A tensor becomes a value when an operation first asks for it: a tensor that no operation touches needs no pointer at
// run time.
class UserTensors {
   public:
    UserTensors(nodes::GraphSpec const& spec, ir::Builder& builder);

    nodes::GraphSpec const& graph() const { return spec_; }

    // No value for no tensor. A ragged one has these rows.
    ir::ValueId value(nodes::TensorId id, RaggedRows const& rows = {});

   private:
    ir::Role role_of(nodes::TensorId id) const;
    std::string name_of(nodes::TensorId id) const;

    nodes::GraphSpec const& spec_;
    ir::Builder& builder_;
    std::vector<ir::ValueId> values_;
    std::vector<nodes::Node const*> producers_;  // the node that makes each tensor, or null
    std::vector<bool> are_factors_;              // of 8-bit attention
};

}  // namespace cudnn_frontend::expand
