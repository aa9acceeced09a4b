#include "offline/devices.h"

#include <algorithm>

namespace cudnn_frontend::inline v1::offline {

static constexpr KnownDevice kDevices[] = {
#include "device_table.inc"
};

std::span<KnownDevice const> known_devices() { return kDevices; }

static bool is_same(std::string_view a, std::string_view b) {
    auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

Result<std::string> find_device(std::string_view name) {
    std::string names;
    for (KnownDevice const& device : kDevices) {
        if (is_same(device.name, name)) return std::string(device.json);
        names += (names.empty() ? "" : ", ") + std::string(device.name);
    }
    return error_t(error_code_t::INVALID_CUDA_DEVICE, "no device description is called '" + std::string(name) +
                                                          "'; there are " + names +
                                                          ", and DeviceProperties::from_json() takes others");
}

}  // namespace cudnn_frontend::inline v1::offline
