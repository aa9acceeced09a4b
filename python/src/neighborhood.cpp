// Neighborhood attention on tensors of torch.
#include "bindings.h"
#include "torch_calls.h"

#include <sdpa_graph/neighborhood.h>

#include <pybind11/stl.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace binding {
namespace {

namespace na = sdpa_graph::neighborhood;

struct Window {
    std::vector<int> kernel_size, dilation;
    std::vector<bool> is_causal;
};

template <class Tuple, class List>
Tuple tuple_of(List const& list) {
    Tuple tuple{};
    if (list.size() != tuple.size()) throw std::invalid_argument("windows need an entry for each axis of space");
    std::copy(list.begin(), list.end(), tuple.begin());
    return tuple;
}

template <std::size_t Rank>
fe::error_t run(std::string const& function, Tensors const& t, Window const& window, float scale,
                sdpa_graph::Place const& place) {
    auto const kernel = tuple_of<na::Tuple<Rank>>(window.kernel_size);
    auto const dilation = tuple_of<na::Tuple<Rank>>(window.dilation);
    auto const causal = tuple_of<na::Boolean_tuple<Rank>>(window.is_causal);
    na::Tuple<Rank> hint;
    hint.fill(1);
    if (function == "forward") {
        return na::na_forward<Rank>(t.at("output"), t.at("query"), t.at("key"), t.at("value"), t.maybe("rel_pos_bias"),
                                    t.maybe("logsumexp"), kernel, dilation, causal, scale, hint, hint, place);
    }
    if (function == "backward") {
        return na::na_backward<Rank>(t.at("grad_query"), t.at("grad_key"), t.at("grad_value"), t.at("query"),
                                     t.at("key"), t.at("value"), t.at("output"), t.at("grad_output"), t.at("logsumexp"),
                                     kernel, dilation, causal, scale, hint, hint, hint, false, place);
    }
    if (function == "qk_forward") {
        return na::na_qk_forward<Rank>(t.at("attn"), t.at("query"), t.at("key"), t.maybe("rel_pos_bias"), kernel,
                                       dilation, causal, place);
    }
    if (function == "qk_backward") {
        return na::na_qk_backward<Rank>(t.at("d_query"), t.at("d_key"), t.maybe("d_rel_pos_bias"), t.at("d_attn"),
                                        t.at("query"), t.at("key"), kernel, dilation, causal, place);
    }
    if (function == "av_forward") {
        return na::na_av_forward<Rank>(t.at("output"), t.at("attn"), t.at("value"), kernel, dilation, causal, place);
    }
    return na::na_av_backward<Rank>(t.at("d_attn"), t.at("d_value"), t.at("d_out"), t.at("attn"), t.at("value"), kernel,
                                    dilation, causal, place);
}

void neighborhood(std::string const& function, py::dict const& tensors, std::vector<int> const& kernel_size,
                  std::vector<int> const& dilation, std::vector<bool> const& is_causal, float scale,
                  bool is_deterministic, py::function const& workspace) {
    Window const window{kernel_size, dilation, is_causal};
    run_call(tensors, workspace, [&](Tensors const& t, sdpa_graph::Place place) {
        place.is_deterministic = is_deterministic;
        return kernel_size.size() == 1   ? run<1>(function, t, window, scale, place)
               : kernel_size.size() == 2 ? run<2>(function, t, window, scale, place)
                                         : run<3>(function, t, window, scale, place);
    });
}

}  // namespace

void bind_neighborhood(py::module_& module) {
    module.def("_neighborhood", &neighborhood, py::arg("function"), py::arg("tensors"), py::arg("kernel_size"),
               py::arg("dilation"), py::arg("is_causal"), py::arg("scale"), py::arg("is_deterministic"),
               py::arg("workspace"));
}

}  // namespace binding
