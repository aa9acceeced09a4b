// The whole API, and what programs written for it lean on: cuDNN's own header where there is one, and common std ones.
#pragma once

#if defined(__has_include)
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif
#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#endif

#include <cassert>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <variant>

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/pass_by_value.h>
