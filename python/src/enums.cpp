#include "enums.h"

#include <pybind11/eval.h>

#include <string>
#include <utility>
#include <vector>

namespace binding {
namespace {

// The base of all enumerations: int() of an enumerator is its number. An enumerator equals no number, as in the
// existing package; one of enum.IntEnum would.
constexpr char const* kNumbered = R"(
import enum

class _Numbered(enum.Enum):
    def __int__(self):
        return self.value

    __index__ = __int__
)";

void bind_base(py::module_& module) {
    py::dict scope;
    scope["__name__"] = "sdpa_graph._core";
    py::exec(kNumbered, scope);
    module.attr("_Numbered") = scope["_Numbered"];
}

py::object bind_names(py::module_& module, char const* name, std::vector<std::string> const& enumerators) {
    py::list members;
    for (std::size_t i = 0; i < enumerators.size(); ++i) members.append(py::make_tuple(enumerators[i], i));
    py::object made = module.attr("_Numbered")(name, members, py::arg("module") = "sdpa_graph");
    module.attr(name) = made;
    return made;
}

template <class Enum>
void bind_enum(py::module_& module, char const* name, std::vector<std::string> const& enumerators) {
    enum_class<Enum> = bind_names(module, name, enumerators).release().ptr();
}

// Enumerators come from the library's own table of names, so that none is left out here.
template <class Enum>
void bind_enum(py::module_& module, char const* name) {
    std::vector<std::string> enumerators;
    for (int i = 0; std::string(fe::to_string(static_cast<Enum>(i))) != "?"; ++i)
        enumerators.emplace_back(fe::to_string(static_cast<Enum>(i)));
    bind_enum<Enum>(module, name, enumerators);
}

// The names of types in torch and NumPy, without "torch." in front.
constexpr std::pair<char const*, fe::DataType_t> kTypeNames[] = {
    {"float16", fe::DataType_t::HALF},
    {"bfloat16", fe::DataType_t::BFLOAT16},
    {"float32", fe::DataType_t::FLOAT},
    {"float64", fe::DataType_t::DOUBLE},
    {"int8", fe::DataType_t::INT8},
    {"int32", fe::DataType_t::INT32},
    {"int64", fe::DataType_t::INT64},
    {"uint8", fe::DataType_t::UINT8},
    {"bool", fe::DataType_t::BOOLEAN},
    {"float8_e4m3fn", fe::DataType_t::FP8_E4M3},
    {"float8_e5m2", fe::DataType_t::FP8_E5M2},
    {"float8_e8m0fnu", fe::DataType_t::FP8_E8M0},
};

std::string type_name(py::handle object) {
    if (PyType_Check(object.ptr())) return py::str(object.attr("__name__"));
    if (py::hasattr(object, "name")) return py::str(object.attr("name"));
    std::string const text = py::str(object);
    return text.starts_with("torch.") ? text.substr(6) : text;
}

}  // namespace

fe::DataType_t data_type_of(py::handle object) {
    if (object.is_none()) return fe::DataType_t::NOT_SET;
    if (py::isinstance(object, py::handle(enum_class<fe::DataType_t>))) return object.cast<fe::DataType_t>();
    std::string const name = type_name(object);
    for (auto const& [known, type] : kTypeNames)
        if (name == known) return type;
    throw py::type_error("'" + name + "' is no data type: a cudnn.data_type, or a dtype of torch or NumPy, is needed");
}

void bind_enums(py::module_& module) {
    bind_base(module);
    bind_enum<fe::DataType_t>(module, "data_type");
    bind_enum<fe::HeurMode_t>(module, "heur_mode");
    bind_enum<fe::BuildPlanPolicy_t>(module, "build_plan_policy");
    bind_enum<fe::DiagonalAlignment_t>(module, "diagonal_alignment");
    bind_enum<fe::AttentionImplementation_t>(module, "attention_implementation");
    bind_enum<fe::TensorReordering_t>(module, "tensor_reordering");
    bind_enum<fe::BehaviorNote_t>(module, "behavior_note");
    bind_enum<fe::NumericalNote_t>(module, "numerical_note");
    bind_enum<fe::ReductionMode_t>(module, "reduction_mode");
    bind_enum<fe::ReshapeMode_t>(module, "reshape_mode");
    bind_enum<fe::PointwiseMode_t>(module, "pointwise_mode");
    bind_enum<fe::KnobType_t>(module, "knob_type");
    bind_enum<fe::graph::ScalarType>(module, "scalar_type", {"RUNTIME_PARAM", "COMPILE_TIME_CONST"});
    bind_enum<sdpa_graph::Group_way>(module, "group_way", {"AUTO", "GATHER", "ALL_TO_ALL", "RING"});
    bind_enum<fe::RewritePolicy_t>(module, "rewrite_policy", {"AUTO", "OFF"});
    bind_enum<fe::ShapePolicy_t>(module, "shape_policy", {"EXACT", "CLASSES", "AUTO", "ALL_SHAPES"});
    bind_enum<fe::Rewrite_t>(module, "rewrite", {"SLICES", "FEW_QUERIES", "BANDS", "NEIGHBORHOOD_BAND"});
    // Enumerations of operations that this library does not have: programs copy the names on import.
    bind_names(module, "norm_forward_phase", {"NOT_SET", "INFERENCE", "TRAINING"});
    bind_names(module, "moe_grouped_matmul_mode", {"NOT_SET", "NONE", "GATHER", "SCATTER", "COMBINE"});
    bind_names(module, "cuda_graph_retention", {"PER_GRAPH", "NONE"});
    module.def(
        "_data_type_of", [](py::handle object) { return data_type_of(object); }, py::arg("dtype").none(true));
}

}  // namespace binding
