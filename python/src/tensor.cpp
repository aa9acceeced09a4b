#include "bindings.h"

#include <cudnn_frontend/tensor.h>

#include <pybind11/stl.h>

namespace binding {
namespace {

using Tensor = fe::graph::Tensor_attributes;
using Tensor_ptr = std::shared_ptr<Tensor>;
using Sizes = std::vector<std::int64_t>;

std::string describe(Tensor const& tensor) {
    py::dict fields;
    fields["name"] = tensor.get_name();
    fields["data_type"] = fe::to_string(tensor.get_data_type());
    fields["dim"] = tensor.get_dim();
    fields["stride"] = tensor.get_stride();
    fields["is_virtual"] = tensor.get_is_virtual();
    fields["is_pass_by_value"] = tensor.get_is_pass_by_value();
    fields["uid"] = tensor.has_uid() ? py::object(py::int_(tensor.get_uid())) : py::object(py::none());
    return py::str(py::module_::import("json").attr("dumps")(fields));
}

// pybind11 calls this to convert an argument that should be a tensor, in every method that has one. For arrays the text
// says how to use them.
PyObject* refuse_array(PyObject* object, PyTypeObject*) {
    if (!py::hasattr(object, "__dlpack__")) return nullptr;
    throw py::type_error(std::string("a ") + Py_TYPE(object)->tp_name +
                         " is given for a tensor of the graph: tensor_like(array) makes one, execute() accepts the "
                         "array, and cudnn.Graph does both");
}

}  // namespace

void bind_tensor(py::module_& module) {
    constexpr auto self = py::return_value_policy::reference_internal;
    py::class_<Tensor, Tensor_ptr>(module, "tensor",
                                   "A tensor of a graph. Setters return the tensor, so that calls chain.")
        .def(py::init<>())
        .def("get_name", &Tensor::get_name)
        .def("set_name", &Tensor::set_name, self, py::arg("name"))
        .def("get_data_type", &Tensor::get_data_type)
        .def(
            "set_data_type",
            [](Tensor& tensor, py::handle type) -> Tensor& { return tensor.set_data_type(data_type_of(type)); }, self,
            py::arg("data_type") = fe::DataType_t::NOT_SET)
        .def("get_dim", &Tensor::get_dim)
        .def("set_dim", &Tensor::set_dim, self, py::arg("dim"))
        .def("get_stride", &Tensor::get_stride)
        .def("set_stride", &Tensor::set_stride, self, py::arg("stride"))
        .def("get_is_virtual", &Tensor::get_is_virtual)
        .def("set_is_virtual", &Tensor::set_is_virtual, self, py::arg("is_virtual"))
        .def("set_output", &Tensor::set_output, self, py::arg("is_output"))
        .def("get_is_pass_by_value", &Tensor::get_is_pass_by_value)
        .def("set_is_pass_by_value", &Tensor::set_is_pass_by_value, self, py::arg("is_pass_by_value"))
        .def("get_has_compile_time_constant", &Tensor::get_has_compile_time_constant)
        .def("get_uid", &Tensor::get_uid)
        .def("set_uid", &Tensor::set_uid, self, py::arg("uid"))
        .def("get_reordering_type", &Tensor::get_reordering_type)
        .def("set_reordering_type", &Tensor::set_reordering_type, self, py::arg("reordering_type"))
        .def("get_alignment", &Tensor::get_alignment)
        .def("set_alignment", &Tensor::set_alignment, self, py::arg("alignment"))
        .def("get_vector_count", &Tensor::get_vector_count)
        .def("get_vector_dimension", &Tensor::get_vector_dimension)
        .def("set_vector_count_and_dimension", &Tensor::set_vector_count_and_dimension, self, py::arg("count"),
             py::arg("dimension"))
        .def("set_ragged_offset", &Tensor::set_ragged_offset, self, py::arg("ragged_offset"))
        .def("get_ragged_offset_multiplier", &Tensor::get_ragged_offset_multiplier)
        .def("set_ragged_offset_multiplier", &Tensor::set_ragged_offset_multiplier, self, py::arg("elements"))
        .def("__repr__", &describe);
    py::detail::get_type_info(typeid(Tensor))->implicit_conversions.push_back(&refuse_array);
}

}  // namespace binding
