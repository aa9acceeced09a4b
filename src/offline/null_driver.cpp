#include "offline/null_driver.h"

#include "offline/null_driver_bytes.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string>

namespace cudnn_frontend::inline v1::offline {
namespace {

constexpr char const* kDriverName = "libcuda.so.1";
constexpr char const* kMarker = "sdpa_graph_null_driver";

enum class Loaded { None, Real, Null };

Loaded loaded_driver() {
    void* const driver = dlopen(kDriverName, RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return Loaded::None;
    bool const is_null = dlsym(driver, kMarker) != nullptr;
    dlclose(driver);  // gives back this look's reference alone
    return is_null ? Loaded::Null : Loaded::Real;
}

error_t failed(std::string const& what) {
    return {error_code_t::CUDA_API_FAILED, "the stand-in CUDA driver of offline planning " + what};
}

// The loader knows the library by its own name from here on, so that cuDNN gets it when it asks for the driver.
error_t open_from_memory() {
    int const file = memfd_create(kDriverName, MFD_CLOEXEC);
    if (file < 0) return failed(std::string("needs memfd_create(), which failed: ") + std::strerror(errno));
    auto const bytes = null_driver_bytes();
    bool const is_written = write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    std::string const path = "/proc/self/fd/" + std::to_string(file);
    void* const driver = is_written ? dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) : nullptr;
    std::string const problem = driver == nullptr && is_written ? dlerror() : "its bytes could not be written";
    close(file);
    return driver == nullptr ? failed("could not be loaded: " + problem) : error_t();
}

}  // namespace

error_t load_null_driver() {
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    switch (loaded_driver()) {
        case Loaded::Null: return {};
        case Loaded::Real:
            return {error_code_t::INVALID_CUDA_DEVICE,
                    "the process has loaded the real CUDA driver, beside which the stand-in of offline planning cannot "
                    "work; plan offline in a process that makes no CUDA call, or plan for the GPU itself with "
                    "Target::cuda(handle)"};
        case Loaded::None: break;
    }
    return open_from_memory();
}

bool null_driver_is_loaded() { return loaded_driver() == Loaded::Null; }

}  // namespace cudnn_frontend::inline v1::offline
