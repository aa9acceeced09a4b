#include "plan_store_option.h"

#include "command.h"

#include <sdpa_graph/plan_store.h>

#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sdpa {
namespace {

namespace fs = std::filesystem;

void need_unfrozen(sdpa_graph::Plan_store const& store) {
    if (store.is_frozen)
        throw Failure("SDPA_GRAPH_PLAN_STORE_FROZEN", "that nothing is written to '" + store.folder + "'",
                      "a plan store that may be written", "--store with another folder, or unset this variable");
    if (sdpa_graph::is_plan_store_frozen(store.folder))
        throw Failure("the plan store '" + store.folder + "' is frozen; thaw it by sdpa store " + store.folder +
                      " freeze --undo");
}

// Finds out by writing a file.
void need_writable(std::string const& folder) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    std::string trial = (fs::path(folder) / "trial-XXXXXX").string();
    int const descriptor = mkstemp(trial.data());
    if (descriptor < 0)
        throw Failure(folder, std::string("no folder in which a file can be made (") + std::strerror(errno) + ")",
                      "a plan store that can be written");
    close(descriptor);
    fs::remove(trial, ignored);
}

}  // namespace

std::string choose_plan_store(std::string const& folder) {
    sdpa_graph::Plan_store store = sdpa_graph::plan_store();
    if (!folder.empty()) store = {folder, false, store.wanted};
    if (store.folder.empty()) return {};
    need_unfrozen(store);
    need_writable(store.folder);
    sdpa_graph::set_plan_store(store);
    return store.folder;
}

}  // namespace sdpa
