#include <cudnn_frontend/backend_helpers.h>
#include <cudnn_frontend/runtime.h>

#include "api/backends.h"
#include "cpu/attention/kernels/kernel_choice.h"

namespace cudnn_frontend::runtime {

static error_t no_cudnn() { return {error_code_t::HANDLE_ERROR, api::no_cudnn().get_message()}; }

std::string describe() {
    return "cuDNN: none; " + api::no_cudnn().get_message() + "\n" + cpu::describe_kernels() + "\n";
}
std::size_t cudnn_version() { return 0; }
std::vector<Known_quirk> known_quirks(int) { return {}; }
std::string last_error() { return {}; }
error_t create_handle(cudnnHandle_t*) { return no_cudnn(); }
error_t destroy_handle(cudnnHandle_t) { return no_cudnn(); }
error_t set_stream(cudnnHandle_t, CUstream_st*) { return no_cudnn(); }
error_t get_stream(cudnnHandle_t, CUstream_st**) { return no_cudnn(); }

}  // namespace cudnn_frontend::runtime

namespace cudnn_frontend::api {

Result<std::string> record_device(cudnnHandle_t, std::int32_t) { return no_cudnn(); }
Result<std::string> find_device(std::string const&) { return no_cudnn(); }
Result<std::string> parse_device(std::string const&) { return no_cudnn(); }
std::vector<std::string> device_names() { return {}; }

}  // namespace cudnn_frontend::api

namespace cudnn_frontend::detail {

int backend_value(DataType_t) { return -1; }
int backend_value(PointwiseMode_t) { return -1; }
int backend_value(ReductionMode_t) { return -1; }
int backend_value(HeurMode_t) { return -1; }
int backend_value(KnobType_t) { return -1; }
int backend_value(BehaviorNote_t) { return -1; }
int backend_value(NumericalNote_t) { return -1; }

}  // namespace cudnn_frontend::detail
