#include "buffers.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace binding {
namespace {

using Sizes = std::vector<std::int64_t>;

[[noreturn]] void refuse(std::string const& found, std::string const& needed) {
    throw py::value_error(found + ": " + needed);
}

// The type for a letter of Python's struct module; NOT_SET if the library has no such type.
fe::DataType_t type_of_letter(char letter, std::int64_t bytes) {
    using enum fe::DataType_t;
    switch (letter) {
        case 'e': return bytes == 2 ? HALF : NOT_SET;
        case 'f': return bytes == 4 ? FLOAT : NOT_SET;
        case 'd': return bytes == 8 ? DOUBLE : NOT_SET;
        case '?': return bytes == 1 ? BOOLEAN : NOT_SET;
        case 'b': return bytes == 1 ? INT8 : NOT_SET;
        case 'B': return bytes == 1 ? UINT8 : NOT_SET;
        case 'i':
        case 'l':
        case 'q': return bytes == 4 ? INT32 : bytes == 8 ? INT64 : NOT_SET;
        default: return NOT_SET;
    }
}

void check_order(char order, std::int64_t element_bytes, std::string const& format) {
    if ((order == '>' || order == '!') && element_bytes > 1)
        refuse("an array of big-endian numbers ('" + format + "')",
               "numbers in this machine's order are needed; array.astype(array.dtype.newbyteorder('=')) has them");
}

std::string text_of(Sizes const& sizes) {
    std::string text;
    for (std::int64_t const size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "(" + text + ")";
}

// Refuses fields of packed records, whose strides are no multiples of their size.
void set_layout(Memory& memory, Sizes byte_strides) {
    std::int64_t const element = std::max<std::int64_t>(memory.element_bytes, 1);
    for (std::size_t i = 0; i < byte_strides.size(); ++i) {
        if (memory.view.dim[i] > 1 && byte_strides[i] % element != 0)
            refuse("an array with strides of " + text_of(byte_strides) + " bytes",
                   "multiples of its elements' " + std::to_string(element) +
                       " bytes are needed; numpy.ascontiguousarray(array) copies it without gaps");
    }
    for (std::int64_t& stride : byte_strides) stride /= element;
    memory.view.stride = std::move(byte_strides);
    set_bytes(memory);
}

// Strides without gaps. If the product wraps, set_bytes() finds that the array is too large.
Sizes row_major_bytes(Memory const& memory) {
    Sizes strides(memory.view.dim.size());
    auto step = static_cast<std::uint64_t>(memory.element_bytes);
    for (std::size_t i = strides.size(); i-- > 0; step *= static_cast<std::uint64_t>(memory.view.dim[i]))
        strides[i] = static_cast<std::int64_t>(step);
    return strides;
}

// The entries of an interface's dictionary. A faulty entry raises a ValueError that says what is wrong with it.
class Interface {
   public:
    Interface(py::handle object, char const* name) : owner_(object), name_(name) {
        py::object const entries = object.attr(name);
        if (!py::isinstance<py::dict>(entries)) fail("it is no dictionary");
        entries_ = entries;
    }

    [[noreturn]] void fail(std::string const& why) const {
        refuse("the " + name_ + " of a " + Py_TYPE(owner_.ptr())->tp_name,
               why + "; what the protocol says is needed, as objects of NumPy and CuPy have it");
    }

    bool has(char const* key) const { return entries_.contains(key) && !entries_[key].is_none(); }

    template <class Value>
    Value get(char const* key) const {
        if (!has(key)) fail("it has no '" + std::string(key) + "'");
        try {
            return entries_[key].cast<Value>();
        } catch (py::cast_error const&) {
        } catch (py::error_already_set const& error) {
            if (!error.matches(PyExc_TypeError)) throw;  // such as an interrupt
        }
        fail("its '" + std::string(key) + "' is " + std::string(py::repr(entries_[key])));
    }

    Sizes sizes(char const* key) const {
        Sizes sizes;
        try {
            for (py::handle const size : get<py::tuple>(key)) sizes.push_back(size.cast<std::int64_t>());
        } catch (py::cast_error const&) {
            fail("its '" + std::string(key) + "' has entries that are no integers of 64 bits");
        }
        return sizes;
    }

   private:
    py::handle owner_;
    std::string name_;
    py::dict entries_;
};

// Reads a type such as "<f4", which is byte order, kind and bytes.
void read_type(Interface const& interface, Memory& memory) {
    auto const text = interface.get<std::string>("typestr");
    std::size_t digits = 2;
    while (digits < text.size() && digits < 6 && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
    if (digits == 2 || digits == 6) interface.fail("its 'typestr' is '" + text + "'");
    memory.element_bytes = std::stoll(text.substr(2, digits - 2));
    char const kind = text[1];
    bool const is_number = std::string_view("fiubc").find(kind) != std::string_view::npos;
    if (is_number) check_order(text[0], memory.element_bytes, text);
    memory.is_raw = kind == 'V' || kind == 'i' || kind == 'u' || kind == 'b';
    char const* const letters = kind == 'f' ? "efd" : kind == 'i' ? "bi" : kind == 'u' ? "B" : kind == 'b' ? "?" : "";
    for (char const letter : std::string_view(letters)) {
        memory.view.type = type_of_letter(letter, memory.element_bytes);
        if (memory.view.type != fe::DataType_t::NOT_SET) return;
    }
}

}  // namespace

void set_bytes(Memory& memory) {
    Sizes const &dim = memory.view.dim, &stride = memory.view.stride;
    std::int64_t last = 0, reach = 0;
    bool is_empty = false, is_too_far = false;
    for (std::size_t i = 0; i < dim.size(); ++i) {
        is_empty = is_empty || dim[i] == 0;
        is_too_far = is_too_far || dim[i] < 0 ||
                     (stride[i] > 0 && (__builtin_mul_overflow(dim[i] - 1, stride[i], &reach) ||
                                        __builtin_add_overflow(last, reach, &last)));
    }
    if (!is_empty && !is_too_far)
        is_too_far =
            __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, memory.element_bytes, &memory.bytes);
    if (is_too_far)
        refuse("an array of shape " + text_of(dim) + " with strides " + text_of(stride),
               "sizes from 0 on, of memory within 64 bits, are needed");
    if (is_empty) memory.bytes = 0;
}

bool read_buffer(py::handle object, Memory& memory) {
    auto const exported = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(object.ptr()));
    if (!exported) {
        bool const is_closed = PyErr_ExceptionMatches(PyExc_ValueError) && PyMemoryView_Check(object.ptr());
        if (is_closed) throw py::error_already_set();
        PyErr_Clear();
        return false;
    }
    Py_buffer const& buffer = *PyMemoryView_GET_BUFFER(exported.ptr());
    if (buffer.suboffsets != nullptr) return false;
    std::string const format = buffer.format == nullptr ? "B" : buffer.format;
    std::size_t const place = format.find_first_not_of("@=<>!");
    char const letter = place != std::string::npos && place + 1 == format.size() ? format[place] : '\0';
    if (place == 1) check_order(format[0], buffer.itemsize, format);
    memory.view.data = buffer.buf;
    memory.view.dim.assign(buffer.shape, buffer.shape + buffer.ndim);
    memory.view.type = type_of_letter(letter, buffer.itemsize);
    memory.view.device = sdpa_graph::Device_kind::CPU;
    memory.view.is_read_only = buffer.readonly != 0;
    memory.element_bytes = buffer.itemsize;
    memory.is_raw = letter == 'h' || letter == 'H' || letter == 'I' || letter == 'L' || letter == 'Q' ||
                    is_integer(memory.view.type);
    memory.has_exact_strides = true;
    memory.owner = exported;
    set_layout(memory, {buffer.strides, buffer.strides + buffer.ndim});
    return true;
}

void read_interface(py::handle object, char const* name, Memory& memory) {
    Interface const interface(object, name);
    auto const data = interface.get<py::tuple>("data");
    if (data.size() != 2 || PyLong_Check(data[0].ptr()) == 0 || PyLong_Check(data[1].ptr()) == 0)
        interface.fail("its 'data' is " + std::string(py::repr(data)));
    memory.view.data = read_address(data[0]);
    memory.view.is_read_only = PyObject_IsTrue(data[1].ptr()) != 0;
    memory.view.dim = interface.sizes("shape");
    read_type(interface, memory);
    Sizes const strides = interface.has("strides") ? interface.sizes("strides") : row_major_bytes(memory);
    if (strides.size() != memory.view.dim.size()) interface.fail("its 'strides' are not as many as its 'shape'");
    set_layout(memory, strides);
}

}  // namespace binding
