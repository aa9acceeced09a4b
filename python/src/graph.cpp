#include "graph.h"

#include <cudnn_frontend/backend_helpers.h>

#include <algorithm>
#include <cctype>

namespace binding {

fe::Target target_of(std::string const& text) {
    std::size_t const colon = text.find(':');
    std::string const kind = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    bool const is_count =
        !rest.empty() && rest.size() < 5 && std::ranges::all_of(rest, [](unsigned char c) { return std::isdigit(c); });
    if (text == "cuda") return fe::Target::cuda(nullptr);
    if (text == "cpu") return fe::Target::cpu();
    if (kind == "cpu" && is_count) return fe::Target::cpu(std::stoi(rest));
    if (text == "reference") return fe::Target::reference();
    if (kind == "offline" && !rest.empty()) return fe::Target::offline(rest);
    throw py::value_error("'" + text +
                          "' is no target: 'cuda', 'cpu', 'cpu:4' (threads), 'reference' or 'offline:h100'");
}

Graph::Graph(std::string const& target) : target_(target_of(target)) {}

Graph::~Graph() {
    // Where destroying it fails there is nobody to tell.
    if (own_ != nullptr) static_cast<void>(fe::runtime::destroy_handle(own_));
}

bool Graph::runs_on_host() const {
    return target_.kind() == fe::Target::Kind::CPU || target_.kind() == fe::Target::Kind::REFERENCE;
}

cudnnHandle_t Graph::handle() {
    if (given_ != nullptr || target_.kind() != fe::Target::Kind::CUDA) return given_;
    if (own_ == nullptr) check(fe::runtime::create_handle(&own_));
    return own_;
}

fe::Target Graph::planning_target() {
    return target_.kind() == fe::Target::Kind::CUDA ? fe::Target::cuda(handle()) : target_;
}

Tensor_ptr const& Graph::writes(Tensor_ptr const& tensor) {
    if (tensor) outputs_.push_back(tensor);
    return tensor;
}

std::vector<Need> const& Graph::needs() {
    if (!needs_.empty()) return needs_;
    for (std::int64_t const uid : inner.get_variant_pack_uids_sorted()) {
        fe::graph::Tensor_attributes tensor;
        check(inner.query_tensor_attributes_of_uid(uid, tensor));
        Need need{uid,
                  tensor.get_data_type(),
                  tensor.get_name(),
                  tensor.get_dim(),
                  tensor.get_stride(),
                  0,
                  tensor.get_is_pass_by_value(),
                  false};
        auto const bits = static_cast<std::int64_t>(fe::detail::get_element_size_in_bits(need.type));
        // Where sequences are packed, offsets that only a run sees say how far they reach.
        bool const is_packed = tensor.get_ragged_offset() != nullptr;
        if (!is_packed && tensor.get_vector_count() == 1)
            need.bytes = (sdpa_graph::span_of(need.dim, need.stride) * bits + 7) / 8;
        need.is_output = std::ranges::any_of(
            outputs_, [&](Tensor_ptr const& output) { return output->has_uid() && output->get_uid() == uid; });
        needs_.push_back(std::move(need));
    }
    return needs_;
}

}  // namespace binding
