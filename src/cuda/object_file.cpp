#include "cuda/shared_object.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace cudnn_frontend::cuda {
namespace {

namespace fs = std::filesystem;

template <class Record>
std::optional<Record> read_at(std::ifstream& file, std::uint64_t offset) {
    Record record;
    file.seekg(static_cast<std::streamoff>(offset));
    if (!file.read(reinterpret_cast<char*>(&record), sizeof record)) return std::nullopt;
    return record;
}

bool is_elf_64(Elf64_Ehdr const& header) {
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_phentsize == sizeof(Elf64_Phdr);
}

// The size that the file needs for its segments; the largest number if their table itself is cut off.
std::uint64_t bytes_needed(std::ifstream& file, Elf64_Ehdr const& header) {
    std::uint64_t needed = 0;
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        auto const segment = read_at<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr));
        if (!segment || segment->p_filesz > UINT64_MAX - segment->p_offset) return UINT64_MAX;
        if (segment->p_type == PT_LOAD) needed = std::max(needed, segment->p_offset + segment->p_filesz);
    }
    return needed;
}

char const* name_of(fs::file_type type) {
    switch (type) {
        case fs::file_type::directory: return "a folder";
        case fs::file_type::fifo: return "a named pipe";
        case fs::file_type::socket: return "a socket";
        case fs::file_type::block:
        case fs::file_type::character: return "a device";
        default: return "something else";
    }
}

}  // namespace

std::string problem_of_kind(std::string const& path) {
    std::error_code ignored;
    fs::file_status const status = fs::status(path, ignored);
    if (!fs::exists(status) || fs::is_regular_file(status)) return "";
    return std::string("it is ") + name_of(status.type()) + ", not a file";
}

std::string problem_of_object_file(std::string const& path) {
    if (std::string problem = problem_of_kind(path); !problem.empty()) return problem;
    std::ifstream file(path, std::ios::binary);
    auto const header = read_at<Elf64_Ehdr>(file, 0);
    if (!header || !is_elf_64(*header)) return "";
    std::error_code unknown;
    std::uint64_t const size = fs::file_size(path, unknown);
    if (unknown || bytes_needed(file, *header) <= size) return "";
    return "it is cut off after " + std::to_string(size) + " bytes; install it again";
}

}  // namespace cudnn_frontend::cuda
