#include "data/gpu_memory.h"

#include <dlfcn.h>

namespace sdpa {
namespace {

// The functions of the CUDA driver that copies need, with the types of CUDA's headers: an error is an int, an address
// on the GPU an integer of 64 bits.
struct Driver {
    int (*initialize)(unsigned) = nullptr;
    int (*get_current)(void**) = nullptr;
    int (*retain_primary)(void**, int) = nullptr;
    int (*set_current)(void*) = nullptr;
    int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
    int (*release)(std::uint64_t) = nullptr;
    int (*to_device)(std::uint64_t, void const*, std::size_t) = nullptr;
    int (*to_host)(void*, std::uint64_t, std::size_t) = nullptr;
    int (*wait)() = nullptr;
    void* context = nullptr;  // of the process's first thread that came here
};

void* library() {
    static void* const opened = dlopen("libcuda.so.1", RTLD_NOW);
    if (opened == nullptr) throw Failure(std::string("no CUDA driver: ") + dlerror());
    return opened;
}

template <class Function>
void find(char const* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library(), name));
    if (function == nullptr) throw Failure(std::string("libcuda.so.1 has no function ") + name);
}

void require(int status, char const* what) {
    if (status != 0) throw Failure(std::string(what) + " failed: CUDA error " + std::to_string(status));
}

Driver const& driver() {
    static Driver const opened = [] {
        Driver made;
        find("cuInit", made.initialize);
        find("cuCtxGetCurrent", made.get_current);
        find("cuDevicePrimaryCtxRetain", made.retain_primary);
        find("cuCtxSetCurrent", made.set_current);
        find("cuMemAlloc_v2", made.allocate);
        find("cuMemFree_v2", made.release);
        find("cuMemcpyHtoD_v2", made.to_device);
        find("cuMemcpyDtoH_v2", made.to_host);
        find("cuCtxSynchronize", made.wait);
        require(made.initialize(0), "cuInit");
        require(made.get_current(&made.context), "cuCtxGetCurrent");
        if (made.context == nullptr) require(made.retain_primary(&made.context, 0), "cuDevicePrimaryCtxRetain");
        return made;
    }();
    void* current = nullptr;
    require(opened.get_current(&current), "cuCtxGetCurrent");
    if (current == nullptr) require(opened.set_current(opened.context), "cuCtxSetCurrent");
    return opened;
}

std::uint64_t address(void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

void* driver_function(char const* name) {
    driver();
    void* function = nullptr;
    find(name, function);
    return function;
}

Gpu_copies::Gpu_copies(Memories& memories, std::int64_t workspace_bytes) : memories_(memories) {
    for (auto& [uid, memory] : memories) {
        if (memory.is_by_value) {
            pack_[uid] = memory.bytes.data();
            continue;
        }
        pack_[uid] = allocate(memory.bytes.size());
        require(driver().to_device(address(pack_[uid]), memory.bytes.data(), memory.bytes.size()),
                "copying to the GPU");
    }
    if (workspace_bytes > 0) workspace_ = allocate(static_cast<std::size_t>(workspace_bytes));
    wait();
}

Gpu_copies::~Gpu_copies() {
    for (void* const pointer : allocated_) driver().release(address(pointer));
}

void* Gpu_copies::allocate(std::size_t bytes) {
    std::uint64_t pointer = 0;
    require(driver().allocate(&pointer, bytes), "allocating memory of the GPU");
    allocated_.push_back(reinterpret_cast<void*>(pointer));
    return allocated_.back();
}

void Gpu_copies::wait() { require(driver().wait(), "running on the GPU"); }

void Gpu_copies::copy_back() {
    for (auto& [uid, memory] : memories_) {
        if (!memory.is_by_value && memory.is_output)
            require(driver().to_host(memory.bytes.data(), address(pack_.at(uid)), memory.bytes.size()),
                    "copying from the GPU");
    }
}

}  // namespace sdpa
