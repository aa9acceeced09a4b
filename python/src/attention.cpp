#include "bindings.h"

#include "attention_options.h"

#include <pybind11/stl.h>

namespace binding {
namespace {

using fe::graph::SDPA_attributes;
using fe::graph::SDPA_backward_attributes;
using fe::graph::SDPA_fp8_backward_attributes;
using Tensors = std::vector<Tensor_ptr>;

// The results as a list, as the existing package gives them.
template <std::size_t Count>
py::list results(Graph& graph, std::array<Tensor_ptr, Count> const& tensors) {
    if (std::exception_ptr const failure = std::exchange(graph.modifier_failure, nullptr))
        std::rethrow_exception(failure);
    py::list list;
    for (Tensor_ptr const& tensor : tensors) list.append(py::cast(graph.writes(tensor)));
    return list;
}

// A list of tensors as the arguments of a builder call.
template <std::size_t Count, class Call>
auto spread(Tensors const& tensors, Call const& call) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return call(tensors[I]...); }
    (std::make_index_sequence<Count>());
}

py::list sdpa(py::object const& self, Tensors const& inputs, py::dict const& options) {
    auto& graph = self.cast<Graph&>();
    SDPA_attributes const attributes = read_options<SDPA_attributes>({"sdpa", self, graph}, options);
    return spread<3>(inputs, [&](auto const&... in) { return results(graph, graph.inner.sdpa(in..., attributes)); });
}

py::list sdpa_backward(py::object const& self, Tensors const& inputs, py::dict const& options) {
    auto& graph = self.cast<Graph&>();
    auto const attributes = read_options<SDPA_backward_attributes>({"sdpa_backward", self, graph}, options);
    return spread<6>(inputs,
                     [&](auto const&... in) { return results(graph, graph.inner.sdpa_backward(in..., attributes)); });
}

// Nine tensors, or six with scales for blocks of 32 numbers.
py::list sdpa_fp8(py::object const& self, Tensors const& inputs, py::dict const& options) {
    auto& graph = self.cast<Graph&>();
    bool const has_blocks = inputs.size() == 6;
    char const* const method = has_blocks ? "sdpa_mxfp8" : "sdpa_fp8";
    SDPA_attributes const attributes = read_options<SDPA_attributes>({method, self, graph}, options);
    auto const call = [&](auto const&... in) { return results(graph, graph.inner.sdpa_fp8(in..., attributes)); };
    return has_blocks ? spread<6>(inputs, call) : spread<9>(inputs, call);
}

// Eighteen tensors, or seventeen with scales for blocks.
py::list sdpa_fp8_backward(py::object const& self, Tensors const& inputs, py::dict const& options) {
    auto& graph = self.cast<Graph&>();
    bool const has_blocks = inputs.size() == 17;
    char const* const method = has_blocks ? "sdpa_mxfp8_backward" : "sdpa_fp8_backward";
    auto const attributes = read_options<SDPA_fp8_backward_attributes>({method, self, graph}, options);
    auto const call = [&](auto const&... in) {
        return results(graph, graph.inner.sdpa_fp8_backward(in..., attributes));
    };
    return has_blocks ? spread<17>(inputs, call) : spread<18>(inputs, call);
}

}  // namespace

void bind_attention(Graph_class& graph) {
    graph.def("_sdpa", &sdpa)
        .def("_sdpa_backward", &sdpa_backward)
        .def("_sdpa_fp8", &sdpa_fp8)
        .def("_sdpa_fp8_backward", &sdpa_fp8_backward)
        .def_static("_option_names", [](std::string const& kind) {
            if (kind == "sdpa_backward") return option_names<SDPA_backward_attributes>();
            if (kind == "sdpa_fp8_backward") return option_names<SDPA_fp8_backward_attributes>();
            return option_names<SDPA_attributes>();
        });
}

}  // namespace binding
