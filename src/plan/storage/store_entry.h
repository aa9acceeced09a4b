// Compiled engines and kernels, and what was measured of them, in the plan store.
#pragma once

#include "plan/storage/plan_folder.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudnn_frontend::plan {

// The library with its version, such as "sdpa-graph 0.1.0": a part of every environment.
std::string versioned_library();

// The name of an environment's folder in a store.
std::string folder_name(std::string environment);

// A key's place in the store. The key says all that the bytes depend on.
class StoreEntry {
   public:
    // In the folder of the first environment, whose bytes those of the others may replace: one for each environment, so
    // that those that are gone can be deleted. Nothing if there is none, or the process has no store.
    static std::optional<StoreEntry> of(std::vector<std::string> const& environments, std::string const& key);

    // Whether the process's store may have entries of the environment, which is found out without a key.
    static bool may_have_any(std::string const& environment);

    struct StoredBytes {
        std::string bytes;
        std::filesystem::path file;
    };
    // Nothing if there are no whole bytes under exactly this key. The log says why.
    std::optional<StoredBytes> read() const;
    // Unless the store is frozen. The log and the thread's StoreWatch say if it fails: no plan depends on it.
    void write(std::string_view bytes) const;
    // Whether the process only reads the store.
    bool is_frozen() const { return is_frozen_; }
    // Says that the bytes were whole, and yet of no use.
    static void report(StoredBytes const& stored, std::string const& why);

   private:
    struct Place {
        PlanFolder folder;
        std::string key;
    };

    StoreEntry(std::vector<Place> places, bool is_frozen) : places_(std::move(places)), is_frozen_(is_frozen) {}

    std::vector<Place> places_;  // at least one
    bool is_frozen_;
};

}  // namespace cudnn_frontend::plan
