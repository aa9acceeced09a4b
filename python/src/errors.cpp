#include "errors.h"

#include "words.h"

#include <cudnn_frontend/report.h>

#include <utility>

namespace binding {
namespace {

// Lives as long as the interpreter.
PyObject* not_supported = nullptr;

// The classes that programs written for the existing package catch.
PyObject* exception_of(fe::error_code_t code) {
    using enum fe::error_code_t;
    switch (code) {
        case GRAPH_NOT_SUPPORTED:
        case GRAPH_EXECUTION_PLAN_CREATION_FAILED:
        case HEURISTIC_QUERY_FAILED:
        case UNSUPPORTED_GRAPH_FORMAT: return not_supported;
        case ATTRIBUTE_NOT_SET:
        case SHAPE_DEDUCTION_FAILED:
        case INVALID_TENSOR_NAME:
        case INVALID_VARIANT_PACK: return PyExc_ValueError;
        default: return PyExc_RuntimeError;
    }
}

}  // namespace

void check(fe::error_t const& error) {
    if (error.is_good()) return;
    PyObject* const kind = exception_of(error.code);
    py::object const exception = py::reinterpret_borrow<py::object>(kind)(in_python(error.get_message()));
    exception.attr("code") = fe::to_string(error.code);
    exception.attr("rule") = error.where.rule;
    exception.attr("node") = error.where.node;
    exception.attr("tensor") = error.where.tensor;
    PyErr_SetObject(kind, exception.ptr());
    throw py::error_already_set();
}

py::value_error bad_argument(std::string place, std::string found, std::string expected) {
    fe::Finding finding;
    finding.where.node = std::move(place);
    finding.found = std::move(found);
    finding.needed = std::move(expected);
    return py::value_error(fe::Report({std::move(finding)}).to_error().err_msg);
}

void bind_errors(py::module_& module) {
    not_supported = PyErr_NewExceptionWithDoc("sdpa_graph.cudnnGraphNotSupportedError",
                                              "No engine of the target supports the graph.", PyExc_Exception, nullptr);
    if (not_supported == nullptr) throw py::error_already_set();
    module.attr("cudnnGraphNotSupportedError") = py::reinterpret_borrow<py::object>(not_supported);
    module.def(
        "_in_python", [](std::string const& text) { return in_python(text); }, py::arg("text"),
        "A text of the library with the names that Python has for what C++ calls.");
}

}  // namespace binding
