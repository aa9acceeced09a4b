#include "cudnn/planning/engine.h"

#include "cudnn/library/backend_enums.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

plan::EngineInfo describe(EngineConfig const& config, Context const& context) {
    auto const& notes = config.numerical_notes;
    bool const is_noted = std::find(notes.begin(), notes.end(), NumericalNote_t::NONDETERMINISTIC) != notes.end();
    plan::EngineInfo info{.name = config.name,
                          .number = config.choice.engine,
                          .behavior_notes = config.behavior_notes,
                          .numerical_notes = notes,
                          .workspace_bytes = config.workspace_bytes + context.bindings.scratch_bytes,
                          .shared_memory_bytes = config.shared_memory_bytes,
                          .is_deterministic = context.is_deterministic && !is_noted};
    for (KnobChoice const& choice : config.choice.knobs) {
        info.knobs.emplace_back(from_backend(choice.knob), choice.value);
    }
    return info;
}

}  // namespace

std::string reason_to_refuse(quirks::Quirk const* bar_on_split_keys, EngineChoice const& choice,
                             std::size_t cudnn_version) {
    bool const is_barred = bar_on_split_keys != nullptr && may_split_keys(choice.knobs, cudnn_version);
    return is_barred ? std::string(bar_on_split_keys->summary) + " (" + bar_on_split_keys->id + ")" : "";
}

CudnnEngine::CudnnEngine(std::shared_ptr<LoweredWork const> work, std::shared_ptr<SharedEngine> engine)
    : work_(std::move(work)),
      engine_(std::move(engine)),
      info_(describe(engine_->config(), *work_->context)),
      reason_against_(reason_to_refuse(work_->bar_on_split_keys, engine_->config().choice,
                                       work_->context->device.api->get_version())) {}

Result<std::shared_ptr<plan::Executable const>> CudnnEngine::build() {
    auto compiled = engine_->compile(*work_->graph, work_->kernel_cache.get());
    if (compiled.is_bad()) return compiled.error();
    return std::shared_ptr<plan::Executable const>(
        std::make_shared<CudnnExecutable>(work_->context, std::move(compiled).value()));
}

LoadedEngine::LoadedEngine(Context const& context, EngineConfig const& config,
                           std::shared_ptr<CudnnExecutable const> executable)
    : info_(describe(config, context)), executable_(std::move(executable)) {
    info_.workspace_bytes = executable_->workspace_size();
}

}  // namespace cudnn_frontend::cudnn
