#include "cudnn/planning/shared_graph.h"

#include "plan/seam/kernel_cache.h"

#include <string>
#include <utility>

namespace cudnn_frontend::cudnn {
namespace {

class CudnnKernels final : public plan::KernelStore {
   public:
    static Result<std::shared_ptr<CudnnKernels const>> make(Descriptor const& operations, std::string const* text) {
        auto kernels = std::make_shared<CudnnKernels>();
        kernels->descriptor_ = Descriptor(operations.api(), CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR,
                                          text == nullptr ? "the kernel cache" : "the kernel cache that was read");
        kernels->descriptor_.set(CUDNN_ATTR_KERNEL_CACHE_OPERATION_GRAPH, operations);
        if (text != nullptr) kernels->descriptor_.set_text(CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, *text);
        SDPA_GRAPH_TRY(kernels->descriptor_.finalize());
        return std::shared_ptr<CudnnKernels const>(std::move(kernels));
    }

    Descriptor const& descriptor() const { return descriptor_; }
    Result<std::string> to_text() const override {
        return descriptor_.read_text(CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION);
    }

   private:
    Descriptor descriptor_;
};

// Kernels serve graphs of the very same sizes on the same device alone: cuDNN 9.14 and 9.19 also hand them to graphs of
// others, for which they write out of bounds.
std::string part_of(GraphKey const& key) {
    return key.device.device->json() + '\n' + std::to_string(key.sm_count) + '\n' + ir::to_text(key.legal_graph.graph);
}

}  // namespace

Result<std::shared_ptr<Descriptor const>> kernels_for(KernelCache& cache, SharedGraph const& graph) {
    KernelCache::Impl& held = *detail::Kernel_cache_access::impl(cache);
    std::lock_guard const lock(held.mutex);
    std::string const part = part_of(graph.key());
    auto known = held.parts.find(part);
    if (known == held.parts.end()) {
        auto const text = held.texts.find(part);
        auto made = CudnnKernels::make(graph.descriptor(), text == held.texts.end() ? nullptr : &text->second);
        if (made.is_bad()) return made.error();
        known = held.parts.emplace(part, std::move(made).value()).first;
        held.texts.erase(part);
    }
    auto const& kernels = static_cast<CudnnKernels const&>(*known->second);
    return std::shared_ptr<Descriptor const>(known->second, &kernels.descriptor());
}

}  // namespace cudnn_frontend::cudnn
