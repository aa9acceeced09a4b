#include <cudnn_frontend/graph.h>

#include "graph/attributes_access.h"
#include "graph/graph_impl.h"
#include "graph/tensor_access.h"

#include <atomic>
#include <utility>

namespace cudnn_frontend::inline v1::graph {
namespace {

std::uint64_t next_graph_id() {
    static std::atomic<std::uint64_t> counter{0};
    return ++counter;
}

// A tensor that a node makes: virtual until the user says otherwise.
Tensor_ptr make_output(nodes::Draft& node, int port, char const* name, Graph::Impl& graph) {
    auto tensor = std::make_shared<Tensor_attributes>();
    tensor->set_name(node.name + "::" + name).set_is_virtual(true);
    detail::Tensor_access::set_graph_id(*tensor, graph.id);
    graph.tensors.push_back(tensor);
    detail::connect(node, port, tensor);
    return tensor;
}

}  // namespace

Graph::Impl::Impl() : id(next_graph_id()) {}

Graph::Graph() : impl_(std::make_unique<Impl>()) {}
Graph::Graph(Graph const& other) : impl_(other.impl_ ? std::make_unique<Impl>(*other.impl_) : nullptr) {}
Graph::Graph(Graph&& other) noexcept = default;
Graph& Graph::operator=(Graph const& other) {
    if (this != &other) impl_ = other.impl_ ? std::make_unique<Impl>(*other.impl_) : nullptr;
    return *this;
}
Graph& Graph::operator=(Graph&& other) noexcept = default;
Graph::~Graph() = default;

// A moved-from graph is an empty one.
Graph::Impl& Graph::impl() {
    if (!impl_) impl_ = std::make_unique<Impl>();
    return *impl_;
}

Graph& Graph::set_io_data_type(DataType_t const type) {
    impl().io_data_type = type;
    return *this;
}
Graph& Graph::set_intermediate_data_type(DataType_t const type) {
    impl().intermediate_data_type = type;
    return *this;
}
Graph& Graph::set_compute_data_type(DataType_t const type) {
    impl().compute_data_type = type;
    return *this;
}
Graph& Graph::set_name(std::string const& name) {
    impl().name = name;
    return *this;
}

Tensor_ptr Graph::tensor(Tensor_attributes const& attributes) {
    auto tensor = std::make_shared<Tensor_attributes>(attributes);
    detail::Tensor_access::set_graph_id(*tensor, impl().id);
    impl().tensors.push_back(tensor);
    return tensor;
}

Tensor_ptr Graph::tensor_like(Tensor_ptr const& other, std::string const& name) {
    Tensor_attributes copy = other ? *other : Tensor_attributes();
    return tensor(copy.clear_uid().set_name(name));
}

std::array<Tensor_ptr, 2> Graph::sdpa(Tensor_ptr q, Tensor_ptr k, Tensor_ptr v, SDPA_attributes attributes) {
    namespace port = nodes::attention;
    nodes::Draft node = detail::Attributes_access::take(attributes);
    detail::connect(node, port::Q, std::move(q));
    detail::connect(node, port::K, std::move(k));
    detail::connect(node, port::V, std::move(v));
    Tensor_ptr const o = make_output(node, port::O, "O", impl());
    Tensor_ptr stats;
    if (std::get<nodes::SdpaForwardFields>(node.fields).generate_stats) {
        stats = make_output(node, port::Stats, "Stats", impl());
    }
    impl().nodes.push_back(std::move(node));
    return {o, stats};
}

std::array<Tensor_ptr, 3> Graph::sdpa_backward(Tensor_ptr q, Tensor_ptr k, Tensor_ptr v, Tensor_ptr o, Tensor_ptr dO,
                                               Tensor_ptr stats, SDPA_backward_attributes attributes) {
    namespace port = nodes::attention;
    nodes::Draft node = detail::Attributes_access::take(attributes);
    detail::connect(node, port::Q, std::move(q));
    detail::connect(node, port::K, std::move(k));
    detail::connect(node, port::V, std::move(v));
    detail::connect(node, port::O, std::move(o));
    detail::connect(node, port::dO, std::move(dO));
    detail::connect(node, port::Stats, std::move(stats));
    std::array<Tensor_ptr, 3> gradients{make_output(node, port::dQ, "dQ", impl()),
                                        make_output(node, port::dK, "dK", impl()),
                                        make_output(node, port::dV, "dV", impl())};
    impl().nodes.push_back(std::move(node));
    return gradients;
}

std::array<Tensor_ptr, 2> Graph::scaled_dot_product_flash_attention(Tensor_ptr q, Tensor_ptr k, Tensor_ptr v,
                                                                    SDPA_attributes attributes) {
    return sdpa(std::move(q), std::move(k), std::move(v), std::move(attributes));
}

std::array<Tensor_ptr, 3> Graph::scaled_dot_product_flash_attention_backward(Tensor_ptr q, Tensor_ptr k, Tensor_ptr v,
                                                                             Tensor_ptr o, Tensor_ptr dO,
                                                                             Tensor_ptr stats,
                                                                             SDPA_backward_attributes attributes) {
    return sdpa_backward(std::move(q), std::move(k), std::move(v), std::move(o), std::move(dO), std::move(stats),
                         std::move(attributes));
}

Tensor_ptr Graph::pointwise(Tensor_ptr in_0, Pointwise_attributes attributes) {
    return pointwise(std::move(in_0), nullptr, nullptr, std::move(attributes));
}
Tensor_ptr Graph::pointwise(Tensor_ptr in_0, Tensor_ptr in_1, Pointwise_attributes attributes) {
    return pointwise(std::move(in_0), std::move(in_1), nullptr, std::move(attributes));
}
Tensor_ptr Graph::pointwise(Tensor_ptr in_0, Tensor_ptr in_1, Tensor_ptr in_2, Pointwise_attributes attributes) {
    nodes::Draft node = detail::Attributes_access::take(attributes);
    detail::connect(node, nodes::pointwise::In_0, std::move(in_0));
    detail::connect(node, nodes::pointwise::In_1, std::move(in_1));
    detail::connect(node, nodes::pointwise::In_2, std::move(in_2));
    Tensor_ptr result = make_output(node, nodes::pointwise::Out_0, "OUT_0", impl());
    impl().nodes.push_back(std::move(node));
    return result;
}

Tensor_ptr Graph::matmul(Tensor_ptr a, Tensor_ptr b, Matmul_attributes attributes) {
    nodes::Draft node = detail::Attributes_access::take(attributes);
    detail::connect(node, nodes::matmul::A, std::move(a));
    detail::connect(node, nodes::matmul::B, std::move(b));
    Tensor_ptr result = make_output(node, nodes::matmul::C, "C", impl());
    impl().nodes.push_back(std::move(node));
    return result;
}

Tensor_ptr Graph::reduction(Tensor_ptr x, Reduction_attributes attributes) {
    nodes::Draft node = detail::Attributes_access::take(attributes);
    detail::connect(node, nodes::reduction::X, std::move(x));
    Tensor_ptr result = make_output(node, nodes::reduction::Y, "Y", impl());
    impl().nodes.push_back(std::move(node));
    return result;
}

}  // namespace cudnn_frontend::inline v1::graph
