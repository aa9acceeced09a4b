#include <cudnn_frontend/graph.h>

#include "api/attributes/attributes_access.h"
#include "api/attributes/tensor_access.h"
#include "api/graph/graph_impl.h"
#include "plan/planner.h"

#include <atomic>
#include <utility>

namespace cudnn_frontend::graph {
namespace {

std::uint64_t next_graph_id() {
    static std::atomic<std::uint64_t> counter{0};
    return ++counter;
}

}  // namespace

Tensor_ptr make_output(nodes::Draft& node, int port, char const* name, Graph::Impl& graph) {
    auto tensor = std::make_shared<Tensor_attributes>();
    tensor->set_name(node.name + "::" + name).set_is_virtual(true);
    graph.own(tensor);
    detail::connect(node, port, tensor);
    return tensor;
}

Graph::Impl::Impl() : id(next_graph_id()) {}

void Graph::Impl::own(Tensor_ptr const& tensor) {
    constexpr std::size_t kOfMostGraphs = 8;
    if (tensors.empty()) tensors.reserve(kOfMostGraphs);
    detail::Tensor_access::set_owner(*tensor, id, tensors.size());
    tensors.push_back(tensor);
}

bool Graph::Impl::refuses_to_go(Impl* const& impl) noexcept {
    if (impl == nullptr || impl->running_modifiers == 0) return false;
    completes(impl, [&] {
        impl->modifier_faults.push_back({0, "a graph assigned to, moved from or deserialized by the callable",
                                         "nodes added to the graph that the callable is given"});
    });
    return true;
}

Graph::Impl* Graph::Impl::take(Impl*& impl) noexcept {
    return refuses_to_go(impl) ? nullptr : std::exchange(impl, nullptr);
}

error_t check_replaceable(Graph::Impl* impl) {
    if (!Graph::Impl::refuses_to_go(impl)) return {};
    return {error_code_t::INVALID_VALUE,
            "a score modifier deserializes the graph that it was given; add nodes to it, or read into another graph"};
}

Graph::Graph() : impl_(new Impl) {}
Graph::Graph(Graph&& other) noexcept : impl_(Impl::take(other.impl_)) {}
Graph& Graph::operator=(Graph const& other) { return *this = Graph(other); }
Graph& Graph::operator=(Graph&& other) noexcept {
    Graph moved(std::move(other));
    if (!Impl::refuses_to_go(impl_)) std::swap(impl_, moved.impl_);
    return *this;
}
Graph::~Graph() { delete impl_; }

// A moved-from graph is an empty one.
Graph::Impl& Graph::impl() {
    if (!impl_) impl_ = new Impl;
    return *impl_;
}

Graph& Graph::set_io_data_type(DataType_t const type) {
    Impl::completes(impl_, [&] { impl().io_data_type = type; });
    return *this;
}
Graph& Graph::set_intermediate_data_type(DataType_t const type) {
    Impl::completes(impl_, [&] { impl().intermediate_data_type = type; });
    return *this;
}
Graph& Graph::set_compute_data_type(DataType_t const type) {
    Impl::completes(impl_, [&] { impl().compute_data_type = type; });
    return *this;
}
Graph& Graph::set_name(std::string const& name) {
    Impl::completes(impl_, [&] { impl().name = name; });
    return *this;
}

Tensor_ptr Graph::tensor(Tensor_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        auto tensor = std::make_shared<Tensor_attributes>(attributes);
        if (detail::Tensor_access::has_automatic_uid(*tensor)) tensor->clear_uid();
        impl().own(tensor);
        return tensor;
    });
}

Tensor_ptr Graph::tensor_like(Tensor_ptr const& other, std::string const& name) noexcept {
    return Impl::guarded(impl_, [&] {
        Tensor_attributes copy = other ? *other : Tensor_attributes();
        return tensor(copy.clear_uid().set_name(name));
    });
}

Tensor_ptr Graph::output(Tensor_ptr const& result) noexcept {
    return Impl::guarded(impl_, [&] {
        if (result) result->set_output(true);
        else ++impl().missing_outputs;
        return result ? result : impl().stand_in;
    });
}

// A copy shares the tensors and the plans that are built, and chooses its own from then on.
Graph::Graph(Graph const& other) : impl_(other.impl_ ? new Impl(*other.impl_) : nullptr) {
    if (impl_ == nullptr) return;
    if (impl_->planner) impl_->planner = impl_->planner->copy();
    // The modifier that made the copy works on the other graph.
    impl_->running_modifiers = 0;
    impl_->modifier_faults.clear();
}

}  // namespace cudnn_frontend::graph
