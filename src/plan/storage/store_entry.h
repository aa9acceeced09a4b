// Compiled engines and kernels in the plan store.
#pragma once

#include "plan/storage/plan_folder.h"

#include <optional>
#include <string>
#include <string_view>

namespace cudnn_frontend::plan {

// A key's place in the store. The key says all that the bytes depend on.
class StoreEntry {
   public:
    // In the folder of that name: one for each environment, so that those that are gone can be deleted. Nothing if the
    // process has no store.
    static std::optional<StoreEntry> of(std::string const& environment, std::string key);

    // Nothing if there are no whole bytes under exactly this key. The log says why.
    std::optional<std::string> read() const;
    // Unless the store is frozen. The log says if it fails: nothing depends on it.
    void write(std::string_view bytes) const;
    // Says that the bytes were whole, and yet of no use.
    void report(std::string const& why) const;

   private:
    StoreEntry(PlanFolder folder, std::string key, bool is_frozen)
        : folder_(std::move(folder)), key_(std::move(key)), is_frozen_(is_frozen) {}

    PlanFolder folder_;
    std::string key_;
    bool is_frozen_;
};

}  // namespace cudnn_frontend::plan
