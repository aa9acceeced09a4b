// Compiled plans and kernels in the files of one folder.
#pragma once

#include "core/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace cudnn_frontend::plan {

// Safe from many threads and processes: a file is written under another name, and renamed once it is whole.
class PlanFolder {
   public:
    explicit PlanFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // The bytes that were written under exactly this key. The error says why there are none.
    Result<std::string> read(std::string const& key) const;
    // Replaces what was there. What was there stays if that fails.
    error_t write(std::string const& key, std::string_view bytes) const;

    std::filesystem::path file_of(std::string const& key) const;

   private:
    std::filesystem::path folder_;
};

}  // namespace cudnn_frontend::plan
