#include "core/process/process_settings.h"

#include "core/process/environment.h"

#include <mutex>

namespace cudnn_frontend::core::process {

// Initialized before any code runs, since static objects of a program may build graphs.
constinit Setting<std::size_t> kept_bytes(environment::kept_bytes);
constinit Setting<bool> ignores_limits(environment::ignores_limits);
constinit Setting<bool> checks_indices(environment::checks_indices);
constinit Setting<std::optional<ShapePolicy_t>> shape_policy(environment::shape_policy);
constinit Setting<std::int64_t> replay_after(environment::replay_after);
constinit Setting<bool> verifies_first_runs(environment::verifies_first_runs);

namespace {

struct PackageFolders {
    std::mutex mutex;
    std::vector<std::string> folders;
};

// They are never destroyed: static objects of programs may open libraries when they are destroyed.
PackageFolders& said_folders() {
    static PackageFolders& said = *new PackageFolders;
    return said;
}

}  // namespace

std::vector<std::string> package_folders() {
    PackageFolders& said = said_folders();
    std::lock_guard const lock(said.mutex);
    return said.folders;
}

void set_package_folders(std::vector<std::string> const& folders) {
    PackageFolders& said = said_folders();
    std::lock_guard const lock(said.mutex);
    said.folders = folders;
}

}  // namespace cudnn_frontend::core::process
