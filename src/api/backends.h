// The backends of this build, and the devices that they know; no other place knows them all.
#pragma once

#include "core/result.h"
#include "plan/seam/backend.h"

#include <cudnn_frontend/target.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::api {

// The backends, in the order in which their engines are tried.
plan::Backends const& backends();

// This library's kernels on streams, in a build without cuDNN, or a backend that says why there are none.
plan::Backend const* kernels_on_streams();

// Descriptions of devices in cuDNN's JSON. In a build without cuDNN's headers all functions return an error that says
// so.

// The description of the handle's device, or of the device with the ordinal.
Result<std::string> record_device(cudnnHandle_t handle, std::int32_t ordinal);
Result<std::string> find_device(std::string const& name);
Result<std::string> parse_device(std::string const& json);
std::vector<std::string> device_names();

// The error of everything that needs cuDNN, in a build without its headers.
error_t no_cudnn();

}  // namespace cudnn_frontend::api
