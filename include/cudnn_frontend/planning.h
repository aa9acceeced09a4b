// Planning: devices, knobs of engines, caches of compiled kernels.
#pragma once

#include "status.h"
#include "types.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct cudnnContext;
typedef struct cudnnContext* cudnnHandle_t;

namespace cudnn_frontend {

namespace detail {
struct Kernel_cache_access;
}

// A device as cuDNN describes it. Plans can be made for a description without such a device.
class SDPA_GRAPH_API DeviceProperties {
   public:
    DeviceProperties();
    DeviceProperties(DeviceProperties&&) noexcept;
    DeviceProperties& operator=(DeviceProperties&&) noexcept;
    ~DeviceProperties();

    // A description that comes with the library ("h200"), or JSON as to_json() gives it. Check status().
    static DeviceProperties named(std::string const& name);
    static DeviceProperties from_json(std::string const& json);
    // The names that named() knows.
    static std::vector<std::string> names();

    // Describes a device of this machine: choose it, then build().
    DeviceProperties& set_device_id(std::int32_t id);
    DeviceProperties& set_handle(cudnnHandle_t handle);
    error_t build();

    error_t serialize(std::vector<std::uint8_t>& bytes) const;
    error_t deserialize(std::vector<std::uint8_t> const& bytes);

    error_t status() const { return status_; }  // not OK before a description is there
    std::string const& to_json() const { return json_; }
    std::string describe() const;  // one line

   private:
    error_t adopt(std::string const& text);

    std::string json_;
    std::int32_t device_id_ = 0;
    cudnnHandle_t handle_ = nullptr;
    error_t status_;
};

// A setting of an engine and its range.
class Knob {
   public:
    Knob(KnobType_t knob_type, std::int64_t maximum, std::int64_t minimum, std::int64_t step)
        : type(knob_type), maxValue(maximum), minValue(minimum), stride(step) {}

    KnobType_t type;
    std::int64_t maxValue;
    std::int64_t minValue;
    std::int64_t stride;
};

// Compiled kernels that graphs with dynamic shapes share: pass one object to many graphs. Only graphs of equal sizes
// share kernels: cuDNN would also give them to others, for which they compute wrong results.
class SDPA_GRAPH_API KernelCache {
   public:
    KernelCache();
    KernelCache(KernelCache&&) noexcept;
    KernelCache& operator=(KernelCache&&) noexcept;
    ~KernelCache();

    std::string describe() const;
    bool is_finalized() const;  // whether it has content: from a graph that used it, or from from_json()
    error_t status() const { return {}; }

    // The data that cuDNN keeps for each graph, as text for the same version of cuDNN; call it while no graph with this
    // cache is being built. Reading replaces the content, or leaves it unchanged if the text is faulty. cuDNN 9.19
    // accepts its text but compiles again all the same: Graph::serialize() stores plans that load in milliseconds.
    error_t to_json(std::string& json) const;
    error_t from_json(std::string const& json);

    struct Impl;

   private:
    friend struct detail::Kernel_cache_access;
    Impl* impl_;  // owned; std::unique_ptr would add to the compile time of every user
};

}  // namespace cudnn_frontend
