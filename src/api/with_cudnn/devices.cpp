#include "api/devices.h"

#include "cudnn/planning/planning_device.h"

namespace cudnn_frontend::api {

Result<std::string> record_device(cudnnHandle_t handle, std::int32_t ordinal) {
    return cudnn::record_device(handle, ordinal);
}
Result<std::string> find_device(std::string const& name) { return cudnn::find_device(name); }
Result<std::string> parse_device(std::string const& json) { return cudnn::parse_device(json); }
std::vector<std::string> device_names() { return cudnn::device_names(); }

}  // namespace cudnn_frontend::api
