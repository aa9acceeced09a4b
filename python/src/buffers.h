// Reads the memory that arrays describe by the buffer protocol, and by the dictionaries of __array_interface__ and
// __cuda_array_interface__.
#pragma once

#include "memory.h"

namespace binding {

// Sets memory.bytes from the view's dims and strides; raises ValueError if these reach beyond any address.
void set_bytes(Memory& memory);

// Reads arrays of NumPy, bytes, array.array and memoryview; false if the object has a type that buffers cannot name.
// The memory's owner keeps the export, so that the object can neither free nor move its memory.
bool read_buffer(py::handle object, Memory& memory);

// Reads the dictionary that is the object's attribute `name`.
void read_interface(py::handle object, char const* name, Memory& memory);

}  // namespace binding
