#include "plan/storage/plan_folder.h"

#include "core/hash.h"
#include "core/text.h"

#include <unistd.h>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace cudnn_frontend::plan {

namespace fs = std::filesystem;
using core::hash_of_bytes;
using core::text;

namespace {

// The first bytes of a file. The key and the plan follow.
struct Header {
    std::array<char, 8> mark{'s', 'd', 'p', 'a', 'p', 'l', 'n', '1'};
    std::uint64_t key_bytes = 0, plan_bytes = 0, hash_of_plan = 0;
};

error_t miss(fs::path const& file, std::string const& why) {
    return {error_code_t::INVALID_VALUE, text("plan store: '", file.string(), "' ", why)};
}

bool read_bytes(std::ifstream& file, void* to, std::uint64_t count) {
    file.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
    return static_cast<std::uint64_t>(file.gcount()) == count;
}

// A name that no other thread or process uses.
fs::path unused_name(fs::path const& file) {
    static constinit std::atomic<unsigned> count{0};
    fs::path name = file;
    name += text(".", getpid(), ".", count.fetch_add(1), ".new");
    return name;
}

bool write_all(fs::path const& path, Header const& header, std::string const& key, std::string_view plan) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<char const*>(&header), sizeof header);
    file.write(key.data(), static_cast<std::streamsize>(key.size()));
    file.write(plan.data(), static_cast<std::streamsize>(plan.size()));
    file.close();
    return file.good();
}

}  // namespace

fs::path PlanFolder::file_of(std::string const& key) const {
    std::array<char, 40> name{};
    auto const first = static_cast<unsigned long long>(hash_of_bytes(key));
    auto const second = static_cast<unsigned long long>(hash_of_bytes(key, ~std::uint64_t{0}));
    std::snprintf(name.data(), name.size(), "%016llx%016llx.plan", first, second);
    return folder_ / name.data();
}

Result<std::string> PlanFolder::read(std::string const& key) const {
    fs::path const path = file_of(key);
    std::error_code failure;
    std::uint64_t const size = fs::file_size(path, failure);
    std::ifstream file(path, std::ios::binary);
    if (failure || !file) return miss(path, "is not there, or cannot be read");
    Header const wanted;
    Header header;
    if (!read_bytes(file, &header, sizeof header) || header.mark != wanted.mark)
        return miss(path, "does not begin as a stored plan of this library does");
    bool const has_sizes = header.key_bytes <= size && header.plan_bytes <= size &&
                           sizeof header + header.key_bytes + header.plan_bytes == size;
    if (!has_sizes) return miss(path, "has another size than it says");
    std::string found(header.key_bytes, '\0');
    std::string plan(header.plan_bytes, '\0');
    if (!read_bytes(file, found.data(), found.size()) || !read_bytes(file, plan.data(), plan.size()))
        return miss(path, "ends early");
    if (found != key) return miss(path, "is the plan of another graph or environment");
    if (hash_of_bytes(plan) != header.hash_of_plan) return miss(path, "is damaged");
    return plan;
}

error_t PlanFolder::write(std::string const& key, std::string_view bytes) const {
    fs::path const path = file_of(key), unfinished = unused_name(path);
    std::error_code failure;
    fs::create_directories(folder_, failure);
    Header header;
    header.key_bytes = key.size();
    header.plan_bytes = bytes.size();
    header.hash_of_plan = hash_of_bytes(bytes);
    bool const is_written = !failure && write_all(unfinished, header, key, bytes);
    if (is_written) fs::rename(unfinished, path, failure);
    if (is_written && !failure) return {};
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    return miss(path, "could not be written");
}

}  // namespace cudnn_frontend::plan
