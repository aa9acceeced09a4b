// Graphs of attention for classes of calls, built once and kept.
#pragma once

#include "core/result.h"
#include "flash/shapes.h"

#include <cudnn_frontend/graph.h>

#include <memory>
#include <utility>
#include <vector>

namespace sdpa_graph::flash {

// What a plan binds besides the arguments.
enum class Extra { LENGTHS_Q = static_cast<int>(kArguments), LENGTHS_K, DROPPED };

// From tensors of a plan to memory.
class Pack {
   public:
    void bind(Argument argument, void* memory) { entries_.emplace_back(static_cast<std::int64_t>(argument), memory); }
    void bind(Extra extra, void* memory) { entries_.emplace_back(static_cast<std::int64_t>(extra), memory); }
    std::vector<std::pair<std::int64_t, void*>> const& entries() const { return entries_; }

   private:
    std::vector<std::pair<std::int64_t, void*>> entries_;
};

class Plan {
   public:
    // The plan of the class: a known one, or a new one.
    static fe::Result<std::shared_ptr<Plan const>> find(Shapes const& shapes, fe::Target const& target);

    Shapes const& shapes() const { return shapes_; }
    std::int64_t workspace_bytes() const { return graph_.get_workspace_size(); }
    error_t run(Pack const& pack, void* workspace) const {
        return graph_.execute(shapes_.handle, pack.entries(), workspace);
    }

   private:
    explicit Plan(Shapes const& shapes) : shapes_(shapes) {}

    Shapes shapes_;
    fe::graph::Graph graph_;
};

}  // namespace sdpa_graph::flash
