// A CUDA kernel of this library's own, compiled for one device and ready for tensors of one shape.
#pragma once

#include "core/dims.h"
#include "core/result.h"
#include "cuda/device_facts.h"
#include "cuda/module.h"

#include <cudnn_frontend/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace cudnn_frontend::kernels {

using cuda::DeviceFacts;
class Code;

// The most dims that a problem may have, without the dim of the parts.
inline constexpr std::size_t kMaxDims = 6;

// A tensor in the GPU's memory. Strides count elements, and may be any that are not negative.
struct Operand {
    DataType_t type = DataType_t::NOT_SET;  // BFLOAT16, HALF or FLOAT
    core::Dims dims, strides;

    friend bool operator==(Operand const&, Operand const&) = default;
};

// One address for each operand of the problem, in the order in which its struct has them. The address may be any
// multiple of the element's size; multiples of 16 bytes are fastest. Some kernels need them.
using Pointers = std::span<void* const>;

// Immutable: many threads may launch it at once, on streams of the device's.
class Kernel {
   public:
    virtual ~Kernel() = default;

    // Enqueues the work. May be called while the stream is captured, if load() was called before.
    virtual error_t launch(CUstream stream, Pointers pointers) const = 0;

    // The work as a node of a CUDA graph, in the thread's current context; update_node() binds the node to other
    // pointers, in its graph or in an instance of it.
    virtual Result<CUgraphNode> add_node(CUgraph graph, std::span<CUgraphNode const> after,
                                         Pointers pointers) const = 0;
    virtual error_t update_node(CUgraphNode node, Pointers pointers) const = 0;
    virtual error_t update_node(CUgraphNode node, CUgraphExec instance, Pointers pointers) const = 0;

    // Loads into the thread's current context everything that the first launch would load.
    virtual error_t load() const = 0;

    // The compiled code, from which load_merge() and similar functions make the kernel again without a compiler.
    virtual std::string serialize() const = 0;
    // The name of its source, whose functions differ by the work or by addresses.
    virtual std::string name() const = 0;
    virtual std::shared_ptr<Code const> const& code() const = 0;
};
using KernelPointer = std::shared_ptr<Kernel const>;

// An error if kernels cannot be compiled here: NVRTC is missing. Engines that need one are then not offered. Opens
// NVRTC.
error_t check_compiler();

}  // namespace cudnn_frontend::kernels
