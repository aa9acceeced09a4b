#include "api/backends.h"
#include "core/guard.h"

#include <utility>

namespace cudnn_frontend {
namespace {

error_t empty() {
    return {error_code_t::ATTRIBUTE_NOT_SET,
            "the device properties are empty; call build() on a machine with the device, deserialize() what was stored "
            "there, or start from DeviceProperties::named()"};
}

}  // namespace

DeviceProperties::DeviceProperties() : status_(empty()) {}
DeviceProperties::DeviceProperties(DeviceProperties&&) noexcept = default;
DeviceProperties& DeviceProperties::operator=(DeviceProperties&&) noexcept = default;
DeviceProperties::~DeviceProperties() = default;

error_t DeviceProperties::adopt(std::string const& text) {
    json_.clear();
    status_ = core::guarded([&] { return api::parse_device(text).move_to(json_); });
    return status_;
}

DeviceProperties DeviceProperties::named(std::string const& name) {
    DeviceProperties properties;
    properties.status_ = core::guarded([&] { return api::find_device(name).move_to(properties.json_); });
    return properties;
}

DeviceProperties DeviceProperties::from_json(std::string const& json) {
    DeviceProperties properties;
    static_cast<void>(properties.adopt(json));  // kept as the status
    return properties;
}

std::vector<std::string> DeviceProperties::names() { return api::device_names(); }

DeviceProperties& DeviceProperties::set_device_id(std::int32_t id) {
    device_id_ = id;
    return *this;
}

DeviceProperties& DeviceProperties::set_handle(cudnnHandle_t handle) {
    handle_ = handle;
    return *this;
}

error_t DeviceProperties::build() {
    status_ = core::guarded([&] { return api::record_device(handle_, device_id_).move_to(json_); });
    return status_;
}

error_t DeviceProperties::serialize(std::vector<std::uint8_t>& bytes) const {
    if (status_.is_good()) bytes.assign(json_.begin(), json_.end());
    return status_;
}

error_t DeviceProperties::deserialize(std::vector<std::uint8_t> const& bytes) {
    return adopt(std::string(bytes.begin(), bytes.end()));
}

std::string DeviceProperties::describe() const { return status_.is_good() ? json_ : status_.err_msg; }

}  // namespace cudnn_frontend
