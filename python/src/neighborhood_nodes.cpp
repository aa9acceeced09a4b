// The nodes of neighborhood attention, and pictures of their windows.
#include "bindings.h"

#include <cudnn_frontend/neighborhood_picture.h>

#include <pybind11/stl.h>

#include <array>
#include <optional>

namespace binding {
namespace {

using Sizes = std::vector<std::int64_t>;
using Flags = std::vector<bool>;

// The arguments that all nodes have: a window, with an entry for each axis of space, and the node's name.
struct Window {
    Sizes kernel_size;
    std::optional<Sizes> dilation;
    std::optional<Flags> is_causal;
    py::object compute_data_type;
    std::string name;
};

template <class Attributes>
Attributes attributes_of(Window const& window) {
    Attributes attributes;
    attributes.set_kernel_size(window.kernel_size).set_name(window.name);
    attributes.set_compute_data_type(data_type_of(window.compute_data_type));
    if (window.dilation) attributes.set_dilation(*window.dilation);
    if (window.is_causal) attributes.set_is_causal(*window.is_causal);
    return attributes;
}

template <std::size_t Count>
py::list results(Graph& graph, std::array<Tensor_ptr, Count> const& tensors) {
    py::list list;
    for (Tensor_ptr const& tensor : tensors) list.append(py::cast(graph.writes(tensor)));
    return list;
}

py::list attention(Graph& graph, std::array<Tensor_ptr, 3> const& in, Window const& window, std::optional<float> scale,
                   Tensor_ptr const& bias, bool generate_stats) {
    auto attributes = attributes_of<fe::graph::Neighborhood_attributes>(window);
    attributes.set_generate_stats(generate_stats);
    if (scale) attributes.set_attn_scale(*scale);
    if (bias) attributes.set_rel_pos_bias(bias);
    return results(graph, graph.inner.neighborhood_attention(in[0], in[1], in[2], attributes));
}

py::list attention_backward(Graph& graph, std::array<Tensor_ptr, 6> const& in, Window const& window,
                            std::optional<float> scale, Tensor_ptr const& bias, Tensor_ptr const& bias_gradient) {
    auto attributes = attributes_of<fe::graph::Neighborhood_backward_attributes>(window);
    if (scale) attributes.set_attn_scale(*scale);
    if (bias) attributes.set_rel_pos_bias(bias);
    if (bias_gradient) attributes.set_drel_pos_bias(graph.writes(bias_gradient));
    return results(graph,
                   graph.inner.neighborhood_attention_backward(in[0], in[1], in[2], in[3], in[4], in[5], attributes));
}

Tensor_ptr qk(Graph& graph, Tensor_ptr const& q, Tensor_ptr const& k, Window const& window, Tensor_ptr const& bias) {
    auto attributes = attributes_of<fe::graph::Neighborhood_qk_attributes>(window);
    if (bias) attributes.set_rel_pos_bias(bias);
    return graph.writes(graph.inner.neighborhood_qk(q, k, attributes));
}

py::list qk_backward(Graph& graph, std::array<Tensor_ptr, 3> const& in, Window const& window,
                     Tensor_ptr const& bias_gradient) {
    auto attributes = attributes_of<fe::graph::Neighborhood_qk_backward_attributes>(window);
    if (bias_gradient) attributes.set_drel_pos_bias(graph.writes(bias_gradient));
    return results(graph, graph.inner.neighborhood_qk_backward(in[0], in[1], in[2], attributes));
}

// The arguments that all nodes have.
auto const kKernelSize = [] { return py::arg("kernel_size"); };
auto const kDilation = [] { return py::arg("dilation").none(true) = py::none(); };
auto const kIsCausal = [] { return py::arg("is_causal").none(true) = py::none(); };
auto const kComputeType = [] { return py::arg("compute_data_type") = fe::DataType_t::NOT_SET; };
auto const kName = [] { return py::arg("name") = ""; };

py::arg input(char const* name) { return std::move(py::arg(name).none(false)); }
py::arg_v unset(char const* name) { return py::arg(name).none(true) = py::none(); }

void bind_fused(Graph_class& graph) {
    graph.def(
        "neighborhood_attention",
        [](Graph& self, Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v, Sizes const& kernel_size,
           std::optional<Sizes> const& dilation, std::optional<Flags> const& is_causal, std::optional<float> scale,
           Tensor_ptr const& bias, bool generate_stats, py::object const& type, std::string const& name) {
            Window const window{kernel_size, dilation, is_causal, type, name};
            return attention(self, {q, k, v}, window, scale, bias, generate_stats);
        },
        input("q"), input("k"), input("v"), kKernelSize(), kDilation(), kIsCausal(), unset("attn_scale"),
        unset("rel_pos_bias"), py::arg("generate_stats") = false, kComputeType(), kName(),
        "Attention of (batch, *space, heads, head dim) to windows of keys: [O, Stats], where Stats is None unless it "
        "was asked for.");
    graph.def(
        "neighborhood_attention_backward",
        [](Graph& self, Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v, Tensor_ptr const& o,
           Tensor_ptr const& dO, Tensor_ptr const& stats, Sizes const& kernel_size,
           std::optional<Sizes> const& dilation, std::optional<Flags> const& is_causal, std::optional<float> scale,
           Tensor_ptr const& bias, Tensor_ptr const& bias_gradient, py::object const& type, std::string const& name) {
            Window const window{kernel_size, dilation, is_causal, type, name};
            return attention_backward(self, {q, k, v, o, dO, stats}, window, scale, bias, bias_gradient);
        },
        input("q"), input("k"), input("v"), input("o"), input("dO"), input("stats"), kKernelSize(), kDilation(),
        kIsCausal(), unset("attn_scale"), unset("rel_pos_bias"), unset("dRel_pos_bias"), kComputeType(), kName(),
        "Its gradient: [dQ, dK, dV]. dRel_pos_bias is a tensor of the graph that the node writes.");
}

void bind_products(Graph_class& graph) {
    graph.def(
        "neighborhood_qk",
        [](Graph& self, Tensor_ptr const& q, Tensor_ptr const& k, Sizes const& kernel_size,
           std::optional<Sizes> const& dilation, std::optional<Flags> const& is_causal, Tensor_ptr const& bias,
           py::object const& type, std::string const& name) {
            return qk(self, q, k, {kernel_size, dilation, is_causal, type, name}, bias);
        },
        input("q"), input("k"), kKernelSize(), kDilation(), kIsCausal(), unset("rel_pos_bias"), kComputeType(), kName(),
        "Each query of (batch, heads, *space, head dim) times the keys of its window.");
    graph.def(
        "neighborhood_av",
        [](Graph& self, Tensor_ptr const& attn, Tensor_ptr const& v, Sizes const& kernel_size,
           std::optional<Sizes> const& dilation, std::optional<Flags> const& is_causal, py::object const& type,
           std::string const& name) {
            Window const window{kernel_size, dilation, is_causal, type, name};
            return self.writes(
                self.inner.neighborhood_av(attn, v, attributes_of<fe::graph::Neighborhood_av_attributes>(window)));
        },
        input("attn"), input("v"), kKernelSize(), kDilation(), kIsCausal(), kComputeType(), kName(),
        "Sums of the values of each window, by the weights of its slots.");
}

void bind_product_gradients(Graph_class& graph) {
    graph.def(
        "neighborhood_qk_backward",
        [](Graph& self, Tensor_ptr const& dAttn, Tensor_ptr const& q, Tensor_ptr const& k, Sizes const& kernel_size,
           std::optional<Sizes> const& dilation, std::optional<Flags> const& is_causal, Tensor_ptr const& bias_gradient,
           py::object const& type, std::string const& name) {
            Window const window{kernel_size, dilation, is_causal, type, name};
            return qk_backward(self, {dAttn, q, k}, window, bias_gradient);
        },
        input("dAttn"), input("q"), input("k"), kKernelSize(), kDilation(), kIsCausal(), unset("dRel_pos_bias"),
        kComputeType(), kName(), "The gradient of neighborhood_qk(): [dQ, dK].");
    graph.def(
        "neighborhood_av_backward",
        [](Graph& self, Tensor_ptr const& dO, Tensor_ptr const& attn, Tensor_ptr const& v, Sizes const& kernel_size,
           std::optional<Sizes> const& dilation, std::optional<Flags> const& is_causal, py::object const& type,
           std::string const& name) {
            Window const window{kernel_size, dilation, is_causal, type, name};
            auto const attributes = attributes_of<fe::graph::Neighborhood_av_backward_attributes>(window);
            return results(self, self.inner.neighborhood_av_backward(dO, attn, v, attributes));
        },
        input("dO"), input("attn"), input("v"), kKernelSize(), kDilation(), kIsCausal(), kComputeType(), kName(),
        "The gradient of neighborhood_av(): [dAttn, dV].");
}

std::string draw_window(Graph const& graph, Sizes const& query, bool is_svg) {
    using enum fe::graph::WindowPicture;
    std::string picture;
    check(fe::graph::draw_window(graph.inner, query, picture, is_svg ? SVG : TEXT));
    return picture;
}

}  // namespace

void bind_neighborhood_nodes(Graph_class& graph) {
    bind_fused(graph);
    bind_products(graph);
    bind_product_gradients(graph);
    graph.def("_draw_window", &draw_window, py::arg("query"), py::arg("is_svg"));
}

}  // namespace binding
