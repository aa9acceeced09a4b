// null_driver_process CASE [FILE]: loads the null driver in a process that is prepared according to the case, and
// prints the result.
#include "cudnn/offline/null_driver.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

using namespace cudnn_frontend;

static bool memory_files_are_refused = false;

// Replaces the C library's function in this program.
extern "C" int memfd_create(char const* name, unsigned flags) noexcept {
    if (!memory_files_are_refused) return static_cast<int>(syscall(SYS_memfd_create, name, flags));
    errno = ENOSYS;
    return -1;
}

static void print_driver() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    bool const is_null = driver != nullptr && dlsym(driver, "sdpa_graph_null_driver") != nullptr;
    std::cout << "driver: "
              << (driver == nullptr ? "none"
                  : is_null         ? "null"
                                    : "other")
              << ", null_driver_is_loaded: " << offline::null_driver_is_loaded() << "\n";
}

int main(int count, char** words) {
    std::string const what = count > 1 ? words[1] : "";
    std::string const file = count > 2 ? words[2] : "";
    if (what == "beside") {
        if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) std::cout << dlerror() << "\n";
    } else if (what == "without_memory_files") {
        memory_files_are_refused = true;
        setenv("TMPDIR", file.c_str(), 1);
    }
    print_driver();
    std::cout << "load: " << offline::load_null_driver() << "\n";
    print_driver();
    if (what == "without_memory_files" && std::filesystem::is_directory(file)) {
        std::cout << "files left: " << !std::filesystem::is_empty(file) << "\n";
    }
}
