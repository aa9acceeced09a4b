#include "bindings.h"

#include <pybind11/stl.h>

namespace binding {
namespace {

using fe::PointwiseMode_t;
using fe::graph::Pointwise_attributes;

// The named pointwise operations of the existing package, with its names for their operands.
struct Operation {
    char const* name;
    PointwiseMode_t mode;
    char const* first = "input";
    char const* second = nullptr;
};

constexpr Operation kOperations[] = {
    {"add", PointwiseMode_t::ADD, "a", "b"},
    {"sub", PointwiseMode_t::SUB, "a", "b"},
    {"mul", PointwiseMode_t::MUL, "a", "b"},
    {"div", PointwiseMode_t::DIV, "a", "b"},
    {"mod", PointwiseMode_t::MOD, "input0", "input1"},
    {"pow", PointwiseMode_t::POW, "input0", "input1"},
    {"max", PointwiseMode_t::MAX, "input0", "input1"},
    {"min", PointwiseMode_t::MIN, "input0", "input1"},
    {"add_square", PointwiseMode_t::ADD_SQUARE, "a", "b"},
    {"bias", PointwiseMode_t::ADD, "input", "bias"},
    {"scale", PointwiseMode_t::MUL, "input", "scale"},
    {"sqrt", PointwiseMode_t::SQRT},
    {"rsqrt", PointwiseMode_t::RSQRT},
    {"reciprocal", PointwiseMode_t::RECIPROCAL},
    {"exp", PointwiseMode_t::EXP},
    {"log", PointwiseMode_t::LOG},
    {"neg", PointwiseMode_t::NEG},
    {"abs", PointwiseMode_t::ABS},
    {"ceil", PointwiseMode_t::CEIL},
    {"floor", PointwiseMode_t::FLOOR},
    {"sin", PointwiseMode_t::SIN},
    {"cos", PointwiseMode_t::COS},
    {"tan", PointwiseMode_t::TAN},
    {"erf", PointwiseMode_t::ERF},
    {"identity", PointwiseMode_t::IDENTITY},
    {"elu", PointwiseMode_t::ELU_FWD},
    {"gelu", PointwiseMode_t::GELU_FWD},
    {"gelu_approx_tanh", PointwiseMode_t::GELU_APPROX_TANH_FWD},
    {"softplus", PointwiseMode_t::SOFTPLUS_FWD},
    {"sigmoid", PointwiseMode_t::SIGMOID_FWD},
    {"tanh", PointwiseMode_t::TANH_FWD},
    {"logical_not", PointwiseMode_t::LOGICAL_NOT},
    {"elu_backward", PointwiseMode_t::ELU_BWD, "loss", "input"},
    {"gelu_backward", PointwiseMode_t::GELU_BWD, "loss", "input"},
    {"gelu_approx_tanh_backward", PointwiseMode_t::GELU_APPROX_TANH_BWD, "loss", "input"},
    {"softplus_backward", PointwiseMode_t::SOFTPLUS_BWD, "loss", "input"},
    {"sigmoid_backward", PointwiseMode_t::SIGMOID_BWD, "loss", "input"},
    {"tanh_backward", PointwiseMode_t::TANH_BWD, "loss", "input"},
    {"cmp_eq", PointwiseMode_t::CMP_EQ, "input", "comparison"},
    {"cmp_neq", PointwiseMode_t::CMP_NEQ, "input", "comparison"},
    {"cmp_gt", PointwiseMode_t::CMP_GT, "input", "comparison"},
    {"cmp_ge", PointwiseMode_t::CMP_GE, "input", "comparison"},
    {"cmp_lt", PointwiseMode_t::CMP_LT, "input", "comparison"},
    {"cmp_le", PointwiseMode_t::CMP_LE, "input", "comparison"},
    {"logical_and", PointwiseMode_t::LOGICAL_AND, "a", "b"},
    {"logical_or", PointwiseMode_t::LOGICAL_OR, "a", "b"},
};

Pointwise_attributes options(PointwiseMode_t mode, py::handle compute_data_type, std::string const& name) {
    return Pointwise_attributes().set_mode(mode).set_compute_data_type(data_type_of(compute_data_type)).set_name(name);
}

void bind_operation(Graph_class& graph, Operation const& operation) {
    PointwiseMode_t const mode = operation.mode;
    auto const compute = py::arg("compute_data_type") = fe::DataType_t::NOT_SET;
    auto const name = py::arg("name") = "";
    if (operation.second == nullptr) {
        graph.def(
            operation.name,
            [mode](Graph& self, Tensor_ptr const& in, py::handle type, std::string const& text) {
                return self.writes(self.inner.pointwise(in, options(mode, type, text)));
            },
            py::arg(operation.first).none(false), compute, name);
        return;
    }
    auto const binary = [mode](Graph& self, Tensor_ptr const& a, Tensor_ptr const& b, py::handle type,
                               std::string const& text) {
        return self.writes(self.inner.pointwise(a, b, options(mode, type, text)));
    };
    auto const bind = [&](char const* first, char const* second) {
        graph.def(operation.name, binary, py::arg(first).none(false), py::arg(second).none(false), compute, name);
    };
    bind(operation.first, operation.second);
    // Programs use either name.
    if (std::string_view(operation.first) == "a") bind("input0", "input1");
}

using Number = std::optional<float>;

Pointwise_attributes relu_options(PointwiseMode_t mode, Number negative_slope, Number lower, Number upper,
                                  py::handle type, std::string const& name) {
    Pointwise_attributes attributes = options(mode, type, name);
    if (negative_slope) attributes.set_relu_lower_clip_slope(*negative_slope);
    if (lower) attributes.set_relu_lower_clip(*lower);
    if (upper) attributes.set_relu_upper_clip(*upper);
    return attributes;
}

Pointwise_attributes swish_options(PointwiseMode_t mode, Number beta, py::handle type, std::string const& name) {
    Pointwise_attributes attributes = options(mode, type, name);
    if (beta) attributes.set_swish_beta(*beta);
    return attributes;
}

Tensor_ptr relu(Graph& graph, Tensor_ptr const& in, Number negative_slope, Number lower, Number upper, py::handle type,
                std::string const& name) {
    return graph.writes(
        graph.inner.pointwise(in, relu_options(PointwiseMode_t::RELU_FWD, negative_slope, lower, upper, type, name)));
}

Tensor_ptr relu_backward(Graph& graph, Tensor_ptr const& loss, Tensor_ptr const& in, Number negative_slope,
                         Number lower, Number upper, py::handle type, std::string const& name) {
    return graph.writes(graph.inner.pointwise(
        loss, in, relu_options(PointwiseMode_t::RELU_BWD, negative_slope, lower, upper, type, name)));
}

// Activations with settings of their own, and their gradients.
void bind_activations(Graph_class& graph) {
    auto const compute = py::arg("compute_data_type") = fe::DataType_t::NOT_SET;
    auto const named = py::arg("name") = "";
    auto const input = py::arg("input").none(false), loss = py::arg("loss").none(false);
    auto const unset = [](char const* name) { return py::arg(name).none(true) = py::none(); };
    graph.def("relu", &relu, input, unset("negative_slope"), unset("lower_clip"), unset("upper_clip"), compute, named);
    graph.def("relu_backward", &relu_backward, loss, input, unset("negative_slope"), unset("lower_clip"),
              unset("upper_clip"), compute, named);
    graph.def(
        "leaky_relu",
        [](Graph& self, Tensor_ptr const& in, float slope, py::handle type, std::string const& name) {
            return relu(self, in, slope, std::nullopt, std::nullopt, type, name);
        },
        input, py::arg("negative_slope"), compute, named);
    graph.def(
        "leaky_relu_backward",
        [](Graph& self, Tensor_ptr const& gradient, Tensor_ptr const& in, float slope, py::handle type,
           std::string const& name) {
            return relu_backward(self, gradient, in, slope, std::nullopt, std::nullopt, type, name);
        },
        loss, input, py::arg("negative_slope"), compute, named);
    graph.def(
        "swish",
        [](Graph& self, Tensor_ptr const& in, Number beta, py::handle type, std::string const& name) {
            return self.writes(self.inner.pointwise(in, swish_options(PointwiseMode_t::SWISH_FWD, beta, type, name)));
        },
        input, unset("swish_beta"), compute, named);
    graph.def(
        "swish_backward",
        [](Graph& self, Tensor_ptr const& gradient, Tensor_ptr const& in, py::handle type, Number beta,
           std::string const& name) {
            return self.writes(
                self.inner.pointwise(gradient, in, swish_options(PointwiseMode_t::SWISH_BWD, beta, type, name)));
        },
        loss, input, compute, unset("swish_beta"), named);
}

// Operations with operands or settings of their own.
void bind_special_operations(Graph_class& graph) {
    auto const compute = py::arg("compute_data_type") = fe::DataType_t::NOT_SET;
    auto const named = py::arg("name") = "";
    auto const input = py::arg("input").none(false);
    graph.def(
        "gen_index",
        [](Graph& self, Tensor_ptr const& in, std::int64_t axis, py::handle type, std::string const& name) {
            return self.writes(
                self.inner.pointwise(in, options(PointwiseMode_t::GEN_INDEX, type, name).set_axis(axis)));
        },
        input, py::arg("axis"), compute, named);
    graph.def(
        "binary_select",
        [](Graph& self, Tensor_ptr const& a, Tensor_ptr const& b, Tensor_ptr const& mask, py::handle type,
           std::string const& name) {
            return self.writes(self.inner.pointwise(a, b, mask, options(PointwiseMode_t::BINARY_SELECT, type, name)));
        },
        py::arg("input0").none(false), py::arg("input1").none(false), py::arg("mask").none(false), compute, named);
}

// Nodes that are not pointwise.
void bind_other_nodes(Graph_class& graph) {
    auto const compute = py::arg("compute_data_type") = fe::DataType_t::NOT_SET;
    auto const named = py::arg("name") = "";
    graph.def(
        "matmul",
        [](Graph& self, Tensor_ptr const& a, Tensor_ptr const& b, py::handle type, double padding,
           std::string const& name) {
            auto attributes = fe::graph::Matmul_attributes().set_padding(padding).set_name(name);
            return self.writes(self.inner.matmul(a, b, attributes.set_compute_data_type(data_type_of(type))));
        },
        py::arg("A").none(false), py::arg("B").none(false), compute, py::arg("padding") = 0.0, named);
    graph.def(
        "reduction",
        [](Graph& self, Tensor_ptr const& in, fe::ReductionMode_t mode, py::handle type, std::string const& name) {
            auto attributes = fe::graph::Reduction_attributes().set_mode(mode).set_name(name);
            return self.writes(self.inner.reduction(in, attributes.set_compute_data_type(data_type_of(type))));
        },
        py::arg("input").none(false), py::arg("mode"), compute, named);
    graph.def(
        "reshape",
        [](Graph& self, Tensor_ptr const& in, std::string const& name, fe::ReshapeMode_t mode) {
            return self.writes(
                self.inner.reshape(in, fe::graph::Reshape_attributes().set_reshape_mode(mode).set_name(name)));
        },
        py::arg("input").none(false), named, py::arg("reshape_mode") = fe::ReshapeMode_t::VIEW_ONLY);
    graph.def(
        "transpose",
        [](Graph& self, Tensor_ptr const& in, std::vector<std::int64_t> const& permutation, py::handle type,
           std::string const& name) {
            auto attributes = fe::graph::Transpose_attributes().set_permutation(permutation).set_name(name);
            return self.writes(self.inner.transpose(in, attributes.set_compute_data_type(data_type_of(type))));
        },
        py::arg("input").none(false), py::arg("permutation"), compute, named);
    graph.def(
        "slice",
        [](Graph& self, Tensor_ptr const& in, std::vector<py::slice> const& slices, py::handle type,
           std::string const& name) {
            std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
            std::vector<std::int64_t> steps;
            std::vector<std::int64_t> const dim = in->get_dim();
            for (std::size_t i = 0; i < slices.size(); ++i) {
                py::ssize_t start = 0, stop = 0, step = 1, count = 0;
                if (!slices[i].compute(i < dim.size() ? dim[i] : 0, &start, &stop, &step, &count))
                    throw py::error_already_set();
                ranges.emplace_back(start, stop);
                steps.push_back(step);
            }
            auto attributes = fe::graph::Slice_attributes().set_slices(ranges).set_strides(steps).set_name(name);
            return self.writes(self.inner.slice(in, attributes.set_compute_data_type(data_type_of(type))));
        },
        py::arg("input").none(false), py::arg("slices") = py::list(), compute, named);
}

}  // namespace

void bind_primitives(Graph_class& graph) {
    for (Operation const& operation : kOperations) bind_operation(graph, operation);
    bind_activations(graph);
    bind_special_operations(graph);
    bind_other_nodes(graph);
}

}  // namespace binding
