// The content of a kernel cache as JSON text.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace cudnn_frontend::json {

struct StoredKernels {
    std::size_t cudnn_version = 0;             // 91900 for 9.19.0
    std::map<std::string, std::string> parts;  // cuDNN's own text, by graph and device
};

std::string write_kernels(StoredKernels const& kernels);

// Unknown members and values are errors, located by a JSON pointer.
Result<StoredKernels> read_kernels(std::string_view text);

}  // namespace cudnn_frontend::json
