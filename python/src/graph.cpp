#include "graph.h"

#include <cudnn_frontend/backend_helpers.h>

#include <algorithm>
#include <cctype>

namespace binding {

cudnnHandle_t handle_of(std::intptr_t number) {
    auto* const handle = reinterpret_cast<cudnnHandle_t>(number);
    if (number != 0 && !may_be_address(handle))
        throw py::value_error(std::to_string(number) + " is no handle: one of create_handle() is needed");
    return handle;
}

std::int64_t bits_of(fe::DataType_t type) {
    return static_cast<std::int64_t>(fe::detail::get_element_size_in_bits(type));
}

std::int64_t bytes_of(Need const& need) {
    return (sdpa_graph::span_of(need.dim, need.stride) * bits_of(need.type) + 7) / 8;
}

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
    // A failure to destroy it cannot be reported.
    if (own_ != nullptr) static_cast<void>(fe::runtime::destroy_handle(own_));
}

bool Graph::runs_on_host() const { return fe::runs_on_host(target_.kind()); }

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

void Graph::writes_only(std::vector<std::int64_t> uids) {
    outputs_.clear();
    written_ = std::move(uids);
}

bool Graph::is_written(std::int64_t uid) const {
    if (std::ranges::find(written_, uid) != written_.end()) return true;
    return std::ranges::any_of(outputs_,
                               [&](Tensor_ptr const& output) { return output->has_uid() && output->get_uid() == uid; });
}

std::shared_ptr<std::vector<Need> const> Graph::needs() {
    if (needs_) return needs_;
    std::vector<Need> needs;
    for (std::int64_t const uid : inner.get_variant_pack_uids_sorted()) {
        fe::graph::Tensor_attributes tensor;
        check(inner.query_tensor_attributes_of_uid(uid, tensor));
        Need need;
        need.uid = uid;
        need.type = tensor.get_data_type();
        need.name = tensor.get_name();
        need.dim = tensor.get_dim();
        need.stride = tensor.get_stride();
        need.is_by_value = tensor.get_is_pass_by_value();
        need.is_output = is_written(uid);
        // The extent of packed sequences follows from their offsets, which only a run reads.
        Tensor_ptr const offset = tensor.get_ragged_offset();
        if (offset && offset->has_uid() && !is_part_) need.offset = offset->get_uid();
        need.offset_multiplier = std::max<std::int64_t>(tensor.get_ragged_offset_multiplier(), 1);
        if (!offset && tensor.get_vector_count() == 1) need.bytes = bytes_of(need);
        needs.push_back(std::move(need));
    }
    if (needs.empty()) return std::make_shared<std::vector<Need> const>();  // a graph that is not built yet
    return needs_ = std::make_shared<std::vector<Need> const>(std::move(needs));
}

}  // namespace binding
