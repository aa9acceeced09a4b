// The plan store of the process, and how its threads came by what they ran.
#pragma once

#include <cstdint>
#include <string>

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

// Keeps the last miss of this thread while it lives.
class StoreMissWatch {
   public:
    explicit StoreMissWatch(StoreMiss& miss);
    ~StoreMissWatch();
    StoreMissWatch(StoreMissWatch const&) = delete;
    StoreMissWatch& operator=(StoreMissWatch const&) = delete;

   private:
    StoreMiss* outer_;  // that of another watch, which goes on afterwards
};
void note_store_miss(StoreMiss miss);

// Keeps the reason why this thread could not write an entry to the store, the last one, while it lives.
class StoreWriteWatch {
   public:
    explicit StoreWriteWatch(std::string& reason);
    ~StoreWriteWatch();
    StoreWriteWatch(StoreWriteWatch const&) = delete;
    StoreWriteWatch& operator=(StoreWriteWatch const&) = delete;

   private:
    std::string* outer_;  // that of another watch, which goes on afterwards
};
void note_unwritten_entry(std::string reason);

}  // namespace cudnn_frontend::core::process
