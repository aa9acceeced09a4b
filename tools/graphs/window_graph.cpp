#include "attention_graph.h"
#include "tensors.h"

namespace corpus {
namespace {

Sizes used(std::array<std::int64_t, 3> const& axes) {
    Sizes sizes;
    for (std::int64_t const size : axes) {
        if (size > 0) sizes.push_back(size);
    }
    return sizes;
}

template <class Attributes>
void set_window(Attributes& to, Window const& window, Tensor const& bias) {
    Sizes const size = used(window.size);
    to.set_name("attention").set_kernel_size(size);
    if (window.dilation > 1) to.set_dilation(Sizes(size.size(), window.dilation));
    if (bias) to.set_rel_pos_bias(bias);
}

}  // namespace

std::string json_of(Window_model const& model) {
    Window const& window = model.window;
    auto graph = graph_of(model.title, window.type);
    Sizes dim = used(window.space), bias_dim = {window.heads};
    dim.insert(dim.begin(), window.batches);
    dim.insert(dim.end(), {window.heads, window.depth});
    for (std::int64_t const size : used(window.size)) bias_dim.push_back(2 * size - 1);
    Tensor const bias = window.has_bias ? dense(graph, "bias", bias_dim, window.type) : nullptr;
    Tensor const q = dense(graph, "Q", dim, window.type), k = dense(graph, "K", dim, window.type);
    Tensor const v = dense(graph, "V", dim, window.type);
    if (window.pass != Pass::Backward) {
        fe::graph::Neighborhood_attributes options;
        set_window(options, window, bias);
        graph.neighborhood_attention(q, k, v, options)[0]->set_output(true).set_name("O");
        return json_of(graph);
    }
    fe::graph::Neighborhood_backward_attributes options;
    set_window(options, window, bias);
    Tensor const o = dense(graph, "O", dim, window.type), d_o = dense(graph, "dO", dim, window.type);
    Tensor const stats = dense(graph, "Stats", {dim.begin(), dim.end() - 1}, DataType_t::FLOAT);
    if (bias) options.set_drel_pos_bias(dense(graph, "dBias", bias_dim, window.type));
    auto const gradients = graph.neighborhood_attention_backward(q, k, v, o, d_o, stats, options);
    char const* const names[] = {"dQ", "dK", "dV"};
    for (std::size_t i = 0; i < std::size(names); ++i) gradients[i]->set_output(true).set_name(names[i]);
    return json_of(graph);
}

}  // namespace corpus
