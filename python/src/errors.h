// Errors of the library as Python's exceptions.
#pragma once

#include <cudnn_frontend/status.h>

#include <pybind11/pybind11.h>

namespace binding {

namespace py = pybind11;
namespace fe = cudnn_frontend;

// Raises the exception for the error's code, with its text, and with its place as attributes.
void check(fe::error_t const& error);

void bind_errors(py::module_& module);

}  // namespace binding
