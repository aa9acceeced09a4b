#include "plan/seam/kernel_cache.h"

#include "core/guard.h"
#include "json/graph_json.h"

#include <cudnn_frontend/runtime.h>

#include <utility>

namespace cudnn_frontend {
namespace {

// Kernels of another version could not be used, which the program should know.
error_t check_version(std::size_t version) {
    std::size_t const loaded = runtime::cudnn_version();
    if (loaded == version) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the kernels were made with version " + std::to_string(version) +
                                                   " of cuDNN; loaded is " +
                                                   (loaded == 0 ? "none" : "version " + std::to_string(loaded)) +
                                                   ", which cannot use them: start with an empty cache"};
}

}  // namespace

KernelCache::KernelCache() : impl_(new Impl) {}
KernelCache::KernelCache(KernelCache&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
KernelCache& KernelCache::operator=(KernelCache&& other) noexcept {
    KernelCache moved(std::move(other));
    std::swap(impl_, moved.impl_);
    return *this;
}
KernelCache::~KernelCache() { delete impl_; }

bool KernelCache::is_finalized() const {
    if (!impl_) return false;
    std::lock_guard const lock(impl_->mutex);
    return impl_->size() > 0;
}

std::string KernelCache::describe() const {
    if (!impl_) return "kernel cache, moved from";
    std::lock_guard const lock(impl_->mutex);
    return "kernel cache of " + std::to_string(impl_->size()) + " graphs";
}

error_t KernelCache::to_json(std::string& json) const {
    if (!impl_) return {error_code_t::INVALID_VALUE, "the kernel cache was moved from; store the one that it moved to"};
    return core::guarded([&]() -> error_t {
        std::lock_guard const lock(impl_->mutex);
        json::StoredKernels kernels{runtime::cudnn_version(), impl_->texts};
        for (auto const& [graph, store] : impl_->parts) {
            SDPA_GRAPH_TRY(store->to_text().move_to(kernels.parts[graph]));
        }
        json = json::write_kernels(kernels);
        return {};
    });
}

error_t KernelCache::from_json(std::string const& json) {
    return core::guarded([&]() -> error_t {
        auto kernels = json::read_kernels(json);
        if (kernels.is_bad()) return kernels.error();
        SDPA_GRAPH_TRY(check_version(kernels.value().cudnn_version));
        if (!impl_) impl_ = new Impl;
        std::lock_guard const lock(impl_->mutex);
        impl_->parts.clear();
        impl_->texts = std::move(kernels).value().parts;
        return {};
    });
}

}  // namespace cudnn_frontend
