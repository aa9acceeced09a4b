// Compiled plans in files, for later processes and other machines with the same GPU: those of graphs and of the
// functions over tensors. Next to them are the times of candidates that were measured, by which later builds choose.
#pragma once

#include <cudnn_frontend/export.h>
#include <cudnn_frontend/status.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::graph {
class Graph;
}

namespace sdpa_graph {

// A folder for what cuDNN and NVRTC compile for GPUs; none if it is empty. Processes may share it. A file is read only
// where the library, cuDNN, the driver and the GPU are those that it was made for, and it is whole: any doubt is a
// miss, never an error.
struct Plan_store {
    std::string folder;
    bool is_frozen = false;  // nothing is written by this process
    // A folder that gets each graph, as JSON, for which an engine of cuDNN or a kernel of this library was compiled;
    // none if it is empty.
    std::string wanted = {};
};

// The store of graphs that are built from now on, and were not built before. Until a program sets one, it is that of
// SDPA_GRAPH_PLAN_STORE, frozen with SDPA_GRAPH_PLAN_STORE_FROZEN, with the folder SDPA_GRAPH_PLAN_STORE_WANTED.
SDPA_GRAPH_API Plan_store plan_store();
SDPA_GRAPH_API void set_plan_store(Plan_store const& store);

// How the names of those files end whose graphs were planned for their class of shapes, docs/classes.md.
constexpr char kWantedClassEnding[] = ".class.json";

struct Filled_plans {
    std::int64_t compiled = 0, loaded = 0;  // engines and kernels; loaded: already in the store
    std::vector<std::string> refused;       // the graphs that have no plan in the store now: the file and the reason
};

// Fills the process's store with plans of the graphs in such a folder, for a GPU by its name, such as "h100", which
// need not be here: docs/offline.md. The process must not use a GPU otherwise.
SDPA_GRAPH_API cudnn_frontend::error_t fill_plan_store(std::string const& wanted, std::string const& device,
                                                       Filled_plans& filled) noexcept;

// A candidate for the plan of a graph, and the times of its runs.
struct Timed_candidate {
    std::string backend, name;
    double median_us = 0.0, least_us = 0.0, greatest_us = 0.0;
    std::int64_t runs = 0;
};

// The times that one session measured.
struct Stored_times {
    std::string environment;    // versions and the device
    std::string circumstances;  // the settings that differ from the defaults, such as "class of shapes"
    std::vector<Timed_candidate> candidates;
};

// The times that a store has of a graph, whatever its names and uids, for every environment in which they were
// measured.
SDPA_GRAPH_API cudnn_frontend::error_t find_stored_times(std::string const& folder,
                                                         cudnn_frontend::graph::Graph const& graph,
                                                         std::vector<Stored_times>& found) noexcept;

// Copies the whole files that the other store lacks.
SDPA_GRAPH_API cudnn_frontend::error_t merge_plan_stores(std::string const& from, std::string const& into,
                                                         std::int64_t& copied) noexcept;

// Removes the files that were used least recently, until the others have at most so many bytes.
SDPA_GRAPH_API cudnn_frontend::error_t prune_plan_store(std::string const& folder, std::uint64_t most_bytes,
                                                        std::int64_t& removed) noexcept;

// Nothing is written to a frozen store, and nothing removed, by any process: it is only read. A file in the folder says
// so.
SDPA_GRAPH_API cudnn_frontend::error_t freeze_plan_store(std::string const& folder, bool is_frozen = true) noexcept;
SDPA_GRAPH_API bool is_plan_store_frozen(std::string const& folder) noexcept;

}  // namespace sdpa_graph
