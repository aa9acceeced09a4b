#include "api/graph/capsule.h"

#include "api/backends.h"
#include "api/gpu_memory.h"
#include "api/graph/graph_errors.h"
#include "api/graph/pack_source.h"
#include "core/data_type.h"
#include "core/hash.h"
#include "core/names.h"
#include "core/process/environment.h"
#include "core/process/logging.h"
#include "core/text.h"
#include "json/document.h"
#include "json/graph_json.h"
#include "nodes/schema/uses.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"
#include "plan/storage/plan_folder.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/logging.h>
#include <cudnn_frontend/runtime.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace cudnn_frontend::api {
namespace {

using json::Json;
namespace fs = std::filesystem;

Json parsed(std::string const& text) {
    json::Problems problems;
    return json::parse(text, problems);
}

Json lines_of(std::string const& text) {
    Json lines = Json::list();
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t const end = std::min(text.find('\n', begin), text.size());
        lines.append(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

std::string joined(std::array<int, 3> const& version) {
    return core::text(version[0], ".", version[1], ".", version[2]);
}

Json versions() {
    Json object = Json::object();
    object.append("sdpa_graph", joined({SDPA_GRAPH_VERSION_MAJOR, SDPA_GRAPH_VERSION_MINOR, SDPA_GRAPH_VERSION_PATCH}));
    object.append("graph_api",
                  joined({CUDNN_FRONTEND_MAJOR_VERSION, CUDNN_FRONTEND_MINOR_VERSION, CUDNN_FRONTEND_PATCH_VERSION}));
    object.append("cudnn", runtime::cudnn_version());
    object.append("cuda_driver", driver_version());
    return object;
}

Json failure_json(Failure const& failure) {
    Json object = Json::object();
    object.append("stage", failure.stage);
    object.append("code", core::name_of(failure.error.code));
    object.append("message", failure.error.err_msg);
    return object;
}

// The description of the device for which the graph was planned, or for which planning was tried.
Json device_json(graph::Graph::Impl const& graph) {
    if (graph.settings.device) return parsed(graph.settings.device->to_json());
    if (!graph.asked_for) return nullptr;
    if (graph.asked_for->device()) return parsed(graph.asked_for->device()->to_json());
    if (graph.asked_for->kind() != Target::Kind::CUDA) return nullptr;
    auto const device = current_gpu();
    auto const recorded =
        device.is_bad() ? Result<std::string>(device.error()) : record_device(nullptr, device.value());
    return recorded.is_bad() ? Json(nullptr) : parsed(recorded.value());
}

// The tokens of each rank: a list of ranges, each with its first token and its number of tokens.
Json layout_json(group::Layout const& layout) {
    Json ranks = Json::list();
    for (int rank = 0; rank < layout.ranks(); ++rank) {
        Json ranges = Json::list();
        for (group::Token_range const& range : layout.ranges_of(rank)) {
            Json pair = Json::list();
            pair.append(range.first);
            pair.append(range.count);
            ranges.append(std::move(pair));
        }
        ranks.append(std::move(ranges));
    }
    return ranks;
}

Json group_json(group::Task const* task) {
    if (task == nullptr) return nullptr;
    Json object = Json::object();
    object.append("rank", task->rank());
    object.append("size", task->size());
    object.append("way", core::name_of(task->way));
    object.append("stages", task->stages);
    object.append("queries", layout_json(task->queries));
    object.append("keys", layout_json(task->keys));
    return object;
}

void append_plan(Json& capsule, graph::Graph::Impl const& graph) {
    capsule.append("target", graph.asked_for ? Json(to_string(graph.asked_for->kind())) : Json(nullptr));
    capsule.append("device", device_json(graph));
    capsule.append("group", group_json(graph.settings.group.get()));
    plan::Plan const* const built = graph.planner ? graph.planner->plan() : nullptr;
    capsule.append("plan", built == nullptr ? Json(nullptr) : Json(built->info().name));
    capsule.append("workspace_bytes", built == nullptr ? Json(nullptr) : Json(built->workspace_size()));
    capsule.append("candidates", graph.planner
                                     ? lines_of(graph.filtered()->candidates(graph.settings.filters).to_text())
                                     : Json::list());
}

// Lengths, their sums and ragged offsets: integers that decide what a run reads and writes.
bool is_structure(nodes::GraphSpec const& spec, nodes::TensorId id) {
    auto const uses = nodes::uses_of_tensors(spec);
    nodes::TensorUses const& use = uses[static_cast<std::size_t>(id)];
    return use.is_offset || std::ranges::any_of(use.readers, [](nodes::PortUse const& reader) {
               return nodes::attention_fields(*reader.node) != nullptr &&
                      attention::is_length(attention::operand(reader.port->port));
           });
}

Json integers_at(nodes::TensorSpec const& tensor, void const* data) {
    Json list = Json::list();
    std::int64_t const step = tensor.stride.empty() ? 1 : tensor.stride[0];
    for (std::int64_t i = 0; i < core::volume(tensor.dim).value_or(0); ++i)
        list.append(core::load_integer(tensor.data_type, data, i * step));
    return list;
}

Json pointer_json(plan::Slot const& slot, void const* pointer) {
    Json object = Json::object();
    object.append("uid", slot.uid);
    object.append("name", slot.name);
    object.append("bytes", slot.span);
    auto const address = reinterpret_cast<std::uintptr_t>(pointer);
    // Null for a pointer that is missing.
    constexpr int kMost = 12;
    object.append("alignment",
                  pointer == nullptr ? Json(nullptr) : Json(1 << std::min(std::countr_zero(address), kMost)));
    return object;
}

// A pack that lacks entries is described as it is.
void append_pack(Json& capsule, graph::Graph::Impl const& graph, plan::PackSource const& pack) {
    plan::PackLayout const& layout = graph.planner->layout();
    plan::PointerList pointers(layout.slots.size());
    std::ranges::fill(pointers.all(), nullptr);
    core::Findings ignored;
    plan::SlotFiller filler(layout, pointers.all(), ignored);
    pack.fill(filler);
    Json slots = Json::list(), integers = Json::object();
    nodes::GraphSpec const& spec = graph.planned->graph.spec();
    bool const is_on_host = runs_on_host(graph.planned_for);
    for (std::size_t i = 0; i < layout.slots.size(); ++i) {
        plan::Slot const& slot = layout.slots[i];
        void const* const pointer = pointers.all()[i];
        slots.append(pointer_json(slot, pointer));
        auto const tensor = std::ranges::find(spec.tensors, slot.uid, &nodes::TensorSpec::uid);
        auto const id = tensor - spec.tensors.begin();
        bool const is_readable = pointer != nullptr && (is_on_host || slot.is_on_host);
        if (tensor == spec.tensors.end() || !is_readable) continue;
        if (is_structure(spec, static_cast<nodes::TensorId>(id)))
            integers.append(json::tensor_id(static_cast<std::size_t>(id)), integers_at(*tensor, pointer));
    }
    capsule.append("pointers", std::move(slots));
    capsule.append("integers", std::move(integers));
}

constexpr int kMostFiles = 100;
thread_local bool is_without_capsules = false;

}  // namespace

WithoutCapsules::WithoutCapsules() : was_without_(std::exchange(is_without_capsules, true)) {}
WithoutCapsules::~WithoutCapsules() { is_without_capsules = was_without_; }

std::string write_capsule(graph::Graph const& graph, plan::PackSource const* pack, Failure const* failure) {
    Json capsule = Json::object({{"format", "sdpa-graph-capsule"}, {"version", 1}});
    nodes::GraphSpec const spec = detail::Graph_access::snapshot(graph).spec;
    capsule.append("failure", failure == nullptr ? Json(nullptr) : failure_json(*failure));
    capsule.append("graph", parsed(json::write_graph(spec)));
    capsule.append("versions", versions());
    if (graph::Graph::Impl const* const parts = detail::Graph_access::parts(graph)) {
        append_plan(capsule, *parts);
        if (pack != nullptr && parts->planner) append_pack(capsule, *parts, *pack);
    }
    capsule.append("findings", parsed(nodes::validate(spec).report.to_json()));
    capsule.append("libraries", lines_of(runtime::describe()));
    return json::print(capsule);
}

void keep_capsule(graph::Graph const& graph, plan::PackSource const* pack, Failure const& failure) noexcept {
    static_cast<void>(core::guarded([&]() -> error_t {
        std::string const folder = core::environment::capsules();
        static std::atomic<int> files = 0;
        if (folder.empty() || is_without_capsules || files >= kMostFiles) return {};
        std::string const text = write_capsule(graph, pack, &failure);
        std::array<char, 40> name{};
        std::snprintf(name.data(), name.size(), "capsule-%016llx.json",
                      static_cast<unsigned long long>(core::hash_of_bytes(text)));
        fs::path const path = fs::path(folder) / name.data();
        std::error_code ignored;
        if (fs::exists(path, ignored)) return {};
        ++files;
        std::error_code const unwritten = plan::write_whole(path, {text});
        if (unwritten && isLoggingEnabled())
            core::log_line("capsule '" + path.string() + "' could not be written: " + unwritten.message());
        return {};
    }));
}

}  // namespace cudnn_frontend::api

namespace cudnn_frontend::graph {

error_t Graph::capsule(std::string& json) const {
    return api::guarded_in(impl_, [&]() -> error_t {
        json = api::write_capsule(*this, nullptr, nullptr);
        return {};
    });
}

error_t Graph::describe(Variant_pack pack, std::string& json) const {
    return api::guarded_in(impl_, [&]() -> error_t {
        api::UserPack const source(pack, impl_ == nullptr ? 0 : impl_->id);
        json = api::write_capsule(*this, &source, nullptr);
        return {};
    });
}

}  // namespace cudnn_frontend::graph
