// Descriptions of devices that plans can be made for without the device, as cuDNN words them: devices/*.json.
#pragma once

#include "core/result.h"

#include <span>
#include <string>
#include <string_view>

namespace cudnn_frontend::inline v1::offline {

struct KnownDevice {
    char const* name;
    char const* json;
};

std::span<KnownDevice const> known_devices();  // by name, ascending
Result<std::string> find_device(std::string_view name);

}  // namespace cudnn_frontend::inline v1::offline
