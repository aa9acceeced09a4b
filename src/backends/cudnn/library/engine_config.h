// An engine with values for its knobs: what a plan is built from.
#pragma once

#include "cudnn/library/device.h"

#include <cudnn_frontend/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

// Knobs as the backend numbers them, which also has knobs that this library has no name for.
struct KnobChoice {
    cudnnBackendKnobType_t knob;
    std::int64_t value;
};

// An engine, by its global index, and what was chosen for it.
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

// Whether kernels of these knobs split the keys of one query between blocks, or may: where the engine chooses, and
// where the knobs are not those of which this is known.
bool may_split_keys(std::vector<KnobChoice> const& knobs, std::size_t cudnn_version);

// A configuration of the backend. Good for one plan: cuDNN 9.19 fails to build a second one from it.
struct BackendConfig {
    EngineConfig value;
    Descriptor descriptor;
};

Result<EngineConfig> describe(Descriptor const& config);

// What an engine lets its caller choose.
struct KnobRange {
    cudnnBackendKnobType_t knob;
    std::int64_t maximum, minimum, stride;
};

Result<std::vector<KnobRange>> knobs_of_engine(Descriptor const& graph, Device const* device, std::int64_t index);

Result<BackendConfig> make_config(Descriptor const& graph, Device const* device, std::int64_t index,
                                  std::vector<KnobChoice> const& knobs);

}  // namespace cudnn_frontend::cudnn
