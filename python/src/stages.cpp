#include "bindings.h"
#include "words.h"

#include <pybind11/stl.h>

#include <algorithm>

namespace binding {
namespace {

using fe::graph::Tensor_attributes;
using Sizes = std::vector<std::int64_t>;
using Modes = std::vector<fe::HeurMode_t>;
using Knobs = std::map<fe::KnobType_t, std::int64_t>;

std::shared_ptr<Graph> make_graph(std::string const& target, std::string const& name, py::handle io,
                                  py::handle intermediate, py::handle compute, std::optional<std::intptr_t> handle) {
    auto graph = std::make_shared<Graph>(target);
    graph->inner.set_name(name)
        .set_io_data_type(data_type_of(io))
        .set_intermediate_data_type(data_type_of(intermediate))
        .set_compute_data_type(data_type_of(compute));
    if (handle) graph->set_handle(*handle);
    return graph;
}

// The product wraps for a tensor larger than memory, which a rule of graphs refuses.
Sizes row_major(Sizes const& dim) {
    Sizes stride(dim.size());
    std::uint64_t step = 1;
    for (std::size_t i = dim.size(); i-- > 0; step *= static_cast<std::uint64_t>(dim[i]))
        stride[i] = static_cast<std::int64_t>(step);
    return stride;
}

// Without strides the tensor is row-major. The last argument is a number of which all values are multiples; only the
// existing package uses it, to choose kernels.
Tensor_ptr make_tensor(Graph& graph, Sizes const& dim, std::optional<Sizes> const& stride, py::handle data_type,
                       bool is_virtual, bool is_pass_by_value, Tensor_ptr const& ragged_offset,
                       std::optional<fe::TensorReordering_t> reordering, std::string const& name,
                       std::optional<std::int64_t> uid, std::int64_t ragged_offset_multiplier, std::int64_t) {
    Tensor_attributes tensor;
    tensor.set_dim(dim).set_data_type(data_type_of(data_type)).set_is_virtual(is_virtual).set_name(name);
    tensor.set_stride(stride ? *stride : row_major(dim));
    tensor.set_is_pass_by_value(is_pass_by_value);
    tensor.set_reordering_type(reordering.value_or(fe::TensorReordering_t::NONE));
    if (ragged_offset) tensor.set_ragged_offset(ragged_offset);
    if (ragged_offset_multiplier != 1) tensor.set_ragged_offset_multiplier(ragged_offset_multiplier);
    if (uid.value_or(-1) >= 0) tensor.set_uid(*uid);
    return graph.inner.tensor(tensor);
}

// A scalar of INT32 for an integer, else of FLOAT.
Tensor_ptr make_scalar(Graph& graph, py::handle value, fe::graph::ScalarType kind, std::string const& name) {
    Tensor_attributes tensor = PyLong_Check(value.ptr()) != 0 ? Tensor_attributes(value.cast<std::int32_t>(), kind)
                                                              : Tensor_attributes(value.cast<float>(), kind);
    return graph.inner.tensor(tensor.set_name(name));
}

// Programs give dropout's seed and offset as host tensors of one element and mean them by value. If all memory is the
// host's there is no such difference.
Tensor_ptr make_tensor_like_memory(Graph& graph, py::handle object, std::string const& name) {
    if (!py::hasattr(object, "__dlpack__"))
        throw py::value_error(std::string("tensor_like: a ") + Py_TYPE(object.ptr())->tp_name + " has no __dlpack__");
    // The class of error that torch raises for it.
    if (py::getattr(object, "requires_grad", py::bool_(false)).ptr() == Py_True)
        throw py::buffer_error(
            "tensor_like: the tensor requires a gradient, which graphs do not follow: give "
            "tensor.detach()");
    sdpa_graph::Tensor_view const view = view_of(object);
    Tensor_attributes tensor;
    tensor.set_dim(view.dim).set_stride(view.stride).set_data_type(view.type).set_name(name);
    bool const is_single = std::ranges::all_of(view.dim, [](std::int64_t size) { return size == 1; });
    bool const is_host = view.device == sdpa_graph::Device_kind::CPU && !graph.runs_on_host();
    tensor.set_is_pass_by_value(is_host && is_single);
    return graph.inner.tensor(tensor);
}

// Runs a stage of the build, while other threads go on.
template <class Stage>
void run_stage(Graph& graph, Stage const& stage) {
    graph.forget_needs();
    fe::error_t error;
    {
        py::gil_scoped_release const released;
        error = stage();
    }
    check(error);
}

void build_operation_graph(Graph& graph) {
    fe::Target const target = graph.planning_target();
    run_stage(graph, [&] { return graph.inner.build_operation_graph(target); });
}

void build_plans(Graph& graph, fe::BuildPlanPolicy_t policy) {
    run_stage(graph, [&] { return graph.inner.build_plans(policy); });
}

// Without modes, builds only as far as the operation graph, as the existing package does.
void build(Graph& graph, std::optional<Modes> const& modes) {
    run_stage(graph, [&] { return graph.inner.validate(); });
    build_operation_graph(graph);
    if (!modes) return;
    run_stage(graph, [&] { return graph.inner.create_execution_plans(*modes); });
    run_stage(graph, [&] { return graph.inner.check_support(); });
    build_plans(graph, fe::BuildPlanPolicy_t::HEURISTICS_CHOICE);
}

std::string plan_name(Graph const& graph, std::int64_t index) {
    std::string name;
    check(graph.inner.get_plan_name_at_index(index, name));
    return name;
}

std::vector<fe::BehaviorNote_t> behavior_notes(Graph const& graph, std::optional<std::int64_t> index) {
    std::vector<fe::BehaviorNote_t> notes;
    check(index ? graph.inner.get_behavior_notes_for_plan_at_index(*index, notes)
                : graph.inner.get_behavior_notes(notes));
    return notes;
}

Tensor_ptr query(Graph const& graph, std::int64_t uid) {
    auto tensor = std::make_shared<Tensor_attributes>();
    check(graph.inner.query_tensor_attributes_of_uid(uid, *tensor));
    return tensor;
}

std::string to_json(Graph const& graph, std::optional<std::int64_t> version) {
    std::string json;
    check(version ? graph.inner.serialize_as_version(*version, json) : graph.inner.serialize(json));
    return json;
}

py::object serialize(Graph const& graph, bool as_bytes, bool) {
    std::vector<std::uint8_t> bytes;
    check(graph.inner.serialize(bytes));
    if (as_bytes) return py::bytes(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    return py::cast(bytes);
}

// The uids of the tensors that the nodes write.
Sizes written_uids(Graph const& graph) {
    py::dict const description = py::module_::import("json").attr("loads")(to_json(graph, 1));
    py::dict const tensors = description["tensors"];
    Sizes uids;
    for (py::handle const node : description["nodes"])
        for (auto const& [port, name] : node["outputs"].cast<py::dict>())
            if (py::dict const tensor = tensors[name]; tensor.contains("uid"))
                uids.push_back(tensor["uid"].cast<std::int64_t>());
    return uids;
}

// Text is a graph; bytes, or a list of them as serialize() gives it, are a graph with its plan.
void deserialize(Graph& graph, py::handle data) {
    graph.forget_needs();
    if (py::isinstance<py::str>(data)) {
        check(graph.inner.deserialize(data.cast<std::string>()));
    } else {
        auto const text = py::reinterpret_steal<py::bytes>(PyBytes_FromObject(data.ptr()));
        if (!text) throw py::error_already_set();
        std::string_view const view = text;
        check(graph.inner.deserialize(graph.handle(), std::vector<std::uint8_t>(view.begin(), view.end())));
    }
    graph.writes_only(written_uids(graph));
}

// A report as text in Python's words, and as JSON in those of C++.
template <class Report>
std::pair<std::string, std::string> texts_of(Report const& report) {
    return {in_python(report.to_text()), report.to_json()};
}

void bind_tensors(Graph_class& graph) {
    graph
        .def("tensor", &make_tensor, py::arg("dim"), py::arg("stride").none(true) = py::none(),
             py::arg("data_type") = fe::DataType_t::NOT_SET, py::arg("is_virtual") = false,
             py::arg("is_pass_by_value") = false, py::arg("ragged_offset").none(true) = Tensor_ptr(),
             py::arg("reordering_type").none(true) = fe::TensorReordering_t::NONE, py::arg("name") = "",
             py::arg("uid").none(true) = -1, py::arg("ragged_offset_multiplier") = 1, py::arg("alignment_value") = 1)
        .def(
            "tensor_like",
            [](Graph& self, Tensor_ptr const& other, std::string const& name) {
                return self.inner.tensor_like(other, name);
            },
            py::arg("input").none(false), py::arg("name") = "")
        .def("tensor_like", &make_tensor_like_memory, py::arg("pyobj"), py::arg("name") = "")
        .def("tensor_scalar", &make_scalar, py::arg("value"),
             py::arg("scalar_type") = fe::graph::ScalarType::RUNTIME_PARAM, py::arg("name") = "")
        .def("query_tensor_attributes_of_uid", &query, py::arg("uid"));
}

void bind_build(Graph_class& graph) {
    graph.def("validate", [](Graph& self) { run_stage(self, [&] { return self.inner.validate(); }); })
        .def("build_operation_graph", &build_operation_graph)
        .def(
            "create_execution_plans",
            [](Graph& self, std::optional<Modes> const& given) {
                Modes const modes = given.value_or(Modes{fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
                run_stage(self, [&] { return self.inner.create_execution_plans(modes); });
            },
            py::arg("heuristics").none(true) = py::none())
        .def(
            "create_execution_plan",
            [](Graph& self, std::int64_t engine, std::optional<Knobs> const& knobs) {
                run_stage(self, [&] { return self.inner.create_execution_plan(engine, knobs.value_or(Knobs())); });
            },
            py::arg("engine_id"), py::arg("knobs").none(true) = py::none())
        .def("check_support", [](Graph& self) { run_stage(self, [&] { return self.inner.check_support(); }); })
        .def("build_plans", &build_plans, py::arg("policy") = fe::BuildPlanPolicy_t::HEURISTICS_CHOICE)
        .def(
            "build_plan_at_index",
            [](Graph& self, std::int64_t index) {
                run_stage(self, [&] { return self.inner.build_plan_at_index(index); });
            },
            py::arg("index"))
        .def("build", &build, py::arg("heuristics").none(true) = py::none())
        .def("_check", [](Graph const& self) { return texts_of(self.inner.check()); })
        .def("_advice", [](Graph const& self) { return texts_of(self.inner.advice()); });
}

void bind_plans(Graph_class& graph) {
    graph.def("get_execution_plan_count", [](Graph const& self) { return self.inner.get_execution_plan_count(); })
        .def("get_plan_name_at_index", &plan_name, py::arg("index"))
        .def("get_workspace_size", [](Graph const& self) { return self.inner.get_workspace_size(); })
        .def(
            "get_workspace_size_plan_at_index",
            [](Graph const& self, std::int64_t index) { return self.inner.get_workspace_size_plan_at_index(index); },
            py::arg("index"))
        .def("get_behavior_notes", [](Graph const& self) { return behavior_notes(self, std::nullopt); })
        .def("get_behavior_notes_for_plan_at_index", &behavior_notes, py::arg("index"))
        .def("get_engine_count",
             [](Graph& self) {
                 std::int64_t count = 0;
                 check(self.inner.get_engine_count(count));
                 return count;
             })
        .def(
            "get_knobs_for_engine",
            [](Graph& self, std::int64_t engine) {
                std::vector<fe::Knob> knobs;
                check(self.inner.get_knobs_for_engine(engine, knobs));
                return knobs;
            },
            py::arg("engine_id"));
}

void bind_filters(Graph_class& graph) {
    using Names = std::vector<std::string>;
    using Behavior = std::vector<fe::BehaviorNote_t>;
    using Numeric = std::vector<fe::NumericalNote_t>;
    graph
        .def(
            "deselect_engines", [](Graph& self, Names const& names) { self.inner.deselect_engines(names); },
            py::arg("engine_names"))
        .def(
            "deselect_workspace_greater_than",
            [](Graph& self, std::int64_t bytes) { self.inner.deselect_workspace_greater_than(bytes); },
            py::arg("workspace_limit"))
        .def(
            "select_behavior_notes",
            [](Graph& self, Behavior const& notes) { self.inner.select_behavior_notes(notes); }, py::arg("notes"))
        .def(
            "deselect_behavior_notes",
            [](Graph& self, Behavior const& notes) { self.inner.deselect_behavior_notes(notes); }, py::arg("notes"))
        .def(
            "select_numeric_notes", [](Graph& self, Numeric const& notes) { self.inner.select_numeric_notes(notes); },
            py::arg("notes"))
        .def(
            "deselect_numeric_notes",
            [](Graph& self, Numeric const& notes) { self.inner.deselect_numeric_notes(notes); }, py::arg("notes"));
}

void bind_settings(Graph_class& graph) {
    using Properties = std::shared_ptr<fe::DeviceProperties>;
    graph.def("_set_sm_count", [](Graph& self, std::int32_t count) { self.inner.set_sm_count(count); })
        .def("_set_sm_version", [](Graph& self, std::int32_t version) { self.inner.set_sm_version(version); })
        .def("_set_kernel_cache",
             [](Graph& self, std::shared_ptr<fe::KernelCache> const& cache) { self.inner.set_kernel_cache(cache); })
        .def("_set_device_properties",
             [](Graph& self, Properties const& properties) { self.inner.set_device_properties(properties); })
        .def("_set_dynamic_shape_enabled",
             [](Graph& self, bool is_enabled) { self.inner.set_dynamic_shape_enabled(is_enabled); })
        .def("_set_override_shape_enabled",
             [](Graph& self, bool is_enabled) { self.inner.set_override_shape_enabled(is_enabled); })
        .def("_runs_on_host", &Graph::runs_on_host);
}

}  // namespace

void bind_stages(Graph_class& graph) {
    graph.def(py::init(&make_graph), py::arg("target"), py::arg("name"), py::arg("io_data_type"),
              py::arg("intermediate_data_type"), py::arg("compute_data_type"), py::arg("handle").none(true));
    bind_tensors(graph);
    bind_build(graph);
    bind_plans(graph);
    bind_filters(graph);
    bind_settings(graph);
    graph
        .def("serialize", &serialize, py::kw_only(), py::arg("as_bytes") = false, py::arg("include_kernels") = true,
             "The graph with its plan, as a list of bytes, or as an object of that type. Kernels are always included.")
        .def("to_json", &to_json, py::arg("version") = std::nullopt,
             "The graph as JSON text, docs/json.md; in version 1 nodes of score modifiers are among the graph's.")
        .def("deserialize", &deserialize, py::arg("pyobj"),
             "Replaces the graph by what serialize() gave, which can be executed at once, or by JSON text as to_json() "
             "gives it, which is a graph without a plan.")
        .def(
            "deserialize",
            [](Graph& self, std::intptr_t handle, py::handle data) {
                self.set_handle(handle);
                deserialize(self, data);
            },
            py::arg("handle_"), py::arg("pyobj"))
        .def("key", [](Graph& self) { return self.inner.key(); })
        .def("__repr__", [](Graph const& self) { return to_json(self, std::nullopt); });
}

}  // namespace binding
