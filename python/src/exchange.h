// Tensors by DLPack's table of C functions, which newer array libraries give their types: no Python code is called.
#pragma once

#include <sdpa_graph/tensor_view.h>

#include <pybind11/pybind11.h>

#include <optional>

namespace binding {

namespace py = pybind11;

// The dims and strides are the producer's, and valid until Python code runs again. Empty if the type has no such table,
// or the table cannot describe the tensor.
std::optional<sdpa_graph::dlpack::Tensor> exchanged(py::handle tensor);

}  // namespace binding
