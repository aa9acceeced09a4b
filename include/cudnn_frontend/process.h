// Settings of the whole process. Until a program sets one here, it has the value of its environment variable at the
// time when the setting is first needed. Any thread may call, at any time.
#pragma once

#include "export.h"
#include "types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudnn_frontend {
namespace runtime {

// How many bytes the process keeps of graphs and plans that were built, for graphs that are built again and for calls
// of the functions over tensors; 0: nothing. The bytes are estimated. What was used last the longest ago goes first,
// unless the program still holds it. SDPA_GRAPH_KEPT_BYTES; else 268,435,456.
SDPA_GRAPH_API std::size_t kept_bytes();
SDPA_GRAPH_API void set_kept_bytes(std::size_t most);

// The objects that the process keeps, of one kind, and how they were used since it began.
struct Kept_statistics {
    char const* kind = "";  // such as "validated graphs"
    std::int64_t objects = 0, bytes = 0;
    std::int64_t hits = 0;       // how often one was found
    std::int64_t misses = 0;     // how often one was needed that was not there
    std::int64_t builds = 0;     // how many were made; threads that miss the same one at once wait for one of them
    std::int64_t evictions = 0;  // how many went for lack of room
};
// The statistics of each kind that the process has used.
SDPA_GRAPH_API std::vector<Kept_statistics> kept_statistics();

// Whether graphs that are built from now on go to cuDNN in spite of the table of limits, to find out whether a release
// still has a fault; never for results that count. SDPA_GRAPH_IGNORE_LIMITS; else off.
SDPA_GRAPH_API bool ignores_limits();
SDPA_GRAPH_API void set_ignores_limits(bool is_on);

// Whether the plans of graphs that are built from now on look at lengths, offsets, page tables and factors of 8-bit
// attention in the GPU's memory before each run. SDPA_GRAPH_CHECK_INDICES; else off.
SDPA_GRAPH_API bool checks_indices();
SDPA_GRAPH_API void set_checks_indices(bool is_on);

// How many launches of a plan on a GPU come before those that replay a CUDA graph of it, which take the calling thread
// a third of the time; below 0: none is replayed, so that profilers show each kernel. Holds for plans that are built
// from now on. SDPA_GRAPH_REPLAY_AFTER: a number or never; else 16.
SDPA_GRAPH_API std::int64_t replay_after();
SDPA_GRAPH_API void set_replay_after(std::int64_t launches);

// Whether graphs that do not say it compare the results of a plan's first run with the reference:
// Graph::set_first_run_verification(). For plans that are built from now on. SDPA_GRAPH_VERIFY_FIRST_RUNS; else off.
SDPA_GRAPH_API bool verifies_first_runs();
SDPA_GRAPH_API void set_verifies_first_runs(bool is_on);

// The shape policy of graphs, and of calls of the functions over tensors, that have none of their own.
// SDPA_GRAPH_SHAPE_POLICY: exact, classes, auto or all_shapes; else nothing, which means EXACT for graphs and AUTO for
// functions. Setting nothing means the environment's again.
SDPA_GRAPH_API std::optional<ShapePolicy_t> shape_policy();
SDPA_GRAPH_API void set_shape_policy(std::optional<ShapePolicy_t> policy);

}  // namespace runtime
}  // namespace cudnn_frontend
