// Measured times of GPUs, by which plans are compared: a text for each model, devices/rates. Each backend reads the
// figures of its own.
#pragma once

#include <optional>
#include <string_view>

namespace cudnn_frontend::cuda {

// The text of a model such as h200; empty where it was not measured.
std::string_view rates_of_model(std::string_view model);

// The number behind the name in a line "name number"; nothing where there is none, or none above 0.
std::optional<double> read_rate(std::string_view rates, std::string_view name);

}  // namespace cudnn_frontend::cuda
