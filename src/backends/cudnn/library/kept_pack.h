// The pack of a plan's last run, kept because programs mostly run a plan on the same memory again: then the addresses
// need not be passed to cuDNN again.
#pragma once

#include "cudnn/library/descriptor.h"

#include <atomic>
#include <memory>
#include <vector>

namespace cudnn_frontend::cudnn {

// The addresses of one run, and cuDNN's descriptor of them.
struct ReadyPack {
    std::vector<void*> pointers;
    void* workspace = nullptr;
    Descriptor descriptor;
};

// Holds at most one pack. Threads that run the plan at once do not share it: the second makes its own.
class KeptPack {
   public:
    KeptPack() = default;
    KeptPack(KeptPack const&) = delete;
    KeptPack& operator=(KeptPack const&) = delete;
    ~KeptPack() { delete pack_.load(); }

    // Null if there is none, or another thread is using it.
    std::unique_ptr<ReadyPack> take() { return std::unique_ptr<ReadyPack>(pack_.exchange(nullptr)); }
    void keep(std::unique_ptr<ReadyPack> pack) { delete pack_.exchange(pack.release()); }

   private:
    std::atomic<ReadyPack*> pack_{nullptr};
};

}  // namespace cudnn_frontend::cudnn
