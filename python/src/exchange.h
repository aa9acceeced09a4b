// Tensors by DLPack's table of C functions, which newer array libraries give their types: without calls of Python.
#pragma once

#include <sdpa_graph/tensor_view.h>

#include <pybind11/pybind11.h>

#include <optional>

namespace binding {

namespace py = pybind11;

// Its dims and strides are the producer's, and good until Python goes on. Nothing where the type has no such table, or
// the tensor cannot be told so.
std::optional<sdpa_graph::dlpack::Tensor> exchanged(py::handle tensor);

}  // namespace binding
