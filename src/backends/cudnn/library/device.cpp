#include "cudnn/library/device.h"

#include <charconv>
#include <string_view>

namespace cudnn_frontend::cudnn {
namespace {

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
    device->name_ = device_member(device->json_, "deviceName");
    device->ordinal_ = number(device_member(device->json_, "cudaDeviceId"));
    device->multiprocessors_ = number(device_member(device->json_, "multiProcessorCount"));
    device->sm_ = number(device_member(device->json_, "deviceVer")) / 10;
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

}  // namespace cudnn_frontend::cudnn
