// Descriptions of devices, for planning without the device:
// the files devices/*.json, and others like them.
#pragma once

#include "core/result.h"

#include <span>
#include <string>
#include <string_view>

namespace cudnn_frontend::offline {

struct DeviceDescription {
    std::string name;        // "h200", or cuDNN's name of the device if the text is cuDNN's own
    std::string source;      // where the figures come from; empty if the text does not say
    std::string properties;  // cuDNN's JSON of the device
    int sm = 0;              // compute capability, 90 for 9.0
    int sm_count = 0;
};

// The descriptions that come with the library, sorted by name.
std::span<DeviceDescription const> known_devices();

// The device of that name, in upper or lower case.
Result<DeviceDescription> find_device(std::string_view name);

// Accepts the text of a file of devices/, or cuDNN's own JSON. Any other text is an error, even hostile text.
Result<DeviceDescription> parse_device(std::string_view text);

// A description from a device's own properties, as files of devices/ have it. The default name is that of the model.
Result<DeviceDescription> recorded_device(std::string_view properties, std::string_view name,
                                          std::string_view cudnn_version);

// The text of a file for devices/.
std::string to_json(DeviceDescription const& device);

}  // namespace cudnn_frontend::offline
