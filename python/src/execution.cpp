#include "bindings.h"
#include "errors.h"
#include "pack_keys.h"
#include "packs.h"
#include "streams.h"
#include "words.h"

#include <cudnn_frontend/runtime.h>
#include <cudnn_frontend/verification.h>

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace binding {
namespace {

using sdpa_graph::Device_kind;

// Runs without the interpreter's lock.
template <class Run>
fe::error_t run_unlocked(Run const& run) {
    py::gil_scoped_release const released;
    return run();
}

cudnnHandle_t handle_for(Graph& graph, std::optional<std::intptr_t> handle) {
    return handle && *handle != 0 ? handle_of(*handle) : graph.handle();
}

// Memory for a run. On the host a workspace may be left out.
struct Workspace {
    void* data = nullptr;
    std::vector<char> own;
    Objects held;  // until the run has returned

    Workspace(Graph const& graph, Place& place, py::handle given, std::int64_t bytes, Objects& on_gpu) {
        if (given.is_none() && graph.runs_on_host())
            own.resize(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)) + 64);
        if (given.is_none()) {
            auto const address = reinterpret_cast<std::uintptr_t>(own.data());
            data = own.empty() ? nullptr : reinterpret_cast<void*>((address + 63) / 64 * 64);
            return;
        }
        std::optional<Memory> memory = memory_of(given, bytes);
        if (!memory) refuse_object(given, "the workspace");
        if (memory->bytes >= 0 && memory->bytes < bytes)
            throw py::value_error("the workspace has " + std::to_string(memory->bytes) + " bytes: the plan needs " +
                                  std::to_string(bytes));
        if (memory->bytes > 0 && graph.runs_on_host() && memory->view.device == Device_kind::CUDA)
            throw py::value_error("the workspace is memory of a GPU: the target runs on the host");
        if (memory->view.is_read_only) throw py::value_error("the workspace can only be read: a plan writes it");
        data = memory->view.data;
        Objects& used = place.has_to_keep(*memory) ? on_gpu : held;
        used.push_back(py::reinterpret_borrow<py::object>(given));
        if (memory->owner) used.push_back(std::move(memory->owner));
    }
};

// Calls `run` with the pack and the further arguments of the library's execute(): with the pointers alone if `run`
// accepts these.
template <class Size, class Run>
void execute_on(Graph& graph, py::dict const& pack, py::handle workspace, Size const& workspace_size,
                std::optional<std::intptr_t> handle, Overrides const& other, Run const& run) {
    cudnnHandle_t const cudnn = handle_for(graph, handle);
    Place place(cudnn);
    Pack given = read_pack(graph, place, pack, other);
    bool const is_address = PyLong_CheckExact(workspace.ptr()) != 0;
    Workspace const memory(graph, place, workspace, is_address ? 0 : workspace_size(), given.on_gpu);
    fe::error_t const error = run_unlocked([&] {
        if constexpr (std::is_invocable_v<Run, cudnnHandle_t, void**, int, void*>)
            if (!given.in_order.empty() && !other.uids)
                return run(cudnn, given.in_order.data(), static_cast<int>(given.in_order.size()), memory.data);
        if (!other.uids) return run(cudnn, given.by_uid(), memory.data);
        std::vector<Sizes> const none;
        return run(cudnn, given.by_uid(), memory.data, *other.uids, other.shapes.value_or(none),
                   other.strides.value_or(none));
    });
    // A run that failed may have started work on the GPU.
    if (!given.on_gpu.empty()) keep_until_done(place.stream(), std::move(given.on_gpu));
    check(error);
}

using Shapes = std::optional<std::vector<Sizes>>;

void execute(Graph& graph, py::handle pack, py::handle workspace, std::optional<std::intptr_t> handle,
             std::optional<Sizes> const& uids, Shapes const& shapes, Shapes const& strides,
             std::optional<Sizes> const& tensor_uids) {
    execute_on(
        graph, as_dictionary(graph, pack, tensor_uids), workspace, [&] { return graph.inner.get_workspace_size(); },
        handle, {uids, shapes, strides}, [&](auto const&... given) { return graph.inner.execute(given...); });
}

void execute_plan_at_index(Graph& graph, py::handle pack, py::handle workspace, std::int64_t index,
                           std::optional<std::intptr_t> handle, std::optional<Sizes> const& uids, Shapes const& shapes,
                           Shapes const& strides, std::optional<Sizes> const& tensor_uids) {
    execute_on(
        graph, as_dictionary(graph, pack, tensor_uids), workspace,
        [&] { return graph.inner.get_workspace_size_plan_at_index(index); }, handle, {uids, shapes, strides},
        [&](cudnnHandle_t cudnn, Pointers const& pointers, void* memory, auto const&... other) {
            return graph.inner.execute_plan_at_index(cudnn, pointers, memory, index, other...);
        });
}

void autotune(Graph& graph, py::handle pack, py::handle workspace, std::optional<std::intptr_t> handle) {
    execute_on(
        graph, as_dictionary(graph, pack, std::nullopt), workspace,
        [&] { return graph.inner.get_autotune_workspace_size(); }, handle, {},
        [&](cudnnHandle_t cudnn, Pointers const& pointers, void* memory, auto const&...) {
            return graph.inner.autotune(cudnn, pointers, memory);
        });
}

void choose_plan_by_times(Graph& graph, std::vector<std::vector<double>> const& microseconds) {
    check(run_unlocked([&] { return graph.inner.choose_plan_by_times(microseconds); }));
}

// The verification as text in Python's words, and as JSON.
std::pair<std::string, std::string> verify(Graph& graph, py::handle pack, std::optional<std::int64_t> most_scores,
                                           double search_seconds) {
    Place place(handle_for(graph, std::nullopt));
    Pack const given = read_pack(graph, place, as_dictionary(graph, pack, std::nullopt), {});
    fe::Verification_options options;
    if (most_scores) options.most_scores = *most_scores;
    if (std::isnan(search_seconds))
        throw bad_argument("verify", "search_seconds of NaN", "a number of seconds, 0 or more");
    constexpr double kMostSeconds = 1e6;
    options.search_milliseconds = static_cast<std::int64_t>(std::clamp(search_seconds, 0.0, kMostSeconds) * 1000.0);
    fe::Verification result;
    check(run_unlocked([&] { return graph.inner.verify(given.by_uid(), options, result); }));
    return {in_python(result.to_text()), result.to_json()};
}

std::string capsule(Graph& graph, py::handle pack) {
    std::string json;
    if (pack.is_none()) {
        check(graph.inner.capsule(json));
        return json;
    }
    Place place(handle_for(graph, std::nullopt));
    Pack const given = read_pack(graph, place, as_dictionary(graph, pack, std::nullopt), {});
    check(graph.inner.capsule(given.by_uid(), json));
    return json;
}

// Runs with addresses in the order of _get_variant_pack_uids_sorted(), unchecked.
void execute_with_pointers(Graph& graph, std::vector<std::uintptr_t> const& addresses, std::uintptr_t workspace,
                           std::optional<std::intptr_t> handle) {
    std::vector<void*> pointers;
    for (std::uintptr_t const address : addresses) pointers.push_back(reinterpret_cast<void*>(address));
    cudnnHandle_t const cudnn = handle_for(graph, handle);
    check(run_unlocked([&] {
        return graph.inner.execute(cudnn, pointers.data(), static_cast<int>(pointers.size()),
                                   reinterpret_cast<void*>(workspace));
    }));
}

// Accepts only addresses, as the existing package does here.
void fill_cuda_graph(Graph& graph, std::intptr_t handle, std::unordered_map<std::int64_t, std::uintptr_t> const& pack,
                     std::uintptr_t workspace, std::uintptr_t cuda_graph, bool is_update) {
    Pointers pointers;
    for (auto const& [uid, address] : pack) pointers.emplace(uid, reinterpret_cast<void*>(address));
    cudnnHandle_t const cudnn = handle_of(handle);
    auto* const nodes = reinterpret_cast<CUgraph_st*>(cuda_graph);
    auto* const memory = reinterpret_cast<void*>(workspace);
    check(is_update ? graph.inner.update_cuda_graph(cudnn, pointers, memory, nodes)
                    : graph.inner.populate_cuda_graph(cudnn, pointers, memory, nodes));
}

template <bool kIsUpdate>
void bind_cuda_graph(Graph_class& graph, char const* name) {
    graph.def(
        name,
        [](Graph& self, std::intptr_t handle, std::unordered_map<std::int64_t, std::uintptr_t> const& pack,
           std::uintptr_t workspace,
           std::uintptr_t cuda_graph) { fill_cuda_graph(self, handle, pack, workspace, cuda_graph, kIsUpdate); },
        py::arg("handle"), py::arg("variant_pack"), py::arg("workspace"), py::arg("cuda_graph"));
}

}  // namespace

void bind_execution(Graph_class& graph) {
    auto const unset = py::none();
    auto const handle = py::arg("handle").none(true) = unset;
    auto const uids = py::arg("override_uids").none(true) = unset;
    auto const shapes = py::arg("override_shapes").none(true) = unset;
    auto const strides = py::arg("override_strides").none(true) = unset;
    auto const tensor_uids = py::arg("tensor_uids").none(true) = unset;
    auto const pack = py::arg("tensor_to_device_buffer");
    graph
        .def("execute", &execute, pack, py::arg("workspace").none(true) = unset, handle, uids, shapes, strides,
             tensor_uids)
        .def("execute_plan_at_index", &execute_plan_at_index, pack, py::arg("workspace").none(true) = unset,
             py::arg("index") = 0, handle, uids, shapes, strides, tensor_uids)
        .def("autotune", &autotune, pack, py::arg("workspace").none(true) = unset, handle,
             "Times every built plan on the pack's memory; execute() runs the fastest from then on.")
        .def("choose_plan_by_times", &choose_plan_by_times, py::arg("microseconds"),
             "Does what autotune() does by times that the caller measured: the microseconds of each run, by the index "
             "of the plan; none for plans that were not timed.")
        .def("_verify", &verify, pack, py::arg("most_scores").none(true) = unset, py::arg("search_seconds") = 10.0)
        .def("capsule", &capsule, py::arg("tensor_to_device_buffer").none(true) = unset,
             "One JSON document for a report of a failure, with no data of tensors: docs/capsules.md.")
        .def("get_autotune_workspace_size", [](Graph const& self) { return self.inner.get_autotune_workspace_size(); })
        .def("_execute_with_ptrs", &execute_with_pointers, py::arg("ptrs"), py::arg("workspace_ptr") = 0, handle)
        .def("_get_variant_pack_uids_sorted",
             [](Graph const& self) { return self.inner.get_variant_pack_uids_sorted(); })
        .def("_prepare_variant_pack_template", [](Graph& self) { check(self.inner.prepare_variant_pack_template()); });
    bind_cuda_graph<false>(graph, "populate_cuda_graph");
    bind_cuda_graph<true>(graph, "update_cuda_graph");
}

}  // namespace binding
