// Errors of the library as Python's exceptions.
#pragma once

#include <cudnn_frontend/status.h>

#include <pybind11/pybind11.h>

#include <string>

namespace binding {

namespace py = pybind11;
namespace fe = cudnn_frontend;

// Raises the exception for the error's code, with its text, and with its place as attributes.
void check(fe::error_t const& error);

// The exception for an argument of the function at the place, which may be empty, worded as the library's findings.
py::value_error bad_argument(std::string place, std::string found, std::string expected);

void bind_errors(py::module_& module);

}  // namespace binding
