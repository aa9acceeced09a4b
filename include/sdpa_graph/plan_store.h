// Plans of the functions over tensors in files, for later processes and other machines with the same GPU.
#pragma once

#include <cudnn_frontend/export.h>

#include <string>

namespace sdpa_graph {

// A folder for plans on GPUs; none if it is empty. Processes may share it. A plan is read only where the library,
// cuDNN, the driver and the GPU are those that it was made for, and its file is whole: any doubt is a miss, never an
// error.
struct Plan_store {
    std::string folder;
    bool is_frozen = false;  // nothing is written
};

// Until a program sets one, the store is that of SDPA_GRAPH_PLAN_STORE, frozen with SDPA_GRAPH_PLAN_STORE_FROZEN.
SDPA_GRAPH_API Plan_store plan_store();
SDPA_GRAPH_API void set_plan_store(Plan_store const& store);

}  // namespace sdpa_graph
