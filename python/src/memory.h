// Objects that Python programs pass as memory: addresses, tensors of torch, arrays of NumPy, and objects with DLPack,
// the buffer protocol or __cuda_array_interface__.
#pragma once

#include <sdpa_graph/tensor_view.h>

#include <pybind11/pybind11.h>

#include <limits>
#include <optional>
#include <string>

namespace binding {

namespace py = pybind11;
namespace fe = cudnn_frontend;

// The index of a GPU if it is unknown.
constexpr std::int32_t kUnknownDevice = -1;

struct Memory {
    sdpa_graph::Tensor_view view;
    std::int64_t bytes = -1;         // from view.data on; -1 if unknown, as for an address
    std::int64_t element_bytes = 0;  // 0 if unknown
    bool is_raw = false;             // integers, which programs also use to carry bits of types that a library lacks
    bool has_exact_strides = false;  // an array of the host, in which other strides than the graph's are a mistake
    bool is_of_torch = false;        // the allocator of torch orders memory by the current stream
    py::object owner;  // keeps the export that the view describes; it has to live as long as the memory is used
};

// Whether it is a type of integers, in which programs may carry the bits of other types.
bool is_integer(fe::DataType_t type);

// The address that a Python integer gives.
void* read_address(py::handle integer);

// False for the first page and for negative numbers, where no process has memory.
bool may_be_address(void const* address);

// Lower addresses are no memory of a program: a view of storage that was freed has its offset as an address.
bool is_of_program(void const* address);

// Empty for an object that is no memory. If it has more bytes than `enough`, not all may be counted.
std::optional<Memory> memory_of(py::handle object, std::int64_t enough = std::numeric_limits<std::int64_t>::max());
// Throws ValueError for such an object; `what` names it.
[[noreturn]] void refuse_object(py::handle object, std::string const& what);

// torch's current stream on the GPU, as an address; torch has to be imported.
std::uintptr_t stream_of_torch(std::int32_t device_index);

// The shape, strides, type and device of an object with __dlpack__. Its memory may be gone when this returns.
sdpa_graph::Tensor_view view_of(py::handle object);

}  // namespace binding
