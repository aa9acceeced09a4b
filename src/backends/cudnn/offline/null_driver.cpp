#include "cudnn/offline/null_driver.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>

namespace cudnn_frontend::offline {
namespace {

constexpr char const* kDriverName = "libcuda.so.1";
constexpr char const* kMarker = "sdpa_graph_null_driver";

struct LoadedDriver {
    bool is_there = false;
    bool is_null = false;
    std::string path;
};

// The driver that the process has loaded; loads nothing.
LoadedDriver loaded_driver() {
    void* const handle = dlopen(kDriverName, RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) return {};
    LoadedDriver driver{true, dlsym(handle, kMarker) != nullptr, kDriverName};
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) driver.path = map->l_name;
    dlclose(handle);  // only drops the reference that dlopen() took above
    return driver;
}

// --- Opening the library from its bytes. Each function returns what went wrong, or an empty text.

std::string system_problem(char const* what) {
    return std::string(what) + ": " + std::system_category().message(errno);
}

std::string write_bytes(int file) {
    auto rest = null_driver_bytes();
    while (!rest.empty()) {
        ssize_t const count = write(file, rest.data(), rest.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return system_problem("writing it");
        rest = rest.subspan(static_cast<std::size_t>(count));
    }
    return {};
}

std::string open_library(std::string const& path) {
    return dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE) == nullptr ? dlerror() : "";
}

std::string open_from_memory() {
    int const file = memfd_create(kDriverName, MFD_CLOEXEC);
    if (file < 0) return system_problem("memfd_create()");
    std::string problem = write_bytes(file);
    if (problem.empty()) problem = open_library("/proc/self/fd/" + std::to_string(file));
    // Once loaded, the file stays open: the loader would mistake a later library with the same number for this one.
    if (!problem.empty()) close(file);
    return problem;
}

std::string open_from_file() {
    std::error_code ignored;
    std::string path = (std::filesystem::temp_directory_path(ignored) / "sdpa_graph_XXXXXX").string();
    int const file = mkstemp(path.data());
    if (file < 0) return system_problem(path.c_str());
    std::string problem = write_bytes(file);
    close(file);
    if (problem.empty()) problem = open_library(path);
    unlink(path.c_str());
    return problem;
}

error_t failed(std::string const& problem) {
    return {error_code_t::CUDA_API_FAILED,
            "the stand-in CUDA driver of offline planning could not be loaded: " + problem};
}

error_t refused(std::string const& path) {
    return {error_code_t::INVALID_CUDA_DEVICE,
            "the process has loaded a CUDA driver, " + path +
                ", and the stand-in driver of offline planning cannot work with another one; plan offline in a process "
                "of its own, before any CUDA call, or plan for the GPU itself with Target::cuda(handle)"};
}

}  // namespace

error_t load_null_driver() {
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    if (LoadedDriver const driver = loaded_driver(); driver.is_there) {
        return driver.is_null ? error_t() : refused(driver.path);
    }
    if (std::string const in_memory = open_from_memory(); !in_memory.empty()) {
        if (std::string const in_file = open_from_file(); !in_file.empty()) {
            return failed(in_memory + "; from a temporary file: " + in_file);
        }
    }
    return null_driver_is_loaded() ? error_t() : failed("the loader does not know it as " + std::string(kDriverName));
}

bool null_driver_is_loaded() { return loaded_driver().is_null; }

}  // namespace cudnn_frontend::offline
