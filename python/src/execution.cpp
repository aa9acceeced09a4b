#include "bindings.h"
#include "pack_keys.h"
#include "streams.h"

#include <cudnn_frontend/backend_helpers.h>
#include <cudnn_frontend/runtime.h>

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace binding {
namespace {

using sdpa_graph::Device_kind;
using Pointers = std::unordered_map<std::int64_t, void*>;
using Sizes = std::vector<std::int64_t>;

using Objects = std::vector<py::object>;

struct Pack {
    std::vector<std::pair<std::int64_t, void*>> entries;
    std::vector<void*> in_order;  // of the graph's uids, where the pack has memory for all of these and no others
    Objects held;                 // while it runs, other threads may change the dictionary
    Objects on_gpu;               // of those the ones that the stream reads or writes behind torch's back

    Pointers by_uid() const { return Pointers(entries.begin(), entries.end()); }
};

[[noreturn]] void refuse(Need const& need, std::string const& found, std::string const& needed) {
    throw py::value_error("tensor '" + need.name + "' (uid " + std::to_string(need.uid) + "): " + found + ": " +
                          needed);
}

std::string text_of(Sizes const& sizes) {
    std::ostringstream text;
    for (std::size_t i = 0; i < sizes.size(); ++i) text << (i == 0 ? "[" : ", ") << sizes[i];
    return text.str() + "]";
}

void check_type(Need const& need, Memory const& memory, std::int64_t element_bytes) {
    bool const is_unknown = memory.element_bytes == 0 || need.type == fe::DataType_t::NOT_SET;
    // Integers of the same width carry the bits of types that a library does not have, as bfloat16 in NumPy.
    if (is_unknown || memory.view.type == need.type || (memory.is_raw && memory.element_bytes == element_bytes)) return;
    refuse(need,
           std::string("memory of type ") + fe::to_string(memory.view.type) + " with " +
               std::to_string(memory.element_bytes) + " bytes an element",
           std::string(fe::to_string(need.type)) + " is needed");
}

// What a run's handle says, as far as it is asked.
class Place {
   public:
    explicit Place(cudnnHandle_t handle) : handle_(handle) {}

    CUstream_st* stream() const {
        CUstream_st* stream = nullptr;
        if (handle_ != nullptr) check(fe::runtime::get_stream(handle_, &stream));
        return stream;
    }

    std::optional<int> device() {
        if (!is_device_known_) device_ = handle_ == nullptr ? std::nullopt : device_of(stream());
        is_device_known_ = true;
        return device_;
    }

    // torch's allocator gives memory to others in the order of its current stream: there it may be let go at once.
    bool has_to_keep(Memory const& memory) {
        if (handle_ == nullptr || memory.view.device != Device_kind::CUDA) return false;
        if (!memory.is_of_torch) return true;
        if (!is_of_torch_)
            is_of_torch_ = stream_of_torch(memory.view.device_index) == reinterpret_cast<std::uintptr_t>(stream());
        return !*is_of_torch_;
    }

   private:
    cudnnHandle_t handle_;
    std::optional<int> device_;
    bool is_device_known_ = false;
    std::optional<bool> is_of_torch_;  // whether the stream is torch's current one
};

void check_gpu(Place& place, Need const& need, Memory const& memory) {
    if (memory.view.device != Device_kind::CUDA || memory.view.device_index == kUnknownDevice) return;
    std::optional<int> const device = place.device();
    if (device && *device != memory.view.device_index)
        refuse(need, "memory of GPU " + std::to_string(memory.view.device_index),
               "the handle's stream runs on GPU " + std::to_string(*device) +
                   "; a handle and a stream of the memory's GPU are needed");
}

void check_device(Graph const& graph, Need const& need, Memory const& memory) {
    bool const wants_host = graph.runs_on_host() || need.is_by_value;
    bool const is_offline =
        graph.target().kind() == fe::Target::Kind::OFFLINE;  // which runs nowhere, as the library says
    if (memory.view.device == Device_kind::UNKNOWN || is_offline) return;
    if (wants_host && memory.view.device == Device_kind::CUDA)
        refuse(need, "memory of a GPU",
               need.is_by_value ? "it is passed by value, from the host" : "the target reads host memory");
    if (!wants_host && memory.view.device == Device_kind::CPU)
        refuse(need, "memory of the host", "the target reads memory of its GPU");
}

// Where both have the same dims, an array of the host has to lie as the graph says; dims of one element lie anywhere.
bool has_other_strides(Need const& need, Memory const& memory) {
    if (!memory.has_exact_strides || memory.view.dim != need.dim) return false;
    for (std::size_t i = 0; i < need.dim.size(); ++i)
        if (need.dim[i] > 1 && memory.view.stride[i] != need.stride[i]) return true;
    return false;
}

std::int64_t bytes_of(fe::DataType_t type) {
    return static_cast<std::int64_t>(fe::detail::get_element_size_in_bits(type)) / 8;
}

void check_memory(Graph const& graph, Place& place, Need const& need, Memory const& memory) {
    check_type(need, memory, bytes_of(need.type));
    check_device(graph, need, memory);
    check_gpu(place, need, memory);
    if (has_other_strides(need, memory))
        refuse(need, "an array with strides " + text_of(memory.view.stride), "the graph has " + text_of(need.stride));
    if (memory.bytes >= 0 && memory.bytes < need.bytes)
        refuse(need, std::to_string(memory.bytes) + " bytes of memory",
               "dims " + text_of(need.dim) + " with strides " + text_of(need.stride) + " reach over " +
                   std::to_string(need.bytes));
    if (need.is_output && memory.view.is_read_only) refuse(need, "memory that can only be read", "the graph writes it");
}

void* address_of(Graph const& graph, Place& place, Need const* need, std::int64_t uid, py::handle value, Pack& pack) {
    std::optional<Memory> const memory = memory_of(value, need == nullptr ? 0 : need->bytes);
    if (!memory)
        refuse_object(value, "what the pack gives for tensor '" + (need == nullptr ? std::string() : need->name) +
                                 "' (uid " + std::to_string(uid) + ")");
    if (need != nullptr) check_memory(graph, place, *need, *memory);
    (place.has_to_keep(*memory) ? pack.on_gpu : pack.held).push_back(py::reinterpret_borrow<py::object>(value));
    return memory->view.data;
}

Pack read_pack(Graph& graph, Place& place, py::dict const& given, bool has_overrides) {
    Pack pack;
    auto const& needs = graph.needs();
    std::size_t filled = 0;
    pack.entries.reserve(given.size());
    pack.in_order.resize(needs.size());
    for (auto const& [key, value] : given) {
        std::int64_t uid = 0;
        if (!read_key(needs, key, uid)) continue;
        auto const need = std::ranges::lower_bound(needs, uid, {}, &Need::uid);
        bool const is_needed = need != needs.end() && need->uid == uid;
        // An address says nothing that could be checked, and keeps nothing alive.
        void* const address =
            PyLong_CheckExact(value.ptr()) != 0
                ? read_address(value)
                : address_of(graph, place, is_needed && !has_overrides ? &*need : nullptr, uid, value, pack);
        pack.entries.emplace_back(uid, address);
        if (is_needed && std::exchange(pack.in_order[need - needs.begin()], address) == nullptr && address != nullptr)
            ++filled;
    }
    if (filled != needs.size() || filled != pack.entries.size()) pack.in_order.clear();
    return pack;
}

// Runs without the interpreter's lock.
template <class Run>
void run_unlocked(Run const& run) {
    fe::error_t error;
    {
        py::gil_scoped_release const released;
        error = run();
    }
    check(error);
}

cudnnHandle_t handle_for(Graph& graph, std::optional<std::intptr_t> handle) {
    return handle && *handle != 0 ? reinterpret_cast<cudnnHandle_t>(*handle) : graph.handle();
}

// On the host a workspace may be left out.
struct Workspace {
    void* data = nullptr;
    std::vector<char> own;

    Workspace(Graph const& graph, Place& place, py::handle given, std::int64_t bytes, Objects& on_gpu) {
        if (given.is_none() && graph.runs_on_host())
            own.resize(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)) + 64);
        if (given.is_none()) {
            auto const address = reinterpret_cast<std::uintptr_t>(own.data());
            data = own.empty() ? nullptr : reinterpret_cast<void*>((address + 63) / 64 * 64);
            return;
        }
        std::optional<Memory> const memory = memory_of(given, bytes);
        if (!memory) refuse_object(given, "the workspace");
        if (memory->bytes >= 0 && memory->bytes < bytes)
            throw py::value_error("the workspace has " + std::to_string(memory->bytes) + " bytes: the plan needs " +
                                  std::to_string(bytes));
        if (memory->bytes > 0 && graph.runs_on_host() && memory->view.device == Device_kind::CUDA)
            throw py::value_error("the workspace is memory of a GPU: the target runs on the host");
        data = memory->view.data;
        if (place.has_to_keep(*memory)) on_gpu.push_back(py::reinterpret_borrow<py::object>(given));
    }
};

// Other dims and strides for the tensors of these uids; None stands for none.
struct Overrides {
    std::optional<Sizes> uids;
    std::optional<std::vector<Sizes>> shapes, strides;
};

// Calls `run` with the pack and what follows it in the library's execute(): with the pointers alone where it takes
// these.
template <class Size, class Run>
void execute_on(Graph& graph, py::dict const& pack, py::handle workspace, Size const& workspace_size,
                std::optional<std::intptr_t> handle, Overrides const& other, Run const& run) {
    cudnnHandle_t const cudnn = handle_for(graph, handle);
    Place place(cudnn);
    Pack given = read_pack(graph, place, pack, other.uids.has_value());
    bool const is_address = PyLong_CheckExact(workspace.ptr()) != 0;
    Workspace const memory(graph, place, workspace, is_address ? 0 : workspace_size(), given.on_gpu);
    run_unlocked([&] {
        if constexpr (std::is_invocable_v<Run, cudnnHandle_t, void**, int, void*>)
            if (!given.in_order.empty() && !other.uids)
                return run(cudnn, given.in_order.data(), static_cast<int>(given.in_order.size()), memory.data);
        if (!other.uids) return run(cudnn, given.by_uid(), memory.data);
        std::vector<Sizes> const none;
        return run(cudnn, given.by_uid(), memory.data, *other.uids, other.shapes.value_or(none),
                   other.strides.value_or(none));
    });
    if (!given.on_gpu.empty()) keep_until_done(place.stream(), std::move(given.on_gpu));
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

// Addresses in the order of _get_variant_pack_uids_sorted(), unchecked.
void execute_with_pointers(Graph& graph, std::vector<std::uintptr_t> const& addresses, std::uintptr_t workspace,
                           std::optional<std::intptr_t> handle) {
    std::vector<void*> pointers;
    for (std::uintptr_t const address : addresses) pointers.push_back(reinterpret_cast<void*>(address));
    cudnnHandle_t const cudnn = handle_for(graph, handle);
    run_unlocked([&] {
        return graph.inner.execute(cudnn, pointers.data(), static_cast<int>(pointers.size()),
                                   reinterpret_cast<void*>(workspace));
    });
}

// Addresses alone, as the existing package takes them here.
void fill_cuda_graph(Graph& graph, std::intptr_t handle, std::unordered_map<std::int64_t, std::uintptr_t> const& pack,
                     std::uintptr_t workspace, std::uintptr_t cuda_graph, bool is_update) {
    Pointers pointers;
    for (auto const& [uid, address] : pack) pointers.emplace(uid, reinterpret_cast<void*>(address));
    auto* const cudnn = reinterpret_cast<cudnnHandle_t>(handle);
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
        .def("get_autotune_workspace_size", [](Graph const& self) { return self.inner.get_autotune_workspace_size(); })
        .def("_execute_with_ptrs", &execute_with_pointers, py::arg("ptrs"), py::arg("workspace_ptr") = 0, handle)
        .def("_get_variant_pack_uids_sorted",
             [](Graph const& self) { return self.inner.get_variant_pack_uids_sorted(); })
        .def("_prepare_variant_pack_template", [](Graph& self) { check(self.inner.prepare_variant_pack_template()); });
    bind_cuda_graph<false>(graph, "populate_cuda_graph");
    bind_cuda_graph<true>(graph, "update_cuda_graph");
}

}  // namespace binding
