// The global name that headers of the existing frontend give to nlohmann::json, where that library is at hand and
// CUDNN_FRONTEND_SKIP_JSON_LIB does not leave it out. Only headers that forward to <cudnn_frontend.h> include this one:
// compiling the library takes a second.
#pragma once

#if !defined(CUDNN_FRONTEND_SKIP_JSON_LIB) && defined(__has_include)
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>

using json = nlohmann::json;
#endif
#endif
