#include "bindings.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>
#include <cudnn_frontend/stored_plan.h>

#include <pybind11/stl.h>

namespace binding {
namespace {

std::intptr_t create_handle() {
    cudnnHandle_t handle = nullptr;
    check(fe::runtime::create_handle(&handle));
    return reinterpret_cast<std::intptr_t>(handle);
}

std::intptr_t get_stream(std::intptr_t handle) {
    CUstream_st* stream = nullptr;
    check(fe::runtime::get_stream(handle_of(handle), &stream));
    return reinterpret_cast<std::intptr_t>(stream);
}

// By the kind of objects.
py::dict kept_statistics() {
    py::dict all;
    for (fe::runtime::Kept_statistics const& of : fe::runtime::kept_statistics()) {
        all[of.kind] =
            py::dict(py::arg("objects") = of.objects, py::arg("bytes") = of.bytes, py::arg("hits") = of.hits,
                     py::arg("misses") = of.misses, py::arg("builds") = of.builds, py::arg("evictions") = of.evictions);
    }
    return all;
}

std::string version_text() { return fe::runtime::version_text(fe::runtime::cudnn_version()); }

// The properties of the device with that number, or of a description: JSON, or the name of one that comes with the
// library.
std::shared_ptr<fe::DeviceProperties> device_properties(std::variant<std::int32_t, std::string> const& source) {
    auto properties = std::make_shared<fe::DeviceProperties>();
    if (auto const* const id = std::get_if<std::int32_t>(&source)) {
        check(properties->set_device_id(*id).build());
        return properties;
    }
    std::string const& text = std::get<std::string>(source);
    *properties = text.starts_with("{") ? fe::DeviceProperties::from_json(text) : fe::DeviceProperties::named(text);
    check(properties->status());
    return properties;
}

// Accepts bytes, or a list of them, as a graph's serialize() gives it.
fe::Stored_plan read_stored_plan(py::handle data) {
    auto const text = py::reinterpret_steal<py::bytes>(PyBytes_FromObject(data.ptr()));
    if (!text) throw py::error_already_set();
    std::string_view const view = text;
    fe::Stored_plan plan;
    check(fe::read_stored_plan({view.begin(), view.end()}, plan));
    return plan;
}

void bind_stored_plan(py::module_& module) {
    py::class_<fe::Stored_plan>(module, "stored_plan", "What a stored plan is, read without a GPU and without cuDNN.")
        .def(py::init(&read_stored_plan), py::arg("data"))
        .def_property_readonly("target",
                               [](fe::Stored_plan const& self) { return std::string(fe::to_string(self.target)); })
        .def_readonly("device", &fe::Stored_plan::device)
        .def_readonly("cudnn_version", &fe::Stored_plan::cudnn_version)
        .def_readonly("name", &fe::Stored_plan::name)
        .def_readonly("workspace_size", &fe::Stored_plan::workspace_bytes)
        .def_readonly("kernels", &fe::Stored_plan::kernels)
        .def_readonly("graph", &fe::Stored_plan::graph)
        .def("__str__", &fe::Stored_plan::to_text);
}

void bind_objects(py::module_& module) {
    py::class_<fe::KernelCache, std::shared_ptr<fe::KernelCache>>(module, "kernel_cache")
        .def("serialize",
             [](fe::KernelCache const& self) {
                 std::string json;
                 check(self.to_json(json));
                 return json;
             })
        .def(
            "deserialize", [](fe::KernelCache& self, std::string const& json) { check(self.from_json(json)); },
            py::arg("json"))
        .def("__repr__", &fe::KernelCache::describe);
    py::class_<fe::DeviceProperties, std::shared_ptr<fe::DeviceProperties>>(module, "device_properties")
        .def("serialize", &fe::DeviceProperties::to_json)
        .def("__repr__", &fe::DeviceProperties::describe);
    py::class_<fe::Knob>(module, "knob")
        .def_readonly("type", &fe::Knob::type)
        .def_readonly("max_value", &fe::Knob::maxValue)
        .def_readonly("min_value", &fe::Knob::minValue)
        .def_readonly("stride", &fe::Knob::stride);
}

}  // namespace

void bind_runtime(py::module_& module) {
    bind_objects(module);
    bind_stored_plan(module);
    module.def("backend_version", &fe::runtime::cudnn_version, "91400 for cuDNN 9.14.0; 0 where there is none.");
    module.def("backend_version_string", &version_text);
    module.def("get_last_error_string", &fe::runtime::last_error);
    module.def("describe_runtime", &fe::runtime::describe,
               "Which cuDNN and CUDA libraries are in use and why these, and what is missing.");
    module.def(
        "_set_package_folders",
        [](std::vector<std::string> const& folders) { check(fe::runtime::set_package_folders(folders)); },
        py::arg("folders"));
    module.def("_set_shape_policy", &fe::runtime::set_shape_policy, py::arg("policy"));
    module.def("_shape_policy", &fe::runtime::shape_policy);
    module.def("kept_statistics", &kept_statistics,
               "How many graphs and plans the process keeps, by their kind, in how many bytes; and how often one was "
               "found, missed, built and evicted since the process began.");
    module.def("create_handle", &create_handle);
    module.def(
        "destroy_handle", [](std::intptr_t handle) { check(fe::runtime::destroy_handle(handle_of(handle))); },
        py::arg("handle"));
    module.def(
        "set_stream",
        [](std::intptr_t handle, std::intptr_t stream) {
            check(fe::runtime::set_stream(handle_of(handle), reinterpret_cast<CUstream_st*>(stream)));
        },
        py::arg("handle"), py::arg("stream"));
    module.def("get_stream", &get_stream, py::arg("handle"));
    module.def("create_kernel_cache", [] { return std::make_shared<fe::KernelCache>(); });
    module.def("create_device_properties", &device_properties, py::arg("source") = 0);
    module.def("device_names", &fe::DeviceProperties::names, "The GPUs that target='offline:<name>' knows.");
    module.def(
        "_check_target", [](std::string const& target) { static_cast<void>(target_of(target)); }, py::arg("target"));
}

}  // namespace binding
