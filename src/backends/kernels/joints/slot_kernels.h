// The joints of slots as kernels: they are work on rows.
#pragma once

#include "kernels/launch/kernel.h"
#include "rewrite/program.h"

#include <concepts>
#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

template <class Joint>
concept IsOfSlots = std::same_as<Joint, rewrite::SlotTables> || std::same_as<Joint, rewrite::ClearPadding> ||
    std::same_as<Joint, rewrite::DocumentTables> || std::same_as<Joint, rewrite::DropoutMask>;

// Loads the result of Kernel::serialize() for the same joint and device, if there is one; else compiles.
template <IsOfSlots Joint>
Result<KernelPointer> slot_kernel(Joint const& joint, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::kernels
