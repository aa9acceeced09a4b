#include "cudnn/library/lower_tensors.h"

#include "core/data_type.h"
#include "core/dims.h"
#include "cudnn/library/backend_enums.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

// Engines may rely on this alignment of scratch memory and of tables.
constexpr std::int64_t kScratchAlignment = 256;

bool is_by_value(ir::Value const& value) {
    return value.role == ir::Role::ByValue || (value.role == ir::Role::Constant && value.table.empty());
}

std::size_t largest_rank(ir::OpGraph const& graph) {
    std::size_t rank = 1;
    for (ir::Value const& value : graph.values()) rank = std::max(rank, value.dim.size());
    return rank;
}

ConstantTable pack_table(ir::Value const& value) {
    ConstantTable table;
    table.bytes.resize(value.table.size() * static_cast<std::size_t>(core::size_of(value.type)));
    for (std::size_t i = 0; i < value.table.size(); ++i) {
        core::store(value.type, table.bytes.data(), static_cast<std::int64_t>(i), value.table[i]);
    }
    return table;
}

}  // namespace

TensorLowering::TensorLowering(LegalGraph const& graph, Api const& api)
    : graph_(graph.graph),
      alignments_(graph.alignments),
      scratch_(graph.scratch),
      implied_(graph.implied),
      offsets_(graph.offsets),
      api_(api),
      tensors_(graph_.values().size()),
      is_uid_given_(graph_.values().size(), false),
      rank_(largest_rank(graph_)) {}

cudnnBackendDescriptor_t TensorLowering::tensor(ir::ValueId id) {
    if (id == ir::kNoValue || error_.is_bad()) return nullptr;
    if (auto const result = implied_.find(id); result != implied_.end()) return tensor(result->second);
    Descriptor& known = tensors_[static_cast<std::size_t>(id)];
    if (known) return known.get();
    ir::ValueId const offset = ragged_of(id).offset;
    if (offset != ir::kNoValue && tensor(offset) == nullptr) return nullptr;
    ir::ValueId const storage = graph_.storage_of(id);
    bool const virtually = graph_.value(storage).role == ir::Role::Virtual && !scratch_.contains(storage);
    std::int64_t const uid = virtually ? next_free_uid() : bind(id);
    known = make(graph_.value(id), ragged_of(id), alignment_of(id), uid, virtually);
    if (error_.is_good()) error_ = known.finalize();
    return error_.is_good() ? known.get() : nullptr;
}

ir::Ragged TensorLowering::ragged_of(ir::ValueId id) const {
    if (auto const given = offsets_.find(graph_.storage_of(id)); given != offsets_.end()) {
        return {.offset = given->second};
    }
    auto const place = scratch_.find(id);
    bool const is_packed = place != scratch_.end() && place->second.packed_like != ir::kNoValue;
    return graph_.value(is_packed ? place->second.packed_like : id).ragged;
}

ir::ValueId TensorLowering::view_of(ir::ValueId id) const {
    auto const& values = graph_.values();
    auto const view = std::ranges::find(values, id, &ir::Value::view_of);
    return view == values.end() ? id : static_cast<ir::ValueId>(view - values.begin());
}

ir::ValueId TensorLowering::sums_of(ir::ValueId lengths) const {
    return lengths == ir::kNoValue ? ir::kNoValue : graph_.value(lengths).steps_of;
}

cudnnBackendDescriptor_t TensorLowering::number(std::string const& name, float number) {
    if (error_.is_bad()) return nullptr;
    ir::Value value{.name = name, .dim = {1, 1, 1, 1}, .stride = {1, 1, 1, 1}, .role = ir::Role::Constant};
    value.constant = detail::make_scalar(number);
    std::int64_t const uid = next_free_uid();
    bindings_.numbers.push_back(value.constant.bits);
    bindings_.tensors.push_back({uid, MemorySource::Number, static_cast<std::int64_t>(bindings_.numbers.size()) - 1});
    numbers_.push_back(make(value, value.ragged, kAlignment, uid, false));
    error_ = numbers_.back().finalize();
    return numbers_.back().get();
}

std::int64_t TensorLowering::alignment_of(ir::ValueId id) const {
    for (ir::ValueId const at : {id, graph_.storage_of(id)}) {
        if (auto const said = alignments_.find(at); said != alignments_.end()) return said->second;
    }
    return kAlignment;
}

Descriptor TensorLowering::make(ir::Value const& value, ir::Ragged const& ragged, std::int64_t alignment,
                                std::int64_t uid, bool is_virtual) {
    Descriptor tensor(api_, CUDNN_BACKEND_TENSOR_DESCRIPTOR, "tensor '" + value.name + "'");
    if (value.steps_of != ir::kNoValue) {
        error_ = {error_code_t::GRAPH_NOT_SUPPORTED,
                  "tensor '" + value.name + "' holds cumulative lengths, which no operation of the graph accepts"};
        return tensor;
    }
    auto const type = to_backend(value.type);
    if (!type) {
        error_ = {error_code_t::GRAPH_NOT_SUPPORTED, "tensor '" + value.name + "' has a data type that cuDNN lacks"};
        return tensor;
    }
    // The backend broadcasts only tensors of equal rank; a scalar of the user's may have fewer dims.
    bool const is_scalar = core::volume(value.dim) == 1;
    core::Dims const ones(rank_, 1);
    tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, *type)
        .set_list(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<std::int64_t const>(is_scalar ? ones : value.dim))
        .set_list(CUDNN_ATTR_TENSOR_STRIDES, std::span<std::int64_t const>(is_scalar ? ones : value.stride))
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::max(alignment, core::size_of(value.type)));
    if (value.reordering == TensorReordering_t::F8_128x4) {
        tensor.set(CUDNN_ATTR_TENSOR_REORDERING_MODE, CUDNN_TENSOR_REORDERING_F8_128x4);
    }
    if (ragged) tensor.set(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, this->tensor(ragged.offset));
    if (ragged.multiplier != 1) tensor.set(kTensorRaggedOffsetMultiplier, ragged.multiplier);
    if (is_virtual) tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    if (is_by_value(value)) tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    return tensor;
}

// A tensor may appear in several forms, such as K itself and its transpose. For the backend these are separate tensors
// on the same memory; the first keeps the uid.
std::int64_t TensorLowering::bind(ir::ValueId id) {
    ir::ValueId const storage = graph_.storage_of(id);
    // The uid of a constant has no meaning in the caller's pack, where another tensor may have it.
    bool const is_constant = graph_.value(storage).role == ir::Role::Constant;
    std::int64_t const own = is_constant ? -1 : graph_.value(storage).uid;
    bool const takes_own = own >= 0 && !is_uid_given_[static_cast<std::size_t>(storage)];
    if (takes_own) is_uid_given_[static_cast<std::size_t>(storage)] = true;
    std::int64_t const uid = takes_own ? own : next_free_uid();
    auto source = sources_.find(storage);
    if (source == sources_.end()) source = sources_.emplace(storage, source_of(storage)).first;
    bindings_.tensors.push_back({uid, source->second.first, source->second.second});
    return uid;
}

std::pair<MemorySource, std::int64_t> TensorLowering::source_of(ir::ValueId storage) {
    ir::Value const& value = graph_.value(storage);
    if (scratch_.contains(storage)) return {MemorySource::Workspace, place_scratch(storage)};
    if (value.role != ir::Role::Constant) {
        auto const& all = graph_.bindings();
        auto const at = std::find_if(all.begin(), all.end(), [&](auto const& b) { return b.value == storage; });
        return {MemorySource::Caller, at - all.begin()};
    }
    if (value.table.empty()) {
        bindings_.numbers.push_back(value.constant.bits);
        return {MemorySource::Number, static_cast<std::int64_t>(bindings_.numbers.size()) - 1};
    }
    bindings_.tables.push_back(pack_table(value));
    return {MemorySource::Table, static_cast<std::int64_t>(bindings_.tables.size()) - 1};
}

std::int64_t TensorLowering::place_scratch(ir::ValueId id) {
    ir::Value const& value = graph_.value(id);
    ir::Ragged const ragged = ragged_of(id);
    std::int64_t const offset = bindings_.scratch_bytes;
    std::int64_t const elements =
        ragged ? ragged.most_rows * value.stride[2] : core::span_of(value.dim, value.stride).value_or(0);
    std::int64_t const bytes = elements * core::size_of(value.type);
    bindings_.scratch_bytes += (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    return offset;
}

// The smallest uid that no tensor of the caller's has: the same graph gets the same uids in every process, so that
// plans can be stored.
std::int64_t TensorLowering::next_free_uid() {
    auto const is_taken = [&](std::int64_t uid) {
        auto const& all = graph_.bindings();
        auto const at = std::lower_bound(all.begin(), all.end(), uid, [](auto const& b, auto u) { return b.uid < u; });
        return at != all.end() && at->uid == uid;
    };
    do ++last_uid_;
    while (is_taken(last_uid_));
    return last_uid_;
}

}  // namespace cudnn_frontend::cudnn
