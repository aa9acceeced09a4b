#include "memory.h"

#include "buffers.h"
#include "enums.h"
#include "errors.h"
#include "exchange.h"

#include <cudnn_frontend/backend_helpers.h>

#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace binding {
namespace {

using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

// Each dtype of torch exists once, and as long as the process.
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

// Each type is asked once. The types of tensors are few, and stay alive.
bool is_of_torch(py::handle object) {
    static auto* const known = new std::unordered_set<PyTypeObject*>();
    PyTypeObject* const type = Py_TYPE(object.ptr());
    if (known->contains(type)) return true;
    if (PyObject_HasAttr(object.ptr(), names().storage) == 0) return false;
    Py_INCREF(type);
    known->insert(type);
    return true;
}

// False if the exchanged tensor does not show `enough` memory: its storage may have more.
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

// Reads the tensor's address and storage: a tensor that requires gradients does not export DLPack, and is as good here.
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

// The tensor of a capsule of either form, and whether it may only be read.
std::pair<sdpa_graph::dlpack::Tensor const*, bool> tensor_of(py::handle capsule) {
    using namespace sdpa_graph::dlpack;
    constexpr std::uint32_t kMajor = 1;
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) {
        auto const* const managed = static_cast<Managed_tensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
        return {&managed->tensor, false};
    }
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
        auto const* const managed =
            static_cast<Managed_tensor_versioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
        if (managed->major == kMajor) return {&managed->tensor, (managed->flags & 1) != 0};
    }
    return {nullptr, false};
}

// The capsule is the memory's owner: some objects export memory that ends with it.
void read_dlpack(py::handle object, Memory& memory) {
    py::object capsule = object.attr("__dlpack__")();
    auto const [tensor, is_read_only] = tensor_of(capsule);
    if (tensor == nullptr)
        throw py::value_error(std::string("the __dlpack__() of a ") + Py_TYPE(object.ptr())->tp_name + " gives a " +
                              Py_TYPE(capsule.ptr())->tp_name +
                              " that is no unused tensor: a capsule of DLPack 1 or older is needed");
    check(sdpa_graph::make_view(*tensor, memory.view));
    memory.view.is_read_only = is_read_only;
    memory.element_bytes = tensor->type.bits / 8;
    memory.is_raw = is_integer(memory.view.type);
    memory.owner = std::move(capsule);
    set_bytes(memory);
}

}  // namespace

bool is_integer(fe::DataType_t type) {
    using enum fe::DataType_t;
    return type == INT8 || type == UINT8 || type == INT32 || type == INT64 || type == BOOLEAN;
}

void* read_address(py::handle integer) {
    void* const address = PyLong_AsVoidPtr(integer.ptr());
    if (address == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return address;
}

bool may_be_address(void const* address) {
    constexpr std::intptr_t kPage = 4096;
    return reinterpret_cast<std::intptr_t>(address) >= kPage;
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
        read_interface(object, "__cuda_array_interface__", memory);
        memory.view.device = Device_kind::CUDA;
        memory.view.device_index = kUnknownDevice;
    } else if (PyObject_CheckBuffer(object.ptr()) && read_buffer(object, memory)) {
    } else if (py::hasattr(object, "__array_interface__")) {
        read_interface(object, "__array_interface__", memory);
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

// NumPy exports arrays that cannot be written only as buffers.
Tensor_view view_of(py::handle object) {
    Memory memory;
    bool const is_buffer = PyObject_CheckBuffer(object.ptr()) != 0 && read_buffer(object, memory);
    if (!is_buffer || memory.view.type == fe::DataType_t::NOT_SET) read_dlpack(object, memory);
    return memory.view;
}

}  // namespace binding
