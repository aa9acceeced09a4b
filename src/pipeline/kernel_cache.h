// The parts of a KernelCache: one object of the backend for each op graph and device.
#pragma once

#include <cudnn_frontend/planning.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace cudnn_frontend {

struct KernelCache::Impl {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<void const>> parts;  // descriptors of the backend
};

namespace detail {

struct Kernel_cache_access {
    // Null of a cache that was moved from.
    static KernelCache::Impl* impl(KernelCache& cache) { return cache.impl_; }
};

}  // namespace detail
}  // namespace cudnn_frontend
