#include "api/devices.h"

#include "api/without_cudnn/no_cudnn.h"

namespace cudnn_frontend::api {

Result<std::string> record_device(cudnnHandle_t, std::int32_t) { return no_cudnn(); }
Result<std::string> find_device(std::string const&) { return no_cudnn(); }
Result<std::string> parse_device(std::string const&) { return no_cudnn(); }
std::vector<std::string> device_names() { return {}; }

}  // namespace cudnn_frontend::api
