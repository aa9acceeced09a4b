// An engine with values for its knobs, from which a plan is built.
#pragma once

#include "cudnn/library/device.h"

#include <cudnn_frontend/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

// A knob by the backend API's number, since some knobs have no name in this library.
struct KnobChoice {
    cudnnBackendKnobType_t knob;
    std::int64_t value;
};

// An engine, by its global index, and the values of its knobs.
struct EngineChoice {
    std::int64_t engine = 0;
    std::vector<KnobChoice> knobs;
};

std::string name_of(EngineChoice const& choice);  // eng2_k24=7

struct EngineConfig {
    EngineChoice choice;
    std::string name;
    std::vector<BehaviorNote_t> behavior_notes;
    std::vector<NumericalNote_t> numerical_notes;
    std::int64_t workspace_bytes = 0;
    std::int64_t shared_memory_bytes = 0;
};

// Whether kernels with these knobs are split-KV kernels, or may be, since the engine chooses or the knobs are others
// than the known ones.
bool may_split_keys(std::vector<KnobChoice> const& knobs, std::size_t cudnn_version);

// An engine configuration of the backend API. For one plan only: cuDNN 9.19 fails to build a second one from it.
struct BackendConfig {
    EngineConfig value;
    Descriptor descriptor;
};

Result<EngineConfig> describe(Descriptor const& config);

// A knob of an engine, and its range.
struct KnobRange {
    cudnnBackendKnobType_t knob;
    std::int64_t maximum, minimum, stride;
};

Result<std::vector<KnobRange>> knobs_of_engine(Descriptor const& graph, Device const* device, std::int64_t index);

Result<BackendConfig> make_config(Descriptor const& graph, Device const* device, std::int64_t index,
                                  std::vector<KnobChoice> const& knobs);

// The heuristics query: which engines support a graph, best first.
struct HeuristicsRequest {
    std::vector<HeurMode_t> modes;
    Device const* device = nullptr;  // null: the current device
    std::int32_t sm_count = 0;       // plan for that many multiprocessors; 0: all
};

struct HeuristicsAnswer {
    std::vector<BackendConfig> configs;  // without duplicates
    std::string reason;                  // the engines' errors, for a mode without a result
};

Result<HeuristicsAnswer> ask_heuristics(Descriptor const& graph, HeuristicsRequest const& request);

}  // namespace cudnn_frontend::cudnn
