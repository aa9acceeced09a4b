#include "api/gpu_memory.h"

#include "cuda/device_facts.h"
#include "cuda/driver.h"

namespace cudnn_frontend::api {

error_t wait_for_gpu() {
    return cuda::ask("waiting for the GPU", [](cuda::Driver const& driver) { return driver.wait_for_context(); });
}

error_t read_gpu(std::span<std::byte> to, void const* from) { return cuda::download(to, from); }

Result<int> current_gpu() { return cuda::device_of(nullptr); }

// A driver that is not loaded yet stays so, since planning offline may follow.
std::string driver_version() {
    if (!cuda::may_have_gpu()) return {};
    int version = 0;
    error_t const error = cuda::ask("asking for the driver's version",
                                    [&](cuda::Driver const& driver) { return driver.get_version(&version); });
    return error.is_bad() ? std::string() : cuda::driver_version_text(version);
}

}  // namespace cudnn_frontend::api
