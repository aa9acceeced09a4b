// Memory of the GPU, by the driver that is opened when it is first needed: the command links no CUDA.
#pragma once

#include "data/memory.h"

namespace sdpa {

// A function of the CUDA driver, which has a context in this thread then. Throws Failure where there is no driver.
void* driver_function(char const* name);

// Copies of a pack's tensors on the GPU of the current context, which creating a handle of cuDNN has made. Throws
// Failure.
class Gpu_copies {
   public:
    explicit Gpu_copies(Memories& memories, std::int64_t workspace_bytes);
    Gpu_copies(Gpu_copies const&) = delete;
    Gpu_copies& operator=(Gpu_copies const&) = delete;
    ~Gpu_copies();

    std::map<std::int64_t, void*> const& pack() const { return pack_; }
    void* workspace() const { return workspace_; }
    static void wait();
    void copy_back();

   private:
    void* allocate(std::size_t bytes);

    Memories& memories_;
    std::map<std::int64_t, void*> pack_;
    std::vector<void*> allocated_;
    void* workspace_ = nullptr;
};

}  // namespace sdpa
