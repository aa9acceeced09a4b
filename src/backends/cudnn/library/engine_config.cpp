#include "cudnn/library/engine_config.h"

#include "cudnn/library/backend_enums.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

template <class Note>
auto read_notes(Descriptor const& engine, cudnnBackendAttributeName_t attribute) {
    std::vector<decltype(from_backend(Note{}))> notes;
    auto const found = engine.read_list<Note>(attribute);
    if (found.is_bad()) return notes;  // an engine without notes may return an error
    for (Note const note : found.value()) notes.push_back(from_backend(note));
    return notes;
}

// Some engines do not report sizes before they are compiled; then only the plan does.
template <class T>
std::int64_t read_size(Descriptor const& config, cudnnBackendAttributeName_t attribute) {
    auto const size = config.read<T>(attribute);
    return size.is_good() ? std::int64_t{size.value()} : 0;
}

error_t read_engine(Descriptor const& config, EngineConfig& value) {
    auto engines = config.read_parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, "engine", 1);
    if (engines.is_bad()) return engines.error();
    if (engines.value().empty()) return {error_code_t::CUDNN_BACKEND_API_FAILED, "an engine config has no engine"};
    Descriptor const& engine = engines.value().front();
    auto const index = engine.read<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    if (index.is_bad()) return index.error();
    value.choice.engine = index.value();
    value.behavior_notes = read_notes<cudnnBackendBehaviorNote_t>(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE);
    value.numerical_notes = read_notes<cudnnBackendNumericalNote_t>(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
    return {};
}

error_t read_knobs(Descriptor const& config, EngineConfig& value) {
    auto const choices = config.read_parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                           "knob choice", CUDNN_KNOB_TYPE_COUNTS);
    if (choices.is_bad()) return choices.error();
    for (Descriptor const& choice : choices.value()) {
        auto const knob = choice.read<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE);
        if (knob.is_bad()) return knob.error();
        auto const setting = choice.read<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
        if (setting.is_bad()) return setting.error();
        value.choice.knobs.push_back({knob.value(), setting.value()});
    }
    return {};
}

Descriptor make_engine(Descriptor const& graph, Device const* device, std::int64_t index) {
    Descriptor engine(graph.api(), CUDNN_BACKEND_ENGINE_DESCRIPTOR, "engine " + std::to_string(index));
    engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph).set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
    if (device != nullptr) engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, device->descriptor());
    return engine;
}

Result<KnobRange> read_range(Descriptor const& info) {
    auto const knob = info.read<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_INFO_TYPE);
    if (knob.is_bad()) return knob.error();
    KnobRange range{knob.value(), 0, 0, 0};
    for (auto const& [attribute, target] : {std::pair{CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, &range.maximum},
                                            std::pair{CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, &range.minimum},
                                            std::pair{CUDNN_ATTR_KNOB_INFO_STRIDE, &range.stride}}) {
        auto const value = info.read<std::int64_t>(attribute);
        if (value.is_bad()) return value.error();
        *target = value.value();
    }
    return range;
}

}  // namespace

std::string name_of(EngineChoice const& choice) {
    std::string name = "eng" + std::to_string(choice.engine);
    for (KnobChoice const& knob : choice.knobs) {
        name += "_k" + std::to_string(static_cast<int>(knob.knob)) + "=" + std::to_string(knob.value);
    }
    return name;
}

// Up to 9.22 one knob numbers all kernels; split-KV kernels have numbers from 32 on.
static bool is_numbered_whole(std::vector<KnobChoice> const& knobs) {
    if (knobs.size() != 1 || knobs.front().knob != CUDNN_KNOB_TYPE_KERNEL_CFG) return false;
    return knobs.front().value >= 0 && knobs.front().value < 32;
}

// From 9.23 on STREAM_K decides; some other knobs have no influence.
static bool is_told_whole(std::vector<KnobChoice> const& knobs) {
    bool is_told = false;
    for (KnobChoice const& choice : knobs) {
        switch (choice.knob) {
            case CUDNN_KNOB_TYPE_STREAM_K:
                if (choice.value != 0) return false;
                is_told = true;
                break;
            case CUDNN_KNOB_TYPE_KERNEL_CFG:
            case CUDNN_KNOB_TYPE_TILE_M:
            case CUDNN_KNOB_TYPE_TILE_N:
            case CUDNN_KNOB_TYPE_TILE_CGA_M: break;
            default: return false;
        }
    }
    return is_told;
}

bool may_split_keys(std::vector<KnobChoice> const& knobs, std::size_t cudnn_version) {
    constexpr std::size_t kFirstWithStreamK = 92300;
    return cudnn_version < kFirstWithStreamK ? !is_numbered_whole(knobs) : !is_told_whole(knobs);
}

Result<EngineConfig> describe(Descriptor const& config) {
    EngineConfig value;
    SDPA_GRAPH_TRY(read_engine(config, value));
    SDPA_GRAPH_TRY(read_knobs(config, value));
    value.name = name_of(value.choice);
    value.workspace_bytes = read_size<std::int64_t>(config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
    value.shared_memory_bytes = read_size<std::int32_t>(config, CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED);
    return value;
}

Result<std::vector<KnobRange>> knobs_of_engine(Descriptor const& graph, Device const* device, std::int64_t index) {
    Descriptor engine = make_engine(graph, device, index);
    SDPA_GRAPH_TRY(engine.finalize());
    auto const infos = engine.read_parts(CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, "knob",
                                         CUDNN_KNOB_TYPE_COUNTS);
    if (infos.is_bad()) return infos.error();
    std::vector<KnobRange> ranges;
    for (Descriptor const& info : infos.value()) {
        auto const range = read_range(info);
        if (range.is_bad()) return range.error();
        ranges.push_back(range.value());
    }
    return ranges;
}

Result<BackendConfig> make_config(Descriptor const& graph, Device const* device, std::int64_t index,
                                  std::vector<KnobChoice> const& knobs) {
    Descriptor engine = make_engine(graph, device, index);
    SDPA_GRAPH_TRY(engine.finalize());
    std::vector<Descriptor> choices;
    std::vector<cudnnBackendDescriptor_t> pointers;
    for (KnobChoice const& knob : knobs) {
        choices.emplace_back(graph.api(), CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, "knob choice");
        choices.back().set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, knob.knob);
        choices.back().set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, knob.value);
        SDPA_GRAPH_TRY(choices.back().finalize());
        pointers.push_back(choices.back().get());
    }
    BackendConfig config;
    config.descriptor =
        Descriptor(graph.api(), CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "a config of engine " + std::to_string(index));
    config.descriptor.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (!pointers.empty()) {
        config.descriptor.set_list(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                   std::span<cudnnBackendDescriptor_t const>(pointers));
    }
    SDPA_GRAPH_TRY(config.descriptor.finalize());
    auto value = describe(config.descriptor);
    if (value.is_bad()) return value.error();
    config.value = std::move(value).value();
    return config;
}

}  // namespace cudnn_frontend::cudnn
