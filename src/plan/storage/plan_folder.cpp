#include "plan/storage/plan_folder.h"

#include "core/hash.h"
#include "core/text.h"
#include "plan/storage/open_file.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

namespace cudnn_frontend::plan {

namespace fs = std::filesystem;
using core::hash_of_bytes;
using core::text;

namespace {

constexpr char kFrozen[] = "frozen";
constexpr char kTextOfFrozen[] = "Nothing is written to this plan store: sdpa store, docs/plan-store.md.\n";

// The first bytes of a file. The key and the plan follow.
struct Header {
    std::array<char, 8> mark{'s', 'd', 'p', 'a', 'p', 'l', 'n', '1'};
    std::uint64_t key_bytes = 0, plan_bytes = 0, hash_of_plan = 0;
};

std::string place_of(fs::path const& file) { return text("plan store: '", file.string(), "'"); }

error_t miss(fs::path const& file, std::string const& why) {
    return {error_code_t::INVALID_VALUE, place_of(file) + " " + why};
}

struct NewFile {
    fs::path path;
    OpenFile file;
};

// A file next to the one of that name, which was not there. Processes of other containers and machines that share the
// folder may have the id of this one, and those that were killed leave their files.
NewFile create_new(fs::path const& file) {
    static constinit std::atomic<unsigned> count{0};
    while (true) {
        fs::path name = file;
        name += text(".", getpid(), ".", count.fetch_add(1), ".new");
        OpenFile made = OpenFile::create(name);
        if (made.is_open() || errno != EEXIST) return {std::move(name), std::move(made)};
    }
}

// Whether a file may be read that another user can have written.
enum class Trust { ThisUser, Anyone };

Result<StoredFile> read_file(fs::path const& path, Trust trust) {
    OpenFile const file = OpenFile::for_reading(path);
    if (!file.is_open()) return miss(path, "is not there, or cannot be read");
    if (trust == Trust::ThisUser) SDPA_GRAPH_TRY(file.check_trust(place_of(path)));
    std::uint64_t const size = file.size();
    Header const wanted;
    Header header;
    if (!file.read(&header, sizeof header) || header.mark != wanted.mark)
        return miss(path, "does not begin as a stored plan of this library does");
    bool const has_sizes = header.key_bytes <= size && header.plan_bytes <= size &&
                           sizeof header + header.key_bytes + header.plan_bytes == size;
    if (!has_sizes) return miss(path, "has another size than it says");
    StoredFile found{std::string(header.key_bytes, '\0'), std::string(header.plan_bytes, '\0')};
    if (!file.read(found.key.data(), found.key.size()) || !file.read(found.bytes.data(), found.bytes.size()))
        return miss(path, "ends early");
    if (hash_of_bytes(found.bytes) != header.hash_of_plan) return miss(path, "is damaged");
    return found;
}

// Each file in the folders of a store's environments. An error where the store cannot be read.
template <class Visit>
error_t for_each_file(fs::path const& store, Visit const& visit) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (fs::directory_iterator at(store, failure), end; !failure && at != end; at.increment(failure)) {
        std::error_code of_file;  // one that is no folder
        for (fs::directory_iterator file(at->path(), of_file), last; !of_file && file != last;
             file.increment(of_file)) {
            files.push_back(file->path());
        }
    }
    if (failure) {
        return {error_code_t::INVALID_VALUE,
                text("the plan store '", store.string(), "' cannot be read: ", failure.message(), "; name its folder")};
    }
    for (fs::path const& file : files) SDPA_GRAPH_TRY(visit(file));
    return {};
}

// Other programs have files of that name, too.
bool begins_as_stored_plan(fs::path const& path) {
    if (path.extension() != ".plan") return false;
    OpenFile const file = OpenFile::for_reading(path);
    Header const wanted;
    Header header;
    return file.is_open() && file.read(&header.mark, sizeof header.mark) && header.mark == wanted.mark;
}

// Longer than writing takes, and than the clocks of machines that share a store differ. A time that is further ahead is
// from before a clock was set back.
constexpr std::chrono::hours kMostDifference(1);

// The name that a file of create_new() has once it is finished; empty for other files.
fs::path finished_name(fs::path const& path) {
    fs::path name = path.filename().stem();
    for (int numbers = 0; numbers < 2; ++numbers) {
        std::string const number = name.extension().string();
        if (number.size() < 2 || number.find_first_not_of("0123456789", 1) != std::string::npos) return {};
        name = name.stem();
    }
    return name;
}

// Whether the process that made the file by create_new() ended while it wrote.
bool is_left_over(fs::path const& path) {
    std::error_code failure;
    auto const written = fs::last_write_time(path, failure), now = fs::file_time_type::clock::now();
    return !failure && path.extension() == ".new" &&
           (written < now - kMostDifference || written > now + kMostDifference);
}

// Marks of frozen stores are in the store's own folder.
void remove_unfinished_marks(fs::path const& store) {
    std::error_code failure, of_file;  // of a file that another process removed
    for (fs::directory_iterator at(store, failure), end; !failure && at != end; at.increment(failure)) {
        if (finished_name(at->path()) == kFrozen && is_left_over(at->path())) fs::remove(at->path(), of_file);
    }
}

// When the file was used last; the least time for one that was not used since the clock was set back.
fs::file_time_type last_use(fs::path const& path, std::error_code& failure) {
    auto const time = fs::last_write_time(path, failure), now = fs::file_time_type::clock::now();
    return time > now + kMostDifference ? fs::file_time_type::min() : time;
}

}  // namespace

std::error_code write_whole(fs::path const& path, std::initializer_list<std::string_view> parts) {
    auto const last_failure = [] { return std::error_code(errno == 0 ? EIO : errno, std::generic_category()); };
    std::error_code failure, ignored;
    fs::create_directories(path.parent_path(), ignored);
    errno = 0;
    NewFile made = create_new(path);
    if (!made.file.is_open()) return last_failure();
    if (!std::all_of(parts.begin(), parts.end(), [&](auto part) { return made.file.write(part); }))
        failure = last_failure();
    if (!made.file.close() && !failure) failure = last_failure();
    if (!failure) fs::rename(made.path, path, failure);
    if (failure) fs::remove(made.path, ignored);
    return failure;
}

fs::path PlanFolder::file_of(std::string const& key) const {
    std::array<char, 40> name{};
    auto const first = static_cast<unsigned long long>(hash_of_bytes(key));
    auto const second = static_cast<unsigned long long>(hash_of_bytes(key, ~std::uint64_t{0}));
    std::snprintf(name.data(), name.size(), "%016llx%016llx.plan", first, second);
    return folder_ / name.data();
}

Result<std::string> PlanFolder::read(std::string const& key) const {
    auto stored = read_file(file_of(key), Trust::ThisUser);
    if (stored.is_bad()) return stored.error();
    if (stored.value().key != key) return miss(file_of(key), "is the plan of another graph or environment");
    return std::move(stored).value().bytes;
}

error_t PlanFolder::write(std::string const& key, std::string_view bytes) const {
    Header header;
    header.key_bytes = key.size();
    header.plan_bytes = bytes.size();
    header.hash_of_plan = hash_of_bytes(bytes);
    std::string_view const first(reinterpret_cast<char const*>(&header), sizeof header);
    fs::path const path = file_of(key);
    std::error_code const failure = write_whole(path, {first, key, bytes});
    return failure ? miss(path, "could not be written: " + failure.message()) : error_t();
}

void PlanFolder::mark_used(std::string const& key) const {
    std::error_code ignored;
    fs::last_write_time(file_of(key), fs::file_time_type::clock::now(), ignored);
}

Result<std::int64_t> merge_stores(fs::path const& from, fs::path const& into) {
    SDPA_GRAPH_TRY(check_not_frozen(into));
    std::int64_t copied = 0;
    auto const copy = [&](fs::path const& path) -> error_t {
        if (!begins_as_stored_plan(path)) return {};
        auto const stored = read_file(path, Trust::Anyone);  // the caller names this store as one to trust
        fs::path const other = into / path.parent_path().filename() / path.filename();
        if (stored.is_bad() || read_file(other, Trust::ThisUser).is_good()) return {};
        PlanFolder const folder(other.parent_path());
        SDPA_GRAPH_TRY(folder.write(stored.value().key, stored.value().bytes));
        std::error_code ignored;
        fs::last_write_time(other, fs::last_write_time(path, ignored), ignored);  // when it was used last
        ++copied;
        return {};
    };
    SDPA_GRAPH_TRY(for_each_file(from, copy));
    return copied;
}

std::vector<std::string> keys_of_store(fs::path const& store, std::size_t most) {
    std::vector<std::string> keys;
    auto const note = [&](fs::path const& path) -> error_t {
        if (keys.size() >= most || !begins_as_stored_plan(path)) return {};
        auto stored = read_file(path, Trust::ThisUser);
        if (stored.is_good()) keys.push_back(std::move(stored).value().key);
        return {};
    };
    static_cast<void>(for_each_file(store, note));
    return keys;
}

Result<std::vector<StoredFile>> files_of_store(fs::path const& store, std::string_view ending) {
    std::vector<StoredFile> files;
    auto const note = [&](fs::path const& path) -> error_t {
        if (!path.parent_path().filename().string().ends_with(ending) || !begins_as_stored_plan(path)) return {};
        auto stored = read_file(path, Trust::ThisUser);
        bool const is_in_place = stored.is_good() && PlanFolder(path.parent_path()).file_of(stored.value().key) == path;
        if (is_in_place) files.push_back(std::move(stored).value());
        return {};
    };
    SDPA_GRAPH_TRY(for_each_file(store, note));
    return files;
}

Result<std::int64_t> prune_store(fs::path const& store, std::uintmax_t most_bytes) {
    SDPA_GRAPH_TRY(check_not_frozen(store));
    remove_unfinished_marks(store);
    struct UsedFile {
        fs::file_time_type when;
        fs::path path;
        std::uintmax_t bytes;
    };
    std::vector<UsedFile> files;
    auto const note = [&](fs::path const& path) -> error_t {
        std::error_code failure;  // of a file that another process removed
        if (finished_name(path).extension() == ".plan" && is_left_over(path)) fs::remove(path, failure);
        if (!begins_as_stored_plan(path)) return {};
        UsedFile file{last_use(path, failure), path, failure ? 0 : fs::file_size(path, failure)};
        if (!failure) files.push_back(std::move(file));
        return {};
    };
    SDPA_GRAPH_TRY(for_each_file(store, note));
    std::ranges::sort(files, std::greater(), &UsedFile::when);
    std::int64_t removed = 0;
    std::uintmax_t bytes = 0;
    for (UsedFile const& file : files) {
        bytes += file.bytes;
        std::error_code failure;
        if (bytes > most_bytes && fs::remove(file.path, failure) && !failure) ++removed;
    }
    return removed;
}

error_t freeze_store(fs::path const& store, bool is_frozen) {
    fs::path const mark = store / kFrozen;
    std::error_code failure;
    if (!fs::is_directory(store, failure))
        return {error_code_t::INVALID_VALUE, text("'", store.string(), "' is no folder; name that of a plan store")};
    if (is_frozen) failure = write_whole(mark, {kTextOfFrozen});
    else fs::remove(mark, failure);
    if (!failure) return {};
    return {
        error_code_t::INVALID_VALUE,
        text("the file '", mark.string(), "', which says that a plan store is frozen, cannot be ",
             is_frozen ? "written: " : "removed: ", failure.message(), "; do it as a user who may write the folder")};
}

bool is_store_frozen(fs::path const& store) {
    std::error_code failure;
    return fs::exists(store / kFrozen, failure);
}

error_t check_not_frozen(fs::path const& store) {
    if (!is_store_frozen(store)) return {};
    return {error_code_t::INVALID_VALUE,
            text("the plan store '", store.string(), "' is frozen; thaw it by sdpa store ", store.string(),
                 " freeze --undo, or by freeze_plan_store(folder, false)")};
}

}  // namespace cudnn_frontend::plan
