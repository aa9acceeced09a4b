// What a build ends with: immutable, run from many threads at once.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"
#include "pipeline/pack.h"

#include <cudnn_frontend/target.h>

#include <memory>
#include <string>
#include <vector>

namespace cudnn_frontend::inline v1::pipeline {

class Plan {
   public:
    virtual ~Plan() = default;

    virtual std::string name() const = 0;
    virtual std::int64_t workspace_size() const = 0;
    virtual std::vector<Slot> const& slots() const = 0;
    // workspace_bytes is -1 where the caller did not say how large the workspace is.
    virtual error_t execute(cudnnHandle_t handle, Variant_pack pack, void* workspace,
                            std::int64_t workspace_bytes) const = 0;
};

// A plan on host memory, for Target::cpu() and Target::reference(). Tensors as keys of a pack belong to the graph of
// the id.
Result<std::shared_ptr<Plan const>> make_host_plan(ir::OpGraph const& graph, Target const& target,
                                                   std::uint64_t graph_id);

}  // namespace cudnn_frontend::inline v1::pipeline
