#include "cudnn/offline/devices.h"

#include "core/immortal.h"

#include <algorithm>
#include <vector>

namespace cudnn_frontend::offline {
namespace {

constexpr std::string_view kTexts[] = {
#include "device_texts.inc"
};

std::vector<DeviceDescription> read_known_devices() {
    std::vector<DeviceDescription> devices;
    for (std::string_view const text : kTexts) {
        if (auto device = parse_device(text); device.is_good()) devices.push_back(std::move(device).value());
    }
    return devices;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_same(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

}  // namespace

std::span<DeviceDescription const> known_devices() {
    static core::Immortal<std::vector<DeviceDescription>> const devices(read_known_devices());
    return *devices;
}

Result<DeviceDescription> find_device(std::string_view name) {
    std::string names;
    for (DeviceDescription const& device : known_devices()) {
        if (is_same(device.name, name)) return device;
        names += (names.empty() ? "" : ", ") + device.name;
    }
    return error_t(error_code_t::INVALID_CUDA_DEVICE, "no device description is called '" + std::string(name) +
                                                          "'; there are " + names +
                                                          ", and DeviceProperties::from_json() reads others");
}

}  // namespace cudnn_frontend::offline
