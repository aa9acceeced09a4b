#include "pipeline/kernel_cache.h"

namespace cudnn_frontend::inline v1 {

KernelCache::KernelCache() : impl_(std::make_shared<Impl>()) {}
KernelCache::KernelCache(KernelCache&&) noexcept = default;
KernelCache& KernelCache::operator=(KernelCache&&) noexcept = default;
KernelCache::~KernelCache() = default;

bool KernelCache::is_finalized() const {
    if (!impl_) return false;
    std::lock_guard const lock(impl_->mutex);
    return !impl_->parts.empty();
}

std::string KernelCache::describe() const {
    if (!impl_) return "kernel cache, moved from";
    std::lock_guard const lock(impl_->mutex);
    return "kernel cache of " + std::to_string(impl_->parts.size()) + " graphs";
}

}  // namespace cudnn_frontend::inline v1
