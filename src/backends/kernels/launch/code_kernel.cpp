#include "kernels/launch/code_kernel.h"

#include "core/findings.h"
#include "cuda/nvrtc.h"

#include <cstdint>

namespace cudnn_frontend::kernels {
namespace {

constexpr int kOldestCapability = 80;

}  // namespace

error_t check_compiler() { return cuda::nvrtc().error(); }

error_t check_pointers(std::string const& kernel, std::vector<Parameter> const& parameters, Pointers pointers) {
    auto const fault = [&](std::string found, std::string needed) {
        return core::error_at(kernel, error_code_t::INVALID_VARIANT_PACK, std::move(found), std::move(needed));
    };
    if (pointers.size() != parameters.size()) {
        return fault(std::to_string(pointers.size()) + " pointers",
                     "one for each of its " + std::to_string(parameters.size()) + " operands");
    }
    for (std::size_t i = 0; i < pointers.size(); ++i) {
        auto const& [name, alignment] = parameters[i];
        if (pointers[i] == nullptr) return fault("a null pointer to " + name, "GPU memory");
        if (reinterpret_cast<std::uintptr_t>(pointers[i]) % alignment == 0) continue;
        return fault("an unaligned pointer to " + name,
                     "a multiple of its elements' " + std::to_string(alignment) + " bytes");
    }
    return {};
}

error_t check_device(std::string const& kernel, DeviceFacts const& device) {
    if (device.compute_capability >= kOldestCapability) return {};
    return core::error_at(kernel, error_code_t::GRAPH_NOT_SUPPORTED,
                          "compute capability " + std::to_string(device.compute_capability / 10) + "." +
                              std::to_string(device.compute_capability % 10),
                          "8.0 or newer");
}

}  // namespace cudnn_frontend::kernels
