#include "memory.h"

#include "enums.h"
#include "errors.h"
#include "exchange.h"

#include <cudnn_frontend/backend_helpers.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace binding {
namespace {

using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

bool is_integer(fe::DataType_t type) {
    using enum fe::DataType_t;
    return type == INT8 || type == UINT8 || type == INT32 || type == INT64 || type == BOOLEAN;
}

// The letters of Python's struct module; NOT_SET for what the library has no type for.
fe::DataType_t type_of_format(char letter, py::ssize_t bytes) {
    using enum fe::DataType_t;
    switch (letter) {
        case 'e': return HALF;
        case 'f': return FLOAT;
        case 'd': return DOUBLE;
        case '?': return BOOLEAN;
        case 'b': return INT8;
        case 'B': return UINT8;
        case 'i':
        case 'l':
        case 'q': return bytes == 4 ? INT32 : bytes == 8 ? INT64 : NOT_SET;
        default: return NOT_SET;
    }
}

void set_layout(Memory& memory, std::vector<std::int64_t> byte_strides) {
    for (std::int64_t& stride : byte_strides) stride /= std::max<std::int64_t>(memory.element_bytes, 1);
    memory.view.stride = std::move(byte_strides);
    memory.bytes = sdpa_graph::span_of(memory.view.dim, memory.view.stride) * memory.element_bytes;
}

struct Release {
    void operator()(Py_buffer* buffer) const {
        PyBuffer_Release(buffer);
        delete buffer;
    }
};

// Arrays of NumPy, bytes, array.array and memoryview; false where the object has a type that buffers cannot name.
bool read_buffer(py::handle object, Memory& memory) {
    std::unique_ptr<Py_buffer, Release> buffer(new Py_buffer());
    if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
        bool const is_closed = PyErr_ExceptionMatches(PyExc_ValueError) && PyMemoryView_Check(object.ptr());
        if (is_closed) throw py::error_already_set();
        PyErr_Clear();
        return false;
    }
    std::size_t const place = std::strspn(buffer->format == nullptr ? "B" : buffer->format, "@=<");
    char const letter = buffer->format == nullptr ? 'B' : buffer->format[place];
    memory.view.data = buffer->buf;
    memory.view.dim.assign(buffer->shape, buffer->shape + buffer->ndim);
    memory.view.type = type_of_format(letter, buffer->itemsize);
    memory.view.device = Device_kind::CPU;
    memory.view.is_read_only = buffer->readonly != 0;
    memory.element_bytes = buffer->itemsize;
    memory.is_raw = letter == 'h' || letter == 'H' || letter == 'I' || letter == 'L' || letter == 'Q' ||
                    is_integer(memory.view.type);
    memory.has_exact_strides = true;
    set_layout(memory, {buffer->strides, buffer->strides + buffer->ndim});
    return true;
}

// The dictionaries of __array_interface__ and __cuda_array_interface__.
void read_interface(py::dict const& interface, Memory& memory) {
    auto const data = interface["data"].cast<py::tuple>();
    auto const type = interface["typestr"].cast<std::string>();
    memory.view.data = reinterpret_cast<void*>(data[0].cast<std::uintptr_t>());
    memory.view.is_read_only = data[1].cast<bool>();
    for (py::handle const dim : interface["shape"].cast<py::tuple>())
        memory.view.dim.push_back(dim.cast<std::int64_t>());
    memory.element_bytes = std::stoll(type.substr(2));
    memory.is_raw = type[1] == 'V' || type[1] == 'i' || type[1] == 'u' || type[1] == 'b';
    char const kind = type[1] == 'f' ? "??e?f???d"[std::min<std::int64_t>(memory.element_bytes, 8)] : '\0';
    memory.view.type = type_of_format(kind == '?' ? '\0' : kind, memory.element_bytes);
    std::vector<std::int64_t> strides;
    if (interface.contains("strides") && !interface["strides"].is_none())
        for (py::handle const stride : interface["strides"].cast<py::tuple>())
            strides.push_back(stride.cast<std::int64_t>());
    else
        for (std::int64_t const stride : sdpa_graph::row_major(memory.view.dim))
            strides.push_back(stride * memory.element_bytes);
    set_layout(memory, std::move(strides));
}

// torch's dtypes are there once each, and as long as the process.
fe::DataType_t torch_type(py::handle dtype) {
    static auto* const known = new std::unordered_map<PyObject*, fe::DataType_t>();
    auto const found = known->find(dtype.ptr());
    if (found != known->end()) return found->second;
    fe::DataType_t type = fe::DataType_t::NOT_SET;
    try {
        type = data_type_of(dtype);
    } catch (py::type_error const&) {
        // A type that the library does not have counts as unknown bits.
    }
    dtype.inc_ref();
    return known->emplace(dtype.ptr(), type).first->second;
}

// Names of torch's attributes, made once: a run reads some for each tensor.
struct Torch_names {
    PyObject* const storage = PyUnicode_InternFromString("untyped_storage");
    PyObject* const address = PyUnicode_InternFromString("data_ptr");
    PyObject* const type = PyUnicode_InternFromString("dtype");
    PyObject* const size = PyUnicode_InternFromString("element_size");
    PyObject* const bytes = PyUnicode_InternFromString("nbytes");
    PyObject* const offset = PyUnicode_InternFromString("storage_offset");
    PyObject* const is_cuda = PyUnicode_InternFromString("is_cuda");
    PyObject* const is_cpu = PyUnicode_InternFromString("is_cpu");
    PyObject* const device = PyUnicode_InternFromString("get_device");
};

Torch_names const& names() {
    static auto const* const names = new Torch_names();
    return *names;
}

py::object checked(PyObject* object) {
    if (object == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(object);
}

py::object call(py::handle object, PyObject* name) { return checked(PyObject_CallMethodNoArgs(object.ptr(), name)); }

bool is_true(py::handle object, PyObject* name) {
    return checked(PyObject_GetAttr(object.ptr(), name)).ptr() == Py_True;
}

std::int64_t element_bytes_of(py::handle tensor, fe::DataType_t type) {
    bool const is_known = type != fe::DataType_t::NOT_SET;
    return is_known ? static_cast<std::int64_t>(fe::detail::get_element_size_in_bits(type)) / 8
                    : call(tensor, names().size).cast<std::int64_t>();
}

// Types are asked once. Those of tensors are few, and stay.
bool is_of_torch(py::handle object) {
    static auto* const known = new std::unordered_set<PyTypeObject*>();
    PyTypeObject* const type = Py_TYPE(object.ptr());
    if (known->contains(type)) return true;
    if (PyObject_HasAttr(object.ptr(), names().storage) == 0) return false;
    Py_INCREF(type);
    known->insert(type);
    return true;
}

// False where that does not show `enough` memory: its storage may have more.
bool read_exchanged(py::handle tensor, Memory& memory, std::int64_t enough) {
    auto const told = exchanged(tensor);
    if (!told) return false;
    memory.view.data = static_cast<char*>(told->data) + told->byte_offset;
    memory.view.type = sdpa_graph::dlpack::type_of(told->type);
    memory.view.device = sdpa_graph::dlpack::kind_of(told->device);
    memory.view.device_index = told->device.index;
    memory.element_bytes = told->type.bits / 8;
    auto const rank = static_cast<std::size_t>(told->rank);
    memory.bytes = sdpa_graph::span_of(rank, told->shape, told->strides) * told->type.bits / 8;
    bool const is_known = memory.view.type != fe::DataType_t::NOT_SET && memory.view.device != Device_kind::UNKNOWN;
    return is_known && is_of_program(memory.view.data) && memory.bytes >= enough;
}

// By its address and storage: a tensor that requires gradients does not export DLPack, and is as good here.
void read_storage(py::handle tensor, Memory& memory) {
    memory.view.data = reinterpret_cast<void*>(call(tensor, names().address).cast<std::uintptr_t>());
    memory.view.type = torch_type(checked(PyObject_GetAttr(tensor.ptr(), names().type)));
    memory.element_bytes = element_bytes_of(tensor, memory.view.type);
    memory.view.device = Device_kind::UNKNOWN;
    if (is_true(tensor, names().is_cuda)) {
        memory.view.device = Device_kind::CUDA;
        memory.view.device_index = call(tensor, names().device).cast<std::int32_t>();
    } else if (is_true(tensor, names().is_cpu)) {
        memory.view.device = Device_kind::CPU;
    }
    auto const whole = call(call(tensor, names().storage), names().bytes).cast<std::int64_t>();
    memory.bytes = whole - call(tensor, names().offset).cast<std::int64_t>() * memory.element_bytes;
}

void read_torch(py::handle tensor, Memory& memory, std::int64_t enough) {
    if (!read_exchanged(tensor, memory, enough)) read_storage(tensor, memory);
    memory.is_raw = memory.view.type == fe::DataType_t::NOT_SET || is_integer(memory.view.type);
    memory.is_of_torch = true;
}

void read_dlpack(py::handle object, Memory& memory) {
    py::object const capsule = object.attr("__dlpack__")();
    void* const managed = PyCapsule_GetPointer(capsule.ptr(), "dltensor");
    if (managed == nullptr) throw py::error_already_set();
    sdpa_graph::dlpack::Tensor const& tensor = static_cast<sdpa_graph::dlpack::Managed_tensor*>(managed)->tensor;
    check(sdpa_graph::make_view(tensor, memory.view));
    memory.element_bytes = tensor.type.bits / 8;
    memory.is_raw = is_integer(memory.view.type);
    memory.bytes = sdpa_graph::span_of(memory.view.dim, memory.view.stride) * memory.element_bytes;
}

}  // namespace

void* read_address(py::handle integer) {
    void* const address = PyLong_AsVoidPtr(integer.ptr());
    if (address == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return address;
}

bool is_of_program(void const* address) {
    constexpr std::uintptr_t kLowest = std::uintptr_t(1) << 32;
    return reinterpret_cast<std::uintptr_t>(address) >= kLowest;
}

std::optional<Memory> memory_of(py::handle object, std::int64_t enough) {
    Memory memory;
    if (PyLong_Check(object.ptr())) {
        memory.view.data = read_address(object);
    } else if (is_of_torch(object)) {
        read_torch(object, memory, enough);
    } else if (py::hasattr(object, "__cuda_array_interface__")) {
        read_interface(object.attr("__cuda_array_interface__"), memory);
        memory.view.device = Device_kind::CUDA;
        memory.view.device_index = kUnknownDevice;
    } else if (PyObject_CheckBuffer(object.ptr()) && read_buffer(object, memory)) {
    } else if (py::hasattr(object, "__array_interface__")) {
        read_interface(object.attr("__array_interface__"), memory);
        memory.view.device = Device_kind::CPU;
        memory.has_exact_strides = true;
    } else if (py::hasattr(object, "__dlpack__")) {
        read_dlpack(object, memory);
    } else {
        return std::nullopt;
    }
    return memory;
}

void refuse_object(py::handle object, std::string const& what) {
    throw py::value_error(what + " is a " + Py_TYPE(object.ptr())->tp_name +
                          ": an address, or an object with __dlpack__, __cuda_array_interface__ or a buffer is needed");
}

std::uintptr_t stream_of_torch(std::int32_t device_index) {
    static auto const* const current =
        new py::object(py::module_::import("torch").attr("_C").attr("_cuda_getCurrentRawStream"));
    return (*current)(device_index).cast<std::uintptr_t>();
}

// NumPy exports arrays that cannot be written as buffers alone.
Tensor_view view_of(py::handle object) {
    Memory memory;
    bool const is_buffer = PyObject_CheckBuffer(object.ptr()) && read_buffer(object, memory);
    if (!is_buffer || memory.view.type == fe::DataType_t::NOT_SET) read_dlpack(object, memory);
    return memory.view;
}

}  // namespace binding
