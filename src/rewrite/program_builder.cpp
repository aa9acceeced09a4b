#include "rewrite/program_builder.h"

#include "core/data_type.h"
#include "rewrite/view_moves.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

// Pieces start at multiples of a cache line from the workspace's start.
static constexpr std::int64_t kAlignment = 256;

AttentionDraft::AttentionDraft(nodes::GraphHead const& head, nodes::Node node) : node_(std::move(node)) {
    static_cast<nodes::GraphHead&>(spec_) = head;
    std::ranges::fill(node_.ports, nodes::kNoTensor);
    node_.modifier.clear();
}

AttentionDraft::AttentionDraft(Attention const& attention) : AttentionDraft(attention.graph(), attention.node()) {
    nodes::GraphSpec const& whole = attention.graph();
    int const scale = attention::Port::AttnScale;
    if (!attention.has(scale)) return;
    View const number = attention.view(scale);
    connect(scale, number);
    nodes::TensorSpec& connected = spec_.tensors.back();
    nodes::TensorSpec const& given = whole.tensors[number.place.index];
    connected.is_by_value = given.is_by_value;
    connected.is_constant = given.is_constant;
    connected.value = given.value;
    if (given.value) bindings_.pop_back();
}

AttentionDraft AttentionDraft::without_names(Attention const& attention) {
    AttentionDraft draft(attention);
    draft.spec_.name.clear();
    draft.node_.name.clear();
    for (nodes::TensorSpec& number : draft.spec_.tensors)
        number.name = attention::operand(attention::Port::AttnScale).name;
    return draft;
}

AttentionDraft AttentionDraft::of_whole(Attention const& attention) {
    nodes::GraphSpec const& whole = attention.graph();
    AttentionDraft draft(whole, attention.node());
    draft.node_ = attention.node();
    draft.spec_.tensors = whole.tensors;
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
        nodes::TensorSpec const& tensor = whole.tensors[i];
        if (tensor.is_virtual || tensor.value || !tensor.uid) continue;
        draft.bindings_.push_back({*tensor.uid, {Place::Of::Tensor, i, 0}});
    }
    return draft;
}

void AttentionDraft::place(int port, View const& view) {
    auto const id = static_cast<std::size_t>(node_.ports[static_cast<std::size_t>(port)]);
    nodes::TensorSpec& tensor = spec_.tensors[id];
    tensor.data_type = view.type;
    tensor.stride = view.stride;
    tensor.alignment = view.alignment;
    std::ranges::find(bindings_, *tensor.uid, &Attend::TensorBinding::uid)->place = view.place;
}

nodes::AttentionFields& AttentionDraft::fields() {
    return const_cast<nodes::AttentionFields&>(*nodes::attention_fields(node_));
}

nodes::TensorId AttentionDraft::add(std::string name, std::int64_t uid, View const& view) {
    nodes::TensorSpec tensor;
    tensor.name = std::move(name);
    tensor.uid = uid;
    tensor.data_type = view.type;
    tensor.dim = view.dim;
    tensor.stride = view.stride;
    tensor.alignment = view.alignment;
    spec_.tensors.push_back(std::move(tensor));
    bindings_.push_back({uid, view.place});
    return static_cast<nodes::TensorId>(spec_.tensors.size() - 1);
}

void AttentionDraft::connect(int port, View const& view) {
    node_.ports[static_cast<std::size_t>(port)] = add(attention::operand(port).name, port + 1, view);
}

// Past those of ports.
std::int64_t AttentionDraft::unused_uid() const {
    std::int64_t last = attention::Port::PortCount;
    for (nodes::TensorSpec const& tensor : spec_.tensors) last = std::max(last, tensor.uid.value_or(last));
    return last + 1;
}

nodes::TensorId AttentionDraft::add_tensor(nodes::TensorSpec tensor, std::optional<Place> const& place) {
    tensor.uid.reset();
    tensor.automatic_uid.reset();
    if (place) {
        tensor.uid = unused_uid();
        bindings_.push_back({*tensor.uid, *place});
    }
    spec_.tensors.push_back(std::move(tensor));
    return static_cast<nodes::TensorId>(spec_.tensors.size() - 1);
}

void AttentionDraft::connect_packed(int port, View const& view, View const& starts) {
    nodes::TensorId const offsets = starts_at(starts);
    connect(port, view);
    spec_.tensors.back().ragged_offset = offsets;
}

nodes::TensorId AttentionDraft::starts_at(View const& starts) {
    std::int64_t const uid = attention::Port::PortCount + 1 + static_cast<std::int64_t>(starts.place.index);
    auto const known = std::ranges::find(spec_.tensors, std::optional(uid), &nodes::TensorSpec::uid);
    if (known != spec_.tensors.end()) return static_cast<nodes::TensorId>(known - spec_.tensors.begin());
    return add("starts " + std::to_string(starts.place.index), uid, starts);
}

View ProgramBuilder::repeat_once(View const& view) { return repeat(view, 0, 1); }

View ProgramBuilder::scratch(DataType_t type, core::Dims dim) {
    std::int64_t const bytes = core::volume(dim).value_or(0) * core::size_of(type);
    program_.scratch.push_back((bytes + kAlignment - 1) / kAlignment * kAlignment);
    core::Dims stride = core::packed_strides(dim);
    return {{Place::Of::Scratch, program_.scratch.size() - 1, 0}, type, std::move(dim), std::move(stride), 16};
}

error_t ProgramBuilder::attend(AttentionDraft draft, Lane lane) {
    draft.spec_.nodes.push_back(std::move(draft.node_));
    auto const is_described = [&](nodes::CheckedGraphPointer const& known) { return known->described == draft.spec_; };
    auto known = std::ranges::find_if(known_, is_described);
    if (known == known_.end()) {
        auto checked = nodes::check(draft.spec_);
        if (checked.is_bad()) {
            error_t error = checked.error();
            error.err_msg = "a part of " + program_.name + " is not valid: " + error.err_msg;
            return error;
        }
        known = known_.insert(known_.end(), std::move(checked.value().object));
    }
    program_.steps.push_back(Attend{nodes::graph_of(*known), std::move(draft.bindings_), lane});
    return {};
}

}  // namespace cudnn_frontend::rewrite
