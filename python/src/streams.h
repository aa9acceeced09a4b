// Streams of GPUs for runs from Python: their device, and the objects that have to stay alive until they are done.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

struct CUstream_st;

namespace binding {

namespace py = pybind11;

// The number of the stream's GPU; empty if the CUDA driver does not report it.
std::optional<int> device_of(CUstream_st* stream);

// Keeps the objects until all work that is in the stream now is done, and releases those that earlier calls kept and
// whose streams are done. While a stream is captured into a CUDA graph nothing is kept: the program decides when the
// graph runs.
void keep_until_done(CUstream_st* stream, std::vector<py::object> objects);

}  // namespace binding
