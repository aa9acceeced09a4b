#include "plan/storage/store_entry.h"

#include "core/process/logging.h"
#include "core/process/plan_store.h"
#include "core/text.h"

#include <cudnn_frontend/logging.h>
#include <cudnn_frontend/version.h>

#include <cctype>

namespace cudnn_frontend::plan {
namespace {

void log(std::string const& text) {
    if (isLoggingEnabled()) core::log_line(text);
}

std::filesystem::path folder_of(core::process::PlanStore const& store, std::string const& environment) {
    return std::filesystem::path(store.folder) / folder_name(environment);
}

}  // namespace

std::string versioned_library() {
    return core::text("sdpa-graph ", SDPA_GRAPH_VERSION_MAJOR, ".", SDPA_GRAPH_VERSION_MINOR, ".",
                      SDPA_GRAPH_VERSION_PATCH);
}

std::string folder_name(std::string environment) {
    for (char& letter : environment)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.') letter = '-';
    return environment;
}

std::optional<StoreEntry> StoreEntry::of(std::vector<std::string> const& environments, std::string const& key) {
    auto const store = core::process::plan_store();
    if (store.folder.empty() || environments.empty()) return std::nullopt;
    std::vector<Place> places;
    places.reserve(environments.size());
    for (std::string const& environment : environments) {
        places.push_back({PlanFolder(folder_of(store, environment)), core::text(environment, "\n", key)});
    }
    return StoreEntry(std::move(places), store.is_frozen || is_store_frozen(store.folder));
}

bool StoreEntry::may_have_any(std::string const& environment) {
    auto const store = core::process::plan_store();
    std::error_code failure;
    return !store.folder.empty() && std::filesystem::exists(folder_of(store, environment), failure);
}

std::optional<StoreEntry::StoredBytes> StoreEntry::read() const {
    std::string reason;  // of the first place, in which it is written then
    for (auto const& [folder, key] : places_) {
        auto bytes = folder.read(key);
        if (bytes.is_bad()) {
            log(bytes.error().err_msg);
            if (reason.empty()) reason = bytes.error().err_msg;
            continue;
        }
        if (!is_frozen_) folder.mark_used(key);
        return StoredBytes{std::move(bytes).value(), folder.file_of(key)};
    }
    core::process::StoreWatch<core::process::StoreMiss>::note({places_.front().key, std::move(reason)});
    return std::nullopt;
}

void StoreEntry::write(std::string_view bytes) const {
    if (is_frozen_) return;
    auto const& [folder, key] = places_.front();
    error_t const failure = folder.write(key, bytes);
    if (failure.is_good()) return;
    log(failure.err_msg);
    core::process::StoreWatch<core::process::UnwrittenEntry>::note({failure.err_msg});
}

void StoreEntry::report(StoredBytes const& stored, std::string const& why) {
    log("plan store: '" + stored.file.string() + "' was not loaded: " + why);
}

}  // namespace cudnn_frontend::plan
