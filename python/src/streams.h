// Streams of GPUs as runs from Python need them: their device, and what has to stay alive until they are done.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

struct CUstream_st;

namespace binding {

namespace py = pybind11;

// The number of the stream's GPU; nothing where the CUDA driver does not say it.
std::optional<int> device_of(CUstream_st* stream);

// Keeps the objects until all that is in the stream now is done, and lets go of those that earlier calls kept and whose
// streams are done. While a stream is captured into a CUDA graph nothing is kept: the graph runs when the program
// wants.
void keep_until_done(CUstream_st* stream, std::vector<py::object> objects);

}  // namespace binding
