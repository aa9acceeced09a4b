// The joints of slots as kernels: they are work on rows.
#pragma once

#include "kernels/launch/kernel.h"
#include "rewrite/program.h"

#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// Loads the result of Kernel::serialize() for the same joint and device, if there is one; else compiles.
Result<KernelPointer> slot_kernel(rewrite::SlotTables const& tables, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);
Result<KernelPointer> slot_kernel(rewrite::ClearPadding const& padding, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);
Result<KernelPointer> slot_kernel(rewrite::DocumentTables const& tables, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);
Result<KernelPointer> slot_kernel(rewrite::DropoutMask const& mask, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::kernels
