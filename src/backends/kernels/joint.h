// The joints of programs on a GPU as kernels: they combine partial results.
#pragma once

#include "cuda/device_facts.h"
#include "plan/backend.h"

#include <memory>
#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// `stored` is the result of serialize() by the executable of the same joint, if there is one.
Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, cuda::DeviceFacts const& facts,
                                                     std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::kernels
