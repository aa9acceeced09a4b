// What a build ends with: immutable, run from many threads at once.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"
#include "pipeline/pack.h"

#include <cudnn_frontend/target.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct CUgraph_st;

namespace cudnn_frontend::pipeline {

// What is known of a plan before it is built.
struct CandidateInfo {
    std::string name;
    std::optional<std::int64_t> engine;                      // what create_execution_plan() takes
    std::vector<std::pair<KnobType_t, std::int64_t>> knobs;  // NOT_SET: the library has no name for it
    std::vector<BehaviorNote_t> behavior_notes;
    std::vector<NumericalNote_t> numerical_notes;
    std::int64_t shared_memory_bytes = 0;
    bool is_deterministic = true;
};

// One run's arguments.
struct Run {
    cudnnHandle_t handle = nullptr;
    Variant_pack pack;
    void* workspace = nullptr;
    std::int64_t workspace_bytes = -1;  // -1: the caller did not say
};

class Plan {
   public:
    virtual ~Plan() = default;

    virtual CandidateInfo const& info() const = 0;
    virtual std::int64_t workspace_size() const = 0;
    virtual std::vector<Slot> const& slots() const = 0;

    virtual error_t execute(Run const& run) const = 0;
    virtual error_t populate_cuda_graph(Run const& run, CUgraph_st* graph) const = 0;
    virtual error_t update_cuda_graph(Run const& run, CUgraph_st* graph) const = 0;
    // Loads what a first run would load; nothing is computed.
    virtual error_t warm_up(cudnnHandle_t handle) const = 0;
    // Time of one run in microseconds.
    virtual Result<double> time(Run const& run) const = 0;
    // Everything that running needs, for load_plan(); the graph's JSON goes along.
    virtual Result<std::string> serialize() const = 0;
};

// What every target checks: a workspace that is there, large enough and aligned.
error_t check_workspace(Plan const& plan, Run const& run);

}  // namespace cudnn_frontend::pipeline
