#include "cudnn/library/engine_plan.h"

namespace cudnn_frontend::cudnn {

Result<std::shared_ptr<EnginePlan const>> EnginePlan::build(BackendConfig config, Device const* device,
                                                            Descriptor const* kernel_cache) {
    auto plan = std::make_shared<EnginePlan>();
    plan->plan_ = Descriptor(config.descriptor.api(), CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
                             "the plan of " + config.value.name);
    plan->plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config.descriptor);
    if (device != nullptr) plan->plan_.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device->descriptor());
    if (kernel_cache != nullptr) plan->plan_.set(CUDNN_ATTR_EXECUTION_PLAN_KERNEL_CACHE, *kernel_cache);
    SDPA_GRAPH_TRY(plan->plan_.finalize());
    auto const workspace = plan->plan_.read<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    if (workspace.is_bad()) return workspace.error();
    plan->workspace_bytes_ = workspace.value();
    plan->config_ = std::move(config.value);
    return std::shared_ptr<EnginePlan const>(std::move(plan));
}

// cuDNN 9.19 crashes if there is neither a handle nor a device.
Result<std::shared_ptr<EnginePlan const>> EnginePlan::load(Api const& api, EngineChoice choice, std::string const& json,
                                                           cudnnHandle_t handle, Device const* device) {
    if (handle == nullptr && device == nullptr) {
        return error_t(error_code_t::INVALID_VALUE, "loading a plan needs a cuDNN handle or a device description");
    }
    auto plan = std::make_shared<EnginePlan>();
    plan->plan_ = Descriptor(api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "the stored plan");
    plan->plan_.set_text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, json);
    if (device != nullptr) {
        plan->plan_.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device->descriptor());
    } else {
        plan->plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
    }
    SDPA_GRAPH_TRY(plan->plan_.finalize());
    auto const workspace = plan->plan_.read<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    if (workspace.is_bad()) return workspace.error();
    plan->workspace_bytes_ = workspace.value();
    auto const configs = plan->plan_.read_parts(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                                CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "engine config", 1);
    if (configs.is_good() && !configs.value().empty()) {
        auto config = describe(configs.value().front());
        if (config.is_good()) plan->config_ = std::move(config).value();
    }
    plan->config_.name = name_of(choice);
    plan->config_.choice = std::move(choice);
    return std::shared_ptr<EnginePlan const>(std::move(plan));
}

Result<std::string> EnginePlan::serialize() const {
    return plan_.read_text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
}

}  // namespace cudnn_frontend::cudnn
