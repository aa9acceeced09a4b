// Descriptions of devices that plans can be made for without the device: the files devices/*.json, and others like
// them.
#pragma once

#include "core/result.h"

#include <span>
#include <string>
#include <string_view>

namespace cudnn_frontend::offline {

struct DeviceDescription {
    std::string name;        // "h200", or cuDNN's name of the device where the text was cuDNN's own
    std::string source;      // where the figures come from; empty where the text did not say
    std::string properties;  // cuDNN's JSON of the device
    int sm = 0;              // compute capability, 90 for 9.0
    int sm_count = 0;
};

// Those that come with the library, by name, ascending.
std::span<DeviceDescription const> known_devices();

// One of those; the case of letters does not matter.
Result<DeviceDescription> find_device(std::string_view name);

// Takes the text of a file of devices/, and cuDNN's own JSON. Hostile text is an error like any other.
Result<DeviceDescription> parse_device(std::string_view text);

// What a device said of itself, as a file for devices/ has it. Without a name it is that of the model.
Result<DeviceDescription> recorded_device(std::string_view properties, std::string_view name,
                                          std::string_view cudnn_version);

// "h100" for "NVIDIA H100 80GB HBM3": the words up to the first one with a digit, without the maker's.
std::string model_of(std::string_view device_name);

// The text of a file for devices/.
std::string to_json(DeviceDescription const& device);

}  // namespace cudnn_frontend::offline
