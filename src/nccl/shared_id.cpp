// An id that travels through a file.
#include "core/text.h"
#include "group/group_rules.h"
#include "nccl/nccl_transport.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

namespace cudnn_frontend::nccl {
namespace {

namespace fs = std::filesystem;
namespace rules = group::rules;

// Whole or not at all: readers see the file under its name once it has all bytes.
error_t write(std::string const& path, UniqueId const& id) {
    std::error_code error;
    if (fs::exists(path, error)) {
        return rules::violation(rules::kSize, path + ", which is there already", "a file that does not exist",
                                "remove the file of an earlier group, or use another name for each");
    }
    std::string const unfinished = path + ".new";
    std::ofstream(unfinished, std::ios::binary).write(id.bytes, sizeof(id.bytes));
    fs::rename(unfinished, path, error);
    if (!error) return {};
    return rules::violation(rules::kSize, path + ": " + error.message(), "a file that rank 0 can write",
                            "use a folder that all ranks can reach");
}

bool read(std::string const& path, UniqueId& id) {
    std::ifstream file(path, std::ios::binary);
    file.read(id.bytes, sizeof(id.bytes));
    return file.gcount() == sizeof(id.bytes);
}

}  // namespace

error_t share_id(std::string const& path, int rank, group::Milliseconds deadline, UniqueId& id) {
    if (rank == 0) return write(path, id);
    auto const end = std::chrono::steady_clock::now() + deadline;
    while (!read(path, id)) {
        if (std::chrono::steady_clock::now() >= end) {
            return rules::violation(
                rules::kInTime,
                core::text("rank ", rank, " waited ", static_cast<std::int64_t>(deadline.count()), " ms for ", path),
                "the id of the group, which rank 0 writes there", "look for the error of rank 0");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {};
}

}  // namespace cudnn_frontend::nccl
