// The backend's status codes as errors.
#pragma once

#include "core/result.h"
#include "cudnn/library/api.h"

#include <string>

namespace cudnn_frontend::cudnn {

// The backend's own explanation of this thread's last failure; reading clears it. The causes become one line; if
// several engines refused, each with its own cause.
std::string last_error_text(Api const& api);

// "<what> failed: CUDNN_STATUS_X: <explanation>". Call it right after the failure.
error_t backend_error(Api const& api, cudnnStatus_t status, std::string const& what,
                      error_code_t code = error_code_t::CUDNN_BACKEND_API_FAILED);

std::string version_text(std::size_t version);  // 91900 -> 9.19.0

}  // namespace cudnn_frontend::cudnn
