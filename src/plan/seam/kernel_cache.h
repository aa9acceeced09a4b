// The parts of a KernelCache: one object of the backend for each op graph and device.
#pragma once

#include "core/result.h"

#include <cudnn_frontend/planning.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace cudnn_frontend {

namespace plan {

// A backend's part for one op graph and device.
class KernelStore {
   public:
    KernelStore() = default;
    KernelStore(KernelStore const&) = delete;
    KernelStore& operator=(KernelStore const&) = delete;
    virtual ~KernelStore() = default;

    virtual Result<std::string> to_text() const = 0;
};

}  // namespace plan

struct KernelCache::Impl {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<plan::KernelStore const>> parts;
    std::map<std::string, std::string> texts;  // read by from_json(), for graphs that were not built yet

    std::size_t size() const { return parts.size() + texts.size(); }
};

namespace detail {

struct Kernel_cache_access {
    // Null for a cache that was moved from.
    static KernelCache::Impl* impl(KernelCache& cache) { return cache.impl_; }
};

}  // namespace detail
}  // namespace cudnn_frontend
