// The errors of Graph's stages when an earlier one is missing.
#pragma once

#include <cudnn_frontend/status.h>

namespace cudnn_frontend::api {

inline error_t missing_stage(error_code_t code, char const* call, char const* needed) {
    return {code,
            std::string(call) + " needs the result of " + needed + "; call that first, or build() for all stages"};
}

}  // namespace cudnn_frontend::api
