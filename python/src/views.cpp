#include "bindings.h"

#include <pybind11/stl.h>

namespace binding {

void bind_views(py::module_& module) {
    py::class_<Memory>(module, "memory", "How the library sees an object that is given as memory.")
        .def(py::init([](py::handle object) {
                 std::optional<Memory> memory = memory_of(object);
                 if (!memory) refuse_object(object, "the object");
                 return *std::move(memory);
             }),
             py::arg("object"))
        .def_property_readonly("address",
                               [](Memory const& self) { return reinterpret_cast<std::uintptr_t>(self.view.data); })
        .def_property_readonly("data_type", [](Memory const& self) { return self.view.type; })
        .def_property_readonly("dim", [](Memory const& self) { return self.view.dim; })
        .def_property_readonly("stride", [](Memory const& self) { return self.view.stride; })
        .def_property_readonly("bytes", [](Memory const& self) { return self.bytes; })
        .def_property_readonly("is_read_only", [](Memory const& self) { return self.view.is_read_only; })
        .def_property_readonly("is_on_gpu",
                               [](Memory const& self) { return self.view.device == sdpa_graph::Device_kind::CUDA; });
}

}  // namespace binding
