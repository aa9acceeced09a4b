// A lowered graph and the results of its planning: the engines that heuristics name, and their plans or failures. It
// knows nothing of the user's graph except the computation, so that graphs with equal computations share it.
#pragma once

#include "core/process/kept_objects.h"
#include "cuda/driver.h"
#include "cudnn/library/descriptor.h"
#include "cudnn/library/engine_config.h"
#include "cudnn/library/engine_plan.h"
#include "cudnn/library/lowered_graph.h"
#include "cudnn/passes/legal_graph.h"
#include "cudnn/planning/planning_device.h"
#include "plan/storage/store_entry.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

// Device memory for the values that are part of a graph and that engines read from there. It lives as long as the
// plans: nothing is copied at each run, and a captured CUDA graph never refers to memory that is gone.
struct DeviceTables {
    std::shared_ptr<cuda::DeviceMemory const> memory;
    std::vector<void*> pointers;  // of each table
};

// Uploads and waits.
Result<std::shared_ptr<DeviceTables const>> upload_tables(std::span<ConstantTable const> tables, int ordinal);

class SharedGraph;

// An engine that may serve, and its plan or failure once it was compiled.
class SharedEngine {
   public:
    explicit SharedEngine(BackendConfig config) : config_(config.value), unused_(std::move(config)) {}

    EngineConfig const& config() const { return config_; }
    // Compiles on the first call, or reads the plan from the process's store; later calls give the same answer. A
    // kernel cache keeps kernels in its own way.
    Result<std::shared_ptr<EnginePlan const>> compile(SharedGraph const& graph, Descriptor const* kernel_cache);

   private:
    std::shared_ptr<EnginePlan const> load(Device const& device, plan::StoreEntry const& entry) const;
    std::shared_ptr<EnginePlan const> build(Device const* device, Descriptor const* kernel_cache,
                                            std::optional<plan::StoreEntry> const& entry);

    EngineConfig config_;
    std::mutex mutex_;
    BackendConfig unused_;  // until compiled
    bool is_tried_ = false;
    std::shared_ptr<EnginePlan const> plan_;
    error_t failure_;
};

using SharedEngines = std::vector<std::shared_ptr<SharedEngine>>;

// The bindings' tables on the device; null where there are none, and where the device is not there.
Result<std::shared_ptr<DeviceTables const>> tables_for(PlanningDevice const& device, Bindings const& bindings);

// Everything that decides how a graph is lowered and planned.
struct GraphKey {
    LegalGraph legal_graph;
    PlanningDevice device;
    bool dynamic_shapes = false;
    std::int32_t sm_count = 0;
    bool unfuses_multiplication = false;
};

bool same_plans(GraphKey const& a, GraphKey const& b);

class SharedGraph {
   public:
    static Result<std::shared_ptr<SharedGraph>> lower(GraphKey key);

    GraphKey const& key() const { return key_; }
    // An estimate of its memory, with cuDNN's.
    std::size_t bytes() const;
    // One of its engines has a plan, or is known to have none.
    void note_compiled() const;
    Descriptor const& descriptor() const { return lowered_.graph; }
    Bindings const& bindings() const { return lowered_.bindings; }
    std::int64_t engine_count() const { return lowered_.engine_count; }
    Device const* device() const { return key_.device.device.get(); }
    std::shared_ptr<DeviceTables const> const& tables() const { return tables_; }
    // The plan of an engine in the process's store. Nothing if there is no store, or was none when the graph was
    // lowered.
    std::optional<plan::StoreEntry> entry_of(EngineConfig const& config) const;

    // The engines that the heuristics name in these modes. Each mode is queried once as long as one of the list names
    // an engine. An engine that several modes name is one and the same.
    Result<SharedEngines> engines(std::vector<HeurMode_t> const& modes);
    // Drops the graph from the process's, so that the next equal one is lowered anew: for a graph that gave no plan,
    // since the cause may be temporary.
    void forget() const;
    // The engine of a configuration: the one that the heuristics named, or a new one.
    std::shared_ptr<SharedEngine> engine(BackendConfig config);

   private:
    struct Answer {
        HeurMode_t mode;
        SharedEngines engines;
        std::string reason;  // why there are none
    };
    Result<SharedEngines> ask(std::vector<HeurMode_t> const& modes);
    // Call it with the mutex held. The answer is valid until the next mode is queried.
    Result<Answer const*> answer_of(HeurMode_t mode);
    std::shared_ptr<SharedEngine> find_or_make(BackendConfig config) const;

    GraphKey key_;
    LoweredGraph lowered_;
    std::string content_;  // all that cuDNN got of it, for a process with a plan store
    std::shared_ptr<DeviceTables const> tables_;
    std::mutex mutex_;
    std::vector<Answer> answers_;
    std::atomic<std::size_t> engine_answers_ = 0;
    mutable std::atomic<std::size_t> compiled_ = 0;
};

struct SharedGraphKind {
    using Key = GraphKey;
    using Object = SharedGraph;
    static constexpr char const* kName = "lowered graphs";
    static Key const& key_of(Object const& graph) { return graph.key(); }
    static bool is_same(Key const& a, Key const& b) { return same_plans(a, b); }
    static std::size_t bytes_of(Object const& graph) { return graph.bytes(); }
};

// The graph of the key as this process keeps it: building it again neither lowers nor compiles it again. If there is
// none, it is lowered.
Result<std::shared_ptr<SharedGraph>> find_or_lower(GraphKey const& key);

// The graph's part of the user's kernel cache, in cuDNN's form. If there is none, it is made, from the text that the
// cache has read if that has this part.
Result<std::shared_ptr<Descriptor const>> kernels_for(KernelCache& cache, SharedGraph const& graph);

}  // namespace cudnn_frontend::cudnn
