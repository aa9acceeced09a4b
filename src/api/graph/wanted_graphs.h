// The list of graphs of which something had to be compiled, as files, so that a plan store can be filled from it where
// there is no GPU: sdpa_graph::fill_plan_store().
#pragma once

#include "core/process/plan_store.h"
#include "plan/plan.h"

namespace cudnn_frontend::api {

// Whether this thread compiled engines or kernels since then.
class EngineWatch {
   public:
    bool has_compiled() const { return core::process::engine_counts_of_thread().compiled_in_all() > before_; }

   private:
    std::int64_t before_ = core::process::engine_counts_of_thread().compiled_in_all();
};

// Adds the graph to the folder of the process's plan store, if it names one. The log says if that fails.
void keep_wanted(nodes::GraphSpec const& graph, plan::Plan const& built);

// How the graph of a file was planned: by the file's name.
bool is_of_class(std::string const& file_name);

}  // namespace cudnn_frontend::api
