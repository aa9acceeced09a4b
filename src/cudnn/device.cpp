#include "cudnn/device.h"

#include <charconv>
#include <string_view>

namespace cudnn_frontend::cudnn {
namespace {

// The text of a member of the description, a flat object without escapes; empty where there is none.
std::string_view member(std::string_view json, std::string_view key) {
    std::string const quoted = "\"" + std::string(key) + "\":";
    auto const at = json.find(quoted);
    if (at == std::string_view::npos) return {};
    std::string_view value = json.substr(at + quoted.size());
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    if (value.starts_with('"')) return value.substr(1, value.find('"', 1) - 1);
    return value.substr(0, value.find_first_of(",}"));
}

int number(std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

Descriptor make(Api const& api) { return {api, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the device description"}; }

}  // namespace

Result<std::shared_ptr<Device const>> Device::finish(Descriptor descriptor) {
    SDPA_GRAPH_TRY(descriptor.finalize());
    auto json = descriptor.read_text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
    if (json.is_bad()) return json.error();
    auto device = std::make_shared<Device>();
    device->json_ = std::move(json).value();
    device->name_ = member(device->json_, "deviceName");
    device->ordinal_ = number(member(device->json_, "cudaDeviceId"));
    device->sm_ = number(member(device->json_, "deviceVer")) / 10;
    device->descriptor_ = std::move(descriptor);
    return std::shared_ptr<Device const>(std::move(device));
}

Result<std::shared_ptr<Device const>> Device::from_handle(Api const& api, cudnnHandle_t handle) {
    Descriptor descriptor = make(api);
    descriptor.set(CUDNN_ATTR_DEVICEPROP_HANDLE, handle);
    return finish(std::move(descriptor));
}

Result<std::shared_ptr<Device const>> Device::from_id(Api const& api, std::int32_t id) {
    Descriptor descriptor = make(api);
    descriptor.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, id);
    return finish(std::move(descriptor));
}

Result<std::shared_ptr<Device const>> Device::from_json(Api const& api, std::string const& json) {
    Descriptor descriptor = make(api);
    descriptor.set_text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json);
    return finish(std::move(descriptor));
}

std::string device_kind(std::string const& json) {
    std::string kind;
    for (char const* key : {"deviceName", "deviceVer", "multiProcessorCount", "maxSharedMemoryPerBlockOptin"}) {
        kind += (kind.empty() ? "" : ", ") + std::string(key) + " " + std::string(member(json, key));
    }
    return kind;
}

}  // namespace cudnn_frontend::cudnn
