// Compiled plans and kernels in the files of one folder.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace cudnn_frontend::plan {

// Writes a file, in a folder that is made if it is not there, under a name that no other thread or process uses, and
// renames it, so that readers find whole files alone. Only its owner can write it. Where that fails, the one before it
// stays, and the result says why.
std::error_code write_whole(std::filesystem::path const& path, std::initializer_list<std::string_view> parts);

// The content of a file. The key says all that the bytes depend on.
struct StoredFile {
    std::string key, bytes;
};

// Safe from many threads and processes.
class PlanFolder {
   public:
    explicit PlanFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // The bytes that were written under exactly this key, by this user or root: they are code. The error says why there
    // are none.
    Result<std::string> read(std::string const& key) const;
    // Replaces what was there. What was there stays if that fails.
    error_t write(std::string const& key, std::string_view bytes) const;
    // Makes it the file that was used last, for prune_store().
    void mark_used(std::string const& key) const;

    std::filesystem::path file_of(std::string const& key) const;

   private:
    std::filesystem::path folder_;
};

// All files of a store, with the folders of its environments. Each returns how many files it copied or removed.

// Copies the whole files that the other store lacks, also those that other users have written.
Result<std::int64_t> merge_stores(std::filesystem::path const& from, std::filesystem::path const& into);
// The keys of whole files, of so many at most; none where the store cannot be read.
std::vector<std::string> keys_of_store(std::filesystem::path const& store, std::size_t most);
// The whole files that have the names of their keys, in the folders of environments whose names end so.
Result<std::vector<StoredFile>> files_of_store(std::filesystem::path const& store, std::string_view ending);
// Removes the files that were used least recently, until the others have at most so many bytes. Not of a frozen store,
// into which nothing is merged either.
Result<std::int64_t> prune_store(std::filesystem::path const& store, std::uintmax_t most_bytes);

// A frozen store has a file that says so: processes only read it.
error_t freeze_store(std::filesystem::path const& store, bool is_frozen);
bool is_store_frozen(std::filesystem::path const& store);
error_t check_not_frozen(std::filesystem::path const& store);

}  // namespace cudnn_frontend::plan
