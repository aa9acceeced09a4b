#include "pack_keys.h"

#include <pybind11/stl.h>

namespace binding {
namespace {

// The needs of the tensor of that name.
Need const& need_of_name(std::vector<Need> const& needs, std::string const& name) {
    Need const* found = nullptr;
    std::string names;
    for (Need const& need : needs) {
        if (!need.name.empty()) names += (names.empty() ? "'" : ", '") + need.name + "'";
        if (need.name != name) continue;
        if (found != nullptr)
            throw py::value_error("two tensors of the graph are called '" + name + "': give them by tensor or by uid");
        found = &need;
    }
    if (found == nullptr || name.empty())
        throw py::value_error("the pack has memory for '" + name + "', which names no tensor that needs memory; " +
                              (names.empty() ? "no tensor has a name" : "the names are " + names));
    return *found;
}

}  // namespace

bool read_key(std::vector<Need> const& needs, py::handle key, std::int64_t& uid) {
    if (key.is_none()) return false;
    if (PyUnicode_Check(key.ptr()) != 0) {
        uid = need_of_name(needs, key.cast<std::string>()).uid;
        return true;
    }
    if (PyLong_Check(key.ptr()) != 0) {
        int is_too_large = 0;
        uid = PyLong_AsLongLongAndOverflow(key.ptr(), &is_too_large);
        if (is_too_large != 0)
            throw py::value_error("a pack's key is " + std::string(py::str(key)) + ": a uid has 64 bits");
        return true;
    }
    if (!py::isinstance<fe::graph::Tensor_attributes>(key))
        throw py::type_error(std::string("a pack's key is a ") + Py_TYPE(key.ptr())->tp_name +
                             ": a tensor of the graph, its uid or its name is needed");
    auto const& tensor = key.cast<fe::graph::Tensor_attributes const&>();
    uid = tensor.get_uid();
    return tensor.has_uid() != 0;
}

py::dict as_dictionary(Graph& graph, py::handle given, std::optional<std::vector<std::int64_t>> const& uids) {
    if (PyDict_Check(given.ptr()) != 0) {
        if (uids) throw py::type_error("tensor_uids belong to a list of memory: a dictionary has keys of its own");
        return py::reinterpret_borrow<py::dict>(given);
    }
    if (py::hasattr(given, "keys")) return py::dict(py::reinterpret_borrow<py::object>(given));
    if (!py::isinstance<py::list>(given) && !py::isinstance<py::tuple>(given))
        throw py::type_error(std::string("the pack is a ") + Py_TYPE(given.ptr())->tp_name +
                             ": a dictionary of memory by tensor, uid or name, or a list, is needed");
    auto const values = py::reinterpret_borrow<py::sequence>(given);
    std::vector<std::int64_t> const keys = uids ? *uids : graph.inner.get_variant_pack_uids_sorted();
    if (keys.size() != values.size())
        throw py::value_error("a list of " + std::to_string(values.size()) + " for " + std::to_string(keys.size()) +
                              (uids ? " tensor_uids" : " tensors that the graph needs, by ascending uid"));
    py::dict pack;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        py::int_ const key(keys[i]);
        if (pack.contains(key)) throw py::value_error("tensor_uids has " + std::to_string(keys[i]) + " twice");
        pack[key] = values[i];
    }
    return pack;
}

}  // namespace binding
