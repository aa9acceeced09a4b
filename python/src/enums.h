// The library's enumerations as classes of Python's enum module, and data types by the names that other libraries give
// them.
#pragma once

#include <cudnn_frontend/enum_text.h>
#include <cudnn_frontend/names_only.h>
#include <cudnn_frontend/tensor.h>
#include <sdpa_graph/group.h>

#include <pybind11/pybind11.h>

#include <type_traits>

namespace binding {

namespace py = pybind11;
namespace fe = cudnn_frontend;

// The class that stands for an enumeration, made by bind_enums(); it lives as long as the interpreter.
template <class Enum>
inline PyObject* enum_class = nullptr;

template <class Enum>
constexpr bool is_bound = std::is_enum_v<Enum> &&
                          (std::is_same_v<Enum, fe::graph::ScalarType> || std::is_same_v<Enum, fe::RewritePolicy_t> ||
                           std::is_same_v<Enum, fe::ShapePolicy_t> || std::is_same_v<Enum, fe::Rewrite_t> ||
                           std::is_same_v<Enum, sdpa_graph::Group_way> ||
                           requires(Enum value) { fe::detail::enum_text(value); });

// The type for a data_type, a torch or NumPy dtype, or None; raises TypeError for anything else.
fe::DataType_t data_type_of(py::handle object);

void bind_enums(py::module_& module);

}  // namespace binding

// Replaces pybind11's own caster for enumerations.
template <class Enum>
struct pybind11::detail::type_caster_enum_type_enabled<Enum, std::enable_if_t<binding::is_bound<Enum>>>
    : std::false_type {};

// The value of an enumerator is the number that it has in C++.
template <class Enum>
struct pybind11::detail::type_caster<Enum, std::enable_if_t<binding::is_bound<Enum>>> {
    PYBIND11_TYPE_CASTER(Enum, const_name("enum"));

    bool load(handle source, bool) {
        if (PyObject_IsInstance(source.ptr(), binding::enum_class<Enum>) != 1) return false;
        value = static_cast<Enum>(source.attr("value").cast<int>());
        return true;
    }

    static handle cast(Enum source, return_value_policy, handle) {
        return handle(binding::enum_class<Enum>)(static_cast<int>(source)).release();
    }
};
