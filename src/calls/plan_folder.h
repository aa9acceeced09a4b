// Plans in the files of one folder.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sdpa_graph::calls {

// Safe from many threads and processes: a file is written under another name, and renamed once it is whole.
class PlanFolder {
   public:
    explicit PlanFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // The bytes that were written under exactly this key. The error says why there are none.
    cudnn_frontend::Result<std::vector<std::uint8_t>> read(std::string const& key) const;
    // Replaces what was there. What was there stays if that fails.
    cudnn_frontend::error_t write(std::string const& key, std::vector<std::uint8_t> const& bytes) const;

    std::filesystem::path file_of(std::string const& key) const;

   private:
    std::filesystem::path folder_;
};

}  // namespace sdpa_graph::calls
