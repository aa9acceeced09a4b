#include "cudnn/planning/planning_device.h"

#include "core/text.h"
#include "cuda/device_facts.h"
#include "cuda/driver.h"
#include "cudnn/library/device.h"
#include "cudnn/library/library.h"
#include "cudnn/offline/null_driver.h"
#include "plan/storage/store_entry.h"

#include "cudnn/offline/devices.h"

#include <mutex>
#include <optional>

namespace cudnn_frontend::cudnn {
namespace {

Result<Api const*> loaded_api() {
    Library const& library = cudnn::library();
    if (library.api == nullptr) return library.error;
    return library.api;
}

error_t needs_real_driver() {
    return {error_code_t::CUDA_API_FAILED,
            "this process plans offline, with a stand-in for the CUDA driver, so it cannot use a GPU; plan offline in "
            "a process of its own"};
}

Result<PlanningDevice> live(Api const& api, Result<std::shared_ptr<Device const>> device) {
    if (device.is_bad()) return device.error();
    return PlanningDevice{&api, std::move(device).value(), true};
}

Result<PlanningDevice> live_device(cudnnHandle_t handle, std::int32_t ordinal) {
    if (offline::null_driver_is_loaded()) return needs_real_driver();
    SDPA_GRAPH_TRY(cuda::check_driver());
    auto const api = loaded_api();
    if (api.is_bad()) return api.error();
    return live(*api.value(),
                handle == nullptr ? Device::from_id(*api.value(), ordinal) : Device::from_handle(*api.value(), handle));
}

Result<PlanningDevice> described_device(DeviceProperties const& properties) {
    SDPA_GRAPH_TRY(properties.status());
    SDPA_GRAPH_TRY(offline::load_null_driver());
    auto const api = loaded_api();
    if (api.is_bad()) return api.error();
    auto device = Device::from_json(*api.value(), properties.to_json());
    if (device.is_bad()) return device.error();
    return PlanningDevice{api.value(), std::move(device).value(), false};
}

// Existing programs plan without a handle on machines with a GPU and without: the properties say for which device.
Result<PlanningDevice> described_or_live_device(DeviceProperties const& properties) {
    bool const has_gpu = !offline::null_driver_is_loaded() && cuda::may_have_gpu() && cuda::check_driver().is_good();
    if (!has_gpu) return described_device(properties);
    SDPA_GRAPH_TRY(properties.status());
    auto const api = loaded_api();
    if (api.is_bad()) return api.error();
    return live(*api.value(), Device::from_json(*api.value(), properties.to_json()));
}

}  // namespace

// Where there is only one GPU, every handle belongs to it.
static bool is_of_only_gpu(Target const& target, DeviceProperties const* properties) {
    bool const is_live = target.kind() == Target::Kind::CUDA && (target.handle() != nullptr || properties == nullptr);
    if (!is_live || offline::null_driver_is_loaded()) return false;
    auto const count = cuda::device_count();
    return count.is_good() && count.value() == 1;
}

// cuDNN is asked once: that takes it up to a millisecond, and the handle of a kept graph may be gone by the next time.
static Result<PlanningDevice> only_gpu(Target const& target) {
    static std::mutex asking;
    static std::optional<PlanningDevice>& known = *new std::optional<PlanningDevice>();  // programs may still plan
    std::lock_guard const lock(asking);
    if (!known) {
        auto found = live_device(target.handle(), 0);
        if (found.is_bad()) return found.error();
        known = std::move(found).value();
    }
    return *known;
}

Result<PlanningDevice> find_planning_device(Target const& target, DeviceProperties const* properties) {
    if (target.kind() == Target::Kind::OFFLINE) {
        if (target.device() == nullptr) return error_t(error_code_t::INVALID_VALUE, "the offline target has no device");
        return described_device(*target.device());
    }
    if (target.handle() == nullptr && properties != nullptr) return described_or_live_device(*properties);
    return is_of_only_gpu(target, properties) ? only_gpu(target) : live_device(target.handle(), 0);
}

Result<cuda::DeviceFacts> facts_of(Device const& device) {
    cuda::DeviceFacts const facts{device.sm(), device.multiprocessors(),
                                  cuda::rates_of_model(cuda::model_of(device.name()))};
    if (facts.multiprocessors > 0) return facts;
    return error_t(error_code_t::INVALID_VALUE,
                   "the description of " + device.name() + " has no multiProcessorCount, which kernels are sized by");
}

static std::string environment_with(PlanningDevice const& device, std::string const& driver) {
    return core::text(plan::versioned_library(), ", cuDNN ", device.api->get_version(), ", ", driver, ", ",
                      device.device->name(), ", ", device.device->multiprocessors(), " multiprocessors");
}

std::vector<std::string> environments_of(PlanningDevice const& device) {
    std::string const offline = environment_with(device, "planned offline");
    if (!device.is_live) return {offline};
    auto const names = cuda::names_of(device.device->ordinal());
    if (names.is_bad()) return {};
    return {environment_with(device, core::text("driver for CUDA ", names.value().driver_major)), offline};
}

Result<std::string> identity_of_device(Target const& target, DeviceProperties const* properties) {
    bool const is_described = target.kind() == Target::Kind::OFFLINE && target.device() != nullptr;
    if (is_described) {
        SDPA_GRAPH_TRY(target.device()->status());
        return "described " + target.device()->to_json();
    }
    if (is_of_only_gpu(target, properties)) return std::string("the only GPU");
    auto const found = find_planning_device(target, properties);
    if (found.is_bad()) return found.error();
    return (found.value().is_live ? "live " : "planned ") + found.value().device->json();
}

Result<std::string> record_device(cudnnHandle_t handle, std::int32_t ordinal) {
    auto const found = live_device(handle, ordinal);
    if (found.is_bad()) return found.error();
    Device const& device = *found.value().device;
    auto const bus_width = cuda::memory_bus_width(device.ordinal());
    if (bus_width.is_bad()) return bus_width.error();
    return with_bus_width(device.json(), bus_width.value());
}

static Result<std::string> properties_of(Result<offline::DeviceDescription> device) {
    if (device.is_bad()) return device.error();
    return std::move(device).value().properties;
}

Result<std::string> find_device(std::string const& name) { return properties_of(offline::find_device(name)); }
Result<std::string> parse_device(std::string const& json) { return properties_of(offline::parse_device(json)); }

std::vector<std::string> device_names() {
    std::vector<std::string> names;
    for (auto const& device : offline::known_devices()) names.push_back(device.name);
    return names;
}

}  // namespace cudnn_frontend::cudnn
