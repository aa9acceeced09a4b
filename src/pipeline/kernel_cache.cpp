#include "pipeline/kernel_cache.h"

#include <utility>

namespace cudnn_frontend {

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
    return !impl_->parts.empty();
}

std::string KernelCache::describe() const {
    if (!impl_) return "kernel cache, moved from";
    std::lock_guard const lock(impl_->mutex);
    return "kernel cache of " + std::to_string(impl_->parts.size()) + " graphs";
}

}  // namespace cudnn_frontend
