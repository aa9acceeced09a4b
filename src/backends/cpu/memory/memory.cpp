#include "cpu/memory/memory.h"

#include <algorithm>

namespace cudnn_frontend::cpu {

DataType_t stored_type(ir::Value const& value) {
    bool const is_ours = (value.role == ir::Role::Virtual && value.steps_of == ir::kNoValue) || !value.table.empty();
    return is_ours && !core::is_fp8(value.type) ? DataType_t::DOUBLE : value.type;
}

DataType_t copied_type(ir::Value const& value) {
    bool const is_wide = value.role == ir::Role::Output && core::is_floating_point(value.type);
    return is_wide ? DataType_t::DOUBLE : value.type;
}

DataView make_view(ir::Value const& value, void* data) {
    DataView view;
    view.data = data;
    view.type = stored_type(value);
    // Dims beyond four have one element.
    std::size_t const count = std::min(value.dim.size(), view.dim.size());
    std::copy_n(value.dim.rbegin(), count, view.dim.rbegin());
    std::copy_n(value.stride.rbegin(), count, view.stride.rbegin());
    return view;
}

void* Memory::data(ir::ValueId id) const {
    ir::ValueId const storage = graph_.storage_of(id);
    ValueSlot const& slot = slots_[static_cast<std::size_t>(storage)];
    switch (slot.where) {
        case ValueSlot::Where::Pointer: return pointers_[static_cast<std::size_t>(slot.at)];
        case ValueSlot::Where::Workspace: return workspace_ + slot.at;
        case ValueSlot::Where::Graph: break;
    }
    // Constants are never results, so nothing writes through these pointers.
    ir::Value const& constant = graph_.value(storage);
    if (!constant.table.empty()) return const_cast<double*>(constant.table.data());
    return const_cast<std::uint64_t*>(&constant.constant.bits);
}

Tensor Memory::tensor(ir::ValueId id) const {
    ir::Value const& value = graph_.value(id);
    if (has_copy(id)) return make_tensor(value, copied_type(value), workspace_ + copy_at(id));
    return make_tensor(value, stored_type(value), data(id));
}

Tensor Memory::callers_tensor(ir::ValueId id) const {
    ir::Value const& value = graph_.value(id);
    return make_tensor(value, value.type, data(id));
}

DataView Memory::view(ir::ValueId id) const {
    if (id == ir::kNoValue) return {};
    ir::Value const& value = graph_.value(id);
    if (value.role == ir::Role::Output && has_copy(id)) {
        DataView copy = make_view(value, workspace_ + copy_at(id));
        copy.type = copied_type(value);
        return copy;
    }
    DataView view = make_view(value, data(id));
    if (value.ragged) {
        ir::Value const& offsets = graph_.value(value.ragged.offset);
        view.starts = {data(value.ragged.offset), offsets.type, offsets.stride[0], value.ragged.multiplier};
    }
    return view;
}

std::int64_t Memory::integer(ir::ValueId id, std::int64_t offset) const {
    return core::load_integer(stored_type(graph_.value(id)), data(id), offset);
}

}  // namespace cudnn_frontend::cpu
