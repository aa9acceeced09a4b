#include "cudnn/planning/shared_graph.h"

#include "core/hash.h"
#include "core/process/plan_store.h"
#include "core/text.h"
#include "cudnn/library/library.h"
#include "cudnn/library/lowered_graph.h"
#include "ir/op_graph.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

using SharedGraphs = core::process::KeptObjects<SharedGraphKind>;

std::size_t hash_of(GraphKey const& key) {
    std::size_t hash = key.legal_graph.graph.values().size();
    for (ir::Value const& value : key.legal_graph.graph.values()) {
        for (std::int64_t const size : value.dim) core::add_size(hash, size);
    }
    return hash;
}

}  // namespace

Result<std::shared_ptr<EnginePlan const>> SharedEngine::compile(SharedGraph const& graph,
                                                                Descriptor const* kernel_cache) {
    std::lock_guard const lock(mutex_);
    if (!is_tried_) {
        is_tried_ = true;
        auto const entry = kernel_cache == nullptr ? graph.entry_of(config_) : std::nullopt;
        if (entry) plan_ = load(*graph.device(), *entry);
        if (!plan_) plan_ = build(graph.device(), kernel_cache, entry);
        graph.note_compiled();
    }
    if (!plan_) return failure_;
    return plan_;
}

std::shared_ptr<EnginePlan const> SharedEngine::build(Device const* device, Descriptor const* kernel_cache,
                                                      std::optional<plan::StoreEntry> const& entry) {
    keep_compiler_open();
    ++core::process::engine_counts_of_thread().compiled;
    auto plan = EnginePlan::build(std::move(unused_), device, kernel_cache);
    failure_ = plan.error();
    if (plan.is_bad()) return nullptr;
    auto const text = entry ? plan.value()->serialize() : Result<std::string>(std::string());
    if (entry && text.is_good()) entry->write(text.value());
    return std::move(plan).value();
}

std::shared_ptr<EnginePlan const> SharedEngine::load(Device const& device, plan::StoreEntry const& entry) const {
    auto const stored = entry.read();
    if (!stored) return nullptr;
    auto plan = EnginePlan::load(unused_.descriptor.api(), config_.choice, stored->bytes, nullptr, &device);
    if (plan.is_bad()) {
        plan::StoreEntry::report(*stored, plan.error().err_msg);
        return nullptr;
    }
    ++core::process::engine_counts_of_thread().loaded;
    return std::move(plan).value();
}

bool same_plans(GraphKey const& a, GraphKey const& b) {
    PlanningDevice const &x = a.device, &y = b.device;
    return a.dynamic_shapes == b.dynamic_shapes && a.sm_count == b.sm_count &&
           a.unfuses_multiplication == b.unfuses_multiplication && x.api == y.api && x.is_live == y.is_live &&
           same_work(a.legal_graph, b.legal_graph) && x.device->json() == y.device->json();
}

Result<std::shared_ptr<DeviceTables const>> tables_for(PlanningDevice const& device, Bindings const& bindings) {
    if (!device.is_live || bindings.tables.empty()) return std::shared_ptr<DeviceTables const>();
    return upload_tables(bindings.tables, device.device->ordinal());
}

Result<std::shared_ptr<SharedGraph>> SharedGraph::lower(GraphKey key) {
    std::optional<DescriptorRecording> recording;
    if (!core::process::plan_store().folder.empty()) recording.emplace();
    auto lowered =
        cudnn::lower(key.legal_graph, *key.device.api,
                     {.dynamic_shapes = key.dynamic_shapes, .unfuses_multiplication = key.unfuses_multiplication});
    if (lowered.is_bad()) return lowered.error();
    auto graph = std::make_shared<SharedGraph>();
    graph->lowered_ = std::move(lowered).value();
    if (recording) graph->content_ = recording->take();
    graph->key_ = std::move(key);
    auto tables = tables_for(graph->key_.device, graph->bindings());
    if (tables.is_bad()) return tables.error();
    graph->tables_ = std::move(tables).value();
    return graph;
}

std::shared_ptr<SharedEngine> SharedGraph::find_or_make(BackendConfig config) const {
    for (Answer const& answer : answers_) {
        auto const known = std::ranges::find(answer.engines, config.value.name,
                                             [](auto const& engine) { return engine->config().name; });
        if (known != answer.engines.end()) return *known;
    }
    return std::make_shared<SharedEngine>(std::move(config));
}

std::optional<plan::StoreEntry> SharedGraph::entry_of(EngineConfig const& config) const {
    if (content_.empty() || key_.dynamic_shapes) return std::nullopt;
    return plan::StoreEntry::of(
        environments_of(key_.device),
        core::text(members_of_kernels(device()->json()), config.name, "\n", key_.sm_count, "\n", content_));
}

std::shared_ptr<SharedEngine> SharedGraph::engine(BackendConfig config) {
    std::lock_guard const lock(mutex_);
    return find_or_make(std::move(config));
}

Result<SharedGraph::Answer const*> SharedGraph::answer_of(HeurMode_t mode) {
    auto const known = std::ranges::find(answers_, mode, &Answer::mode);
    if (known != answers_.end()) return &*known;
    auto found = ask_heuristics(descriptor(), {.modes = {mode}, .device = device(), .sm_count = key_.sm_count});
    if (found.is_bad()) return found.error();
    Answer answer{mode, {}, std::move(found.value().reason)};
    for (auto& config : found.value().configs) answer.engines.push_back(find_or_make(std::move(config)));
    engine_answers_ += answer.engines.size();
    return &answers_.emplace_back(std::move(answer));
}

static error_t no_engine(Device const& device, std::string const& reasons) {
    return {error_code_t::HEURISTIC_QUERY_FAILED,
            "cuDNN has no engine for this graph on " + device.name() + ":\n" + reasons +
                "\nTry: run on Target::cpu(); for a score modifier see docs/cudnn.md."};
}

Result<SharedEngines> SharedGraph::engines(std::vector<HeurMode_t> const& modes) {
    std::size_t const before = engine_answers_;
    auto found = ask(modes);
    if (engine_answers_ != before) SharedGraphs::of_process().count_again(hash_of(key_), *this);
    return found;
}

Result<SharedEngines> SharedGraph::ask(std::vector<HeurMode_t> const& modes) {
    std::lock_guard const lock(mutex_);
    SharedEngines engines;
    std::string reasons;
    for (HeurMode_t const mode : modes) {
        auto const answer = answer_of(mode);
        if (answer.is_bad()) return answer.error();
        for (auto const& engine : answer.value()->engines) {
            if (std::ranges::find(engines, engine) == engines.end()) engines.push_back(engine);
        }
        std::string const& reason = answer.value()->reason;
        if (!reason.empty()) reasons += (reasons.empty() ? "" : "\n") + reason;
    }
    if (!engines.empty()) return engines;
    // They are queried again the next time: the cause may pass.
    std::erase_if(answers_, [](Answer const& answer) { return answer.engines.empty(); });
    return no_engine(*device(), reasons);
}

Result<std::shared_ptr<SharedGraph>> find_or_lower(GraphKey const& key) {
    auto found =
        SharedGraphs::of_process().find_or_make(hash_of(key), key, [&] { return SharedGraph::lower(GraphKey(key)); });
    if (found.is_bad()) return found.error();
    return std::move(found.value().object);
}

void SharedGraph::forget() const {
    SharedGraphs::of_process().forget(hash_of(key_), [&](SharedGraph const& kept) { return &kept == this; });
}

// The numbers are those that cuDNN 9.19 was measured to allocate; test/lowering/graph_cache_test.cpp compares them.
std::size_t SharedGraph::bytes() const {
    constexpr std::size_t kOfGraph = 120 << 10, kOfEngine = 300 << 10, kOfPlan = 100 << 10;
    return sizeof *this + kOfGraph + 2 * ir::heap_bytes(key_.legal_graph.graph) + content_.size() +
           engine_answers_ * kOfEngine + compiled_ * kOfPlan;
}

void SharedGraph::note_compiled() const {
    ++compiled_;
    SharedGraphs::of_process().count_again(hash_of(key_), *this);
}

static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

Result<std::shared_ptr<DeviceTables const>> upload_tables(std::span<ConstantTable const> tables, int ordinal) {
    SDPA_GRAPH_TRY(cuda::use_device(ordinal));
    std::size_t bytes = 0;
    for (ConstantTable const& table : tables) bytes += aligned(table.bytes.size());
    auto memory = cuda::allocate(bytes);
    if (memory.is_bad()) return memory.error();
    auto placed = std::make_shared<DeviceTables>();
    placed->memory = std::move(memory).value();
    std::size_t offset = 0;
    for (ConstantTable const& table : tables) {
        SDPA_GRAPH_TRY(cuda::upload(*placed->memory, offset, table.bytes));
        placed->pointers.push_back(static_cast<std::byte*>(placed->memory->pointer()) + offset);
        offset += aligned(table.bytes.size());
    }
    return std::shared_ptr<DeviceTables const>(std::move(placed));
}

}  // namespace cudnn_frontend::cudnn
