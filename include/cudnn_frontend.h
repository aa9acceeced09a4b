// The whole API, and the headers that programs written for it rely on: cuDNN's and CUDA's own headers where they are
// installed, and the standard headers that came with it.
#pragma once

#if defined(__has_include)
#if __has_include(<cudnn.h>) && __has_include(<cuda_runtime_api.h>)  // cudnn.h includes it
#include <cudnn.h>
#define SDPA_GRAPH_HAS_CUDNN_HEADER
#endif
#if __has_include(<cuda_runtime.h>)
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif
#endif

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "cudnn_frontend/backend_helpers.h"
#include "cudnn_frontend/checks.h"
#include "cudnn_frontend/exceptions.h"
#include "cudnn_frontend/fp8.h"
#include "cudnn_frontend/graph.h"
#include "cudnn_frontend/names_only.h"
#include "cudnn_frontend/pass_by_value.h"
#include "cudnn_frontend/process.h"
#include "cudnn_frontend/resized_plan.h"
#include "cudnn_frontend/score_modifiers.h"
#include "cudnn_frontend/stored_plan.h"

#if defined(NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING)
namespace cudnn_frontend {
// Programs that load cuDNN themselves define it. This library locates cuDNN itself and does not read it.
extern void* cudnn_dlhandle;
}
#endif
