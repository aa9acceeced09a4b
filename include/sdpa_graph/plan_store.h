// Compiled plans in files, for later processes and other machines with the same GPU: those of graphs and of the
// functions over tensors.
#pragma once

#include <cudnn_frontend/export.h>

#include <string>

namespace sdpa_graph {

// A folder for what cuDNN and NVRTC compile for GPUs; none if it is empty. Processes may share it. A file is read only
// where the library, cuDNN, the driver and the GPU are those that it was made for, and it is whole: any doubt is a
// miss, never an error.
struct Plan_store {
    std::string folder;
    bool is_frozen = false;  // nothing is written
};

// For graphs that are built from now on, and were not built before. Until a program sets one, the store is that of
// SDPA_GRAPH_PLAN_STORE, frozen with SDPA_GRAPH_PLAN_STORE_FROZEN.
SDPA_GRAPH_API Plan_store plan_store();
SDPA_GRAPH_API void set_plan_store(Plan_store const& store);

}  // namespace sdpa_graph
