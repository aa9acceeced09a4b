#include <cudnn_frontend/backend_helpers.h>
#include <cudnn_frontend/runtime.h>

#include "api/backends.h"
#include "core/guard.h"
#include "cpu/attention/kernels/kernel_choice.h"
#include "cuda/nvrtc.h"
#include "cudnn/library/api.h"
#include "cudnn/library/backend_enums.h"
#include "cudnn/library/library.h"
#include "cudnn/planning/planning_device.h"
#include "cudnn/quirks/quirk.h"

namespace cudnn_frontend::runtime {
namespace {

// Calls a function of cuDNN, or returns why there is no cuDNN.
template <class Call>
error_t with_api(char const* what, Call call) {
    return core::guarded([&]() -> error_t {
        cudnn::Library const& library = cudnn::library();
        if (library.api == nullptr) return library.error;
        cudnnStatus_t const status = call(*library.api);
        if (status == CUDNN_STATUS_SUCCESS) return {};
        return cudnn::backend_error(*library.api, status, what, error_code_t::HANDLE_ERROR);
    });
}

}  // namespace

std::string describe() {
    // NVRTC comes first: the report opens cuDNN's, which would then count as loaded by the program.
    std::string const compiler = cuda::describe_nvrtc() + "\n";
    return cudnn::full_report(cudnn::library()).to_text() + compiler + cpu::describe_kernels() + "\n";
}

std::size_t cudnn_version() {
    cudnn::Library const& library = cudnn::library();
    return library.api == nullptr ? 0 : library.api->get_version();
}

std::vector<Known_quirk> known_quirks(int compute_capability) {
    quirks::Capabilities const here{cudnn_version(), compute_capability};
    std::vector<Known_quirk> known;
    for (quirks::Quirk const& quirk : quirks::quirks()) {
        bool const is_limit = quirk.verdict == quirks::Verdict::Refuse;
        bool const is_new = known.empty() || known.back().id != quirk.id;  // rows of one id follow each other
        if (here.cudnn_version != 0 && is_limit && is_new && quirk.is_in_force(here))
            known.push_back({quirk.id, quirks::to_text(quirk.evidence), quirk.summary});
    }
    return known;
}

std::string last_error() {
    return core::guarded_or([](error_t const&) { return std::string(); },
                            [] {
                                cudnn::Library const& library = cudnn::library();
                                return library.api == nullptr ? std::string() : cudnn::last_error_text(*library.api);
                            });
}

error_t create_handle(cudnnHandle_t* handle) {
    return with_api("creating a cuDNN handle", [&](cudnn::Api const& api) { return api.create(handle); });
}
error_t destroy_handle(cudnnHandle_t handle) {
    return with_api("destroying a cuDNN handle", [&](cudnn::Api const& api) { return api.destroy(handle); });
}
error_t set_stream(cudnnHandle_t handle, CUstream_st* stream) {
    return with_api("setting the handle's stream",
                    [&](cudnn::Api const& api) { return api.set_stream(handle, stream); });
}
error_t get_stream(cudnnHandle_t handle, CUstream_st** stream) {
    return with_api("querying the handle's stream",
                    [&](cudnn::Api const& api) { return api.get_stream(handle, stream); });
}

}  // namespace cudnn_frontend::runtime

namespace cudnn_frontend::api {

Result<std::string> record_device(cudnnHandle_t handle, std::int32_t ordinal) {
    return cudnn::record_device(handle, ordinal);
}
Result<std::string> find_device(std::string const& name) { return cudnn::find_device(name); }
Result<std::string> parse_device(std::string const& json) { return cudnn::parse_device(json); }
std::vector<std::string> device_names() { return cudnn::device_names(); }

}  // namespace cudnn_frontend::api

namespace cudnn_frontend::detail {

template <class Enum>
static int value_of(Enum value) {
    auto const known = cudnn::to_backend(value);
    return known ? static_cast<int>(*known) : -1;
}

int backend_value(DataType_t value) { return value_of(value); }
int backend_value(PointwiseMode_t value) { return value_of(value); }
int backend_value(ReductionMode_t value) { return value_of(value); }
int backend_value(HeurMode_t value) { return value_of(value); }
int backend_value(KnobType_t value) { return value_of(value); }
int backend_value(BehaviorNote_t value) { return value_of(value); }
int backend_value(NumericalNote_t value) { return value_of(value); }

}  // namespace cudnn_frontend::detail
