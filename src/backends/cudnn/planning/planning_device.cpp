#include "cudnn/planning/planning_device.h"

#include "core/process/kept_objects.h"
#include "core/text.h"
#include "cuda/device_facts.h"
#include "cuda/driver.h"
#include "cudnn/library/device.h"
#include "cudnn/library/library.h"
#include "cudnn/offline/null_driver.h"
#include "plan/storage/store_entry.h"

#include "cudnn/offline/devices.h"

#include <cstddef>
#include <functional>
#include <utility>

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

// Devices that cuDNN described once: that takes it up to a millisecond. A live one has a handle and the device that was
// current, a described one its text.
struct DeviceKey {
    Api const* api = nullptr;
    cudnnHandle_t handle = nullptr;
    int current = 0;
    std::string json;

    friend bool operator==(DeviceKey const&, DeviceKey const&) = default;
};
struct KnownDevice {
    DeviceKey key;
    PlanningDevice device;
};
struct KnownDeviceKind {
    using Key = DeviceKey;
    using Object = KnownDevice const;
    static constexpr char const* kName = "devices";
    static Key const& key_of(Object const& known) { return known.key; }
    static bool is_same(Key const& a, Key const& b) { return a == b; }
    static std::size_t bytes_of(Object const& known) {
        return sizeof(KnownDevice) + known.key.json.size() + known.device.device->json().size();
    }
};
using KnownDevices = core::process::KeptObjects<KnownDeviceKind>;

std::size_t hash_of(DeviceKey const& key) {
    return std::hash<std::string>()(key.json) ^ std::hash<cudnnHandle_t>()(key.handle);
}

template <class Ask>
Result<PlanningDevice> find_or_ask(DeviceKey const& key, Ask const& ask) {
    auto const make = [&]() -> Result<std::shared_ptr<KnownDevice const>> {
        auto device = ask();
        if (device.is_bad()) return device.error();
        return std::make_shared<KnownDevice const>(KnownDevice{key, std::move(device).value()});
    };
    auto const found = KnownDevices::of_process().find_or_make(hash_of(key), key, make);
    if (found.is_bad()) return found.error();
    return found.value().object->device;
}

Result<PlanningDevice> live_device(cudnnHandle_t handle, std::int32_t ordinal) {
    if (offline::null_driver_is_loaded()) return needs_real_driver();
    SDPA_GRAPH_TRY(cuda::check_driver());
    auto const api = loaded_api();
    if (api.is_bad()) return api.error();
    auto device =
        handle == nullptr ? Device::from_id(*api.value(), ordinal) : Device::from_handle(*api.value(), handle);
    if (device.is_bad()) return device.error();
    return PlanningDevice{api.value(), std::move(device).value(), true};
}

Result<PlanningDevice> device_with(DeviceProperties const& properties, bool is_live) {
    SDPA_GRAPH_TRY(properties.status());
    auto const api = loaded_api();
    if (api.is_bad()) return api.error();
    DeviceKey const key{api.value(), nullptr, 0, properties.to_json()};
    auto found = find_or_ask(key, [&]() -> Result<PlanningDevice> {
        auto device = Device::from_json(*key.api, key.json);
        if (device.is_bad()) return device.error();
        return PlanningDevice{key.api, std::move(device).value()};
    });
    if (found.is_good()) found.value().is_live = is_live;
    return found;
}

Result<PlanningDevice> described_device(DeviceProperties const& properties) {
    SDPA_GRAPH_TRY(properties.status());
    SDPA_GRAPH_TRY(offline::load_null_driver());
    return device_with(properties, false);
}

// Existing programs plan without a handle on machines with a GPU and without: the properties say for which device.
Result<PlanningDevice> described_or_live_device(DeviceProperties const& properties) {
    bool const has_gpu = !offline::null_driver_is_loaded() && cuda::may_have_gpu() && cuda::check_driver().is_good();
    return has_gpu ? device_with(properties, true) : described_device(properties);
}

}  // namespace

// Where there is only one GPU, every handle belongs to it.
static bool is_of_only_gpu(Target const& target, DeviceProperties const* properties) {
    bool const is_live = target.kind() == Target::Kind::CUDA && (target.handle() != nullptr || properties == nullptr);
    if (!is_live || offline::null_driver_is_loaded()) return false;
    auto const count = cuda::device_count();
    return count.is_good() && count.value() == 1;
}

// A handle belongs to the device that was current when it was made, and is used where that is current again. So another
// handle with its address belongs to the same device, and one that belongs to another device is asked each time.
static Result<PlanningDevice> known_live_device(cudnnHandle_t handle) {
    auto const current = handle == nullptr ? Result(0) : cuda::device_of(nullptr);
    auto const ask = [&] { return live_device(handle, 0); };
    if (current.is_bad() || offline::null_driver_is_loaded()) return ask();
    DeviceKey const key{nullptr, handle, current.value(), {}};
    auto found = find_or_ask(key, ask);
    bool const may_stay = found.is_bad() || found.value().device->ordinal() == current.value();
    if (!may_stay) KnownDevices::of_process().forget(hash_of(key), [&](auto const& known) { return known.key == key; });
    return found;
}

Result<PlanningDevice> find_planning_device(Target const& target, DeviceProperties const* properties) {
    if (target.kind() == Target::Kind::OFFLINE) {
        if (target.device() == nullptr) return error_t(error_code_t::INVALID_VALUE, "the offline target has no device");
        return described_device(*target.device());
    }
    if (target.handle() == nullptr && properties != nullptr) return described_or_live_device(*properties);
    // The handle of a kept graph may be gone.
    return known_live_device(is_of_only_gpu(target, properties) ? nullptr : target.handle());
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
