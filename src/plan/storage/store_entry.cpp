#include "plan/storage/store_entry.h"

#include "core/process/logging.h"
#include "core/process/plan_store.h"

#include <cudnn_frontend/logging.h>

#include <cctype>

namespace cudnn_frontend::plan {
namespace {

void log(std::string const& text) {
    if (isLoggingEnabled()) core::log_line(text);
}

std::string as_name(std::string name) {
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.') letter = '-';
    return name;
}

}  // namespace

std::optional<StoreEntry> StoreEntry::of(std::string const& environment, std::string key) {
    auto const store = core::process::plan_store();
    if (store.folder.empty()) return std::nullopt;
    PlanFolder folder(std::filesystem::path(store.folder) / as_name(environment));
    return StoreEntry(std::move(folder), environment + "\n" + std::move(key), store.is_frozen);
}

std::optional<std::string> StoreEntry::read() const {
    auto bytes = folder_.read(key_);
    if (bytes.is_good()) return std::move(bytes).value();
    log(bytes.error().err_msg);
    return std::nullopt;
}

void StoreEntry::write(std::string_view bytes) const {
    if (is_frozen_) return;
    if (error_t const failure = folder_.write(key_, bytes); failure.is_bad()) log(failure.err_msg);
}

void StoreEntry::report(std::string const& why) const {
    log("plan store: '" + folder_.file_of(key_).string() + "' was not loaded: " + why);
}

}  // namespace cudnn_frontend::plan
