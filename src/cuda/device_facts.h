// The facts for which kernels are compiled, with which they are launched and by which they are compared, as a value: of
// a GPU that is here, or of a named one.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cudnn_frontend::cuda {

struct DeviceFacts {
    int compute_capability = 0;  // 90 for 9.0
    int multiprocessors = 0;
    std::string_view rates = {};  // its measured times (read_rate()); empty where it was not measured
};

Result<DeviceFacts> device_facts(int ordinal);

// Measured times of GPUs, by which plans are compared: a text for each model, devices/rates. Each backend reads the
// figures of its own.

// "h100" for "NVIDIA H100 80GB HBM3": the words up to the first one with a digit, without the vendor.
std::string model_of(std::string_view device_name);

// "12.8" for 12080, as drivers number the newest CUDA version that they run.
std::string driver_version_text(std::int64_t version);

// The text of a model such as h200; empty where it was not measured.
std::string_view rates_of_model(std::string_view model);

// The number behind the name in a line "name number"; nothing where there is none, or none above 0.
std::optional<double> read_rate(std::string_view rates, std::string_view name);

}  // namespace cudnn_frontend::cuda
