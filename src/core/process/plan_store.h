// The plan store of the process, and how its threads came by what they ran.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cudnn_frontend::core::process {

struct PlanStore {
    std::string folder;  // empty: no store
    bool is_frozen = false;
    std::string wanted = {};  // the folder that lists the graphs which were not there; empty: none
};

// The program's, else the environment's at the time when it was first needed.
PlanStore plan_store();
void set_plan_store(PlanStore const& store);

// How many engines of backends, and how many of the library's own kernels, this thread compiled or read from the store.
struct EngineCounts {
    std::int64_t compiled = 0, loaded = 0;
    std::int64_t compiled_kernels = 0, loaded_kernels = 0;

    std::int64_t compiled_in_all() const { return compiled + compiled_kernels; }
    std::int64_t loaded_in_all() const { return loaded + loaded_kernels; }
};
EngineCounts& engine_counts_of_thread();

// An entry that the store did not have, with its whole key; empty texts: none was missed.
struct StoreMiss {
    std::string key, reason;
};

// Why an entry could not be written to the store; empty: all were.
struct UnwrittenEntry {
    std::string reason;
};

// Keeps the last of these that this thread notes while the watch lives.
template <class Noted>
class StoreWatch {
   public:
    explicit StoreWatch(Noted& kept) : outer_(std::exchange(watched_, &kept)) {}
    ~StoreWatch() { watched_ = outer_; }
    StoreWatch(StoreWatch const&) = delete;
    StoreWatch& operator=(StoreWatch const&) = delete;

    static void note(Noted noted) {
        if (watched_ != nullptr) *watched_ = std::move(noted);
    }

   private:
    inline static thread_local Noted* watched_ = nullptr;
    Noted* outer_;  // that of another watch, which goes on afterwards
};

}  // namespace cudnn_frontend::core::process
