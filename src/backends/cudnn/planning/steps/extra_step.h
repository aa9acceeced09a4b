// Work of this library's own in a plan, before or after that of cuDNN's engine.
#pragma once

#include "cuda/cuda_graph.h"
#include "cudnn/passes/legal_graph.h"
#include "kernels/launch/kernel.h"
#include "plan/seam/backend.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::cudnn {

// Immutable, as the plan is. A launch has the pointers of the whole plan.
class ExtraStep {
   public:
    virtual ~ExtraStep() = default;

    virtual error_t launch(plan::Launch const& launch, CUstream stream) const = 0;
    // record() fills an empty CUDA graph; update() binds the nodes of such a graph to other memory.
    virtual error_t record(plan::Launch const& launch, CUgraph graph) const = 0;
    virtual error_t update(plan::Launch const& launch, CUgraph graph) const = 0;
    // Loads now rather than at the first launch.
    virtual error_t load() const { return {}; }
    // Compiled code, where it has any.
    virtual std::string serialize() const { return {}; }
};

// The error of a step that works on a tensor which runs have no pointer to.
inline error_t no_pointer(ir::Value const& value) {
    return {error_code_t::INVALID_VALUE,
            "runs have no pointer to tensor '" + value.name + "'; call set_output(true) on it if it is a result"};
}

using ExtraSteps = std::vector<std::shared_ptr<ExtraStep const>>;

// Zeros in results of which engines leave rows unwritten: dense results that were given offsets, which have no gaps.
// Null where there are none.
Result<std::shared_ptr<ExtraStep const>> clearing_of(LegalGraph const& graph, plan::PackLayout const& layout);

// The gradient of a sink, by a kernel of this library's after the engine, for a graph that has a separate gradient of
// it. Compiles the kernel, unless `stored` has what serialize() returned.
Result<std::shared_ptr<ExtraStep const>> sink_gradient_step(LegalGraph const& graph, plan::PackLayout const& layout,
                                                            kernels::DeviceFacts const& device,
                                                            std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::cudnn
