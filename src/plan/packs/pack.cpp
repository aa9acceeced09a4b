#include "plan/packs/pack.h"

#include "core/data_type.h"
#include "core/dims.h"
#include "core/heap_bytes.h"
#include "core/text.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"
#include "plan/packs/overlap.h"
#include "plan/packs/run_rules.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::plan {
namespace {

using core::text;

// Binary search by uid.
template <class Tensor>
Tensor const* find_uid(std::vector<Tensor> const& sorted, std::int64_t uid) {
    auto const at = std::ranges::lower_bound(sorted, uid, {}, &Tensor::uid);
    return at == sorted.end() || at->uid != uid ? nullptr : &*at;
}

std::string describe_pointer(void const* pointer) {
    if (pointer == nullptr) return "null";
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (auto value = reinterpret_cast<std::uintptr_t>(pointer); value != 0; value /= 16) text += kDigits[value % 16];
    return "0x" + std::string(text.rbegin(), text.rend());
}

char kUnnamed;  // its address marks a slot that the pack does not name

}  // namespace

std::size_t heap_bytes(PackLayout const& layout) {
    using core::heap_bytes;
    std::size_t bytes = heap_bytes(layout.slots) + heap_bytes(layout.virtual_tensors);
    for (Slot const& slot : layout.slots) {
        bytes += heap_bytes(slot.name) + heap_bytes(slot.dim) + heap_bytes(slot.stride);
    }
    for (VirtualTensor const& tensor : layout.virtual_tensors) bytes += heap_bytes(tensor.name);
    return bytes;
}

void SlotFiller::place(std::int64_t uid, void* pointer, Key key) {
    if (Slot const* const slot = find_uid(layout_.slots, uid)) {
        void*& placed = pointers_[static_cast<std::size_t>(slot - layout_.slots.data())];
        if (placed != &kUnnamed && placed != pointer)
            refuse(
                slot->name,
                text("two entries for uid ", uid, ": ", describe_pointer(placed), " and ", describe_pointer(pointer)),
                "one entry for each tensor", "remove the entry that does not belong to this tensor");
        placed = pointer;
    } else if (pointer != nullptr) {
        VirtualTensor const* const result = find_uid(layout_.virtual_tensors, uid);
        if (result != nullptr && (key == Key::Tensor || !result->is_uid_automatic)) refuse(*result);
    }
}

void SlotFiller::refuse(std::string const& tensor, std::string found, std::string needed, std::string fix) {
    findings_.add(run_rules::kEntries.violation("", tensor, std::move(found), std::move(needed), std::move(fix)));
}

void SlotFiller::refuse(VirtualTensor const& result) {
    refuse(result.name,
           text("memory for uid ", result.uid, ", which is virtual, so that nothing would be written to it"),
           "no entry in the pack", "call set_output(true) on it before the graph is built, or remove the entry");
}

static error_t not_resizable(std::int64_t uid, std::string found, std::string needed) {
    return core::error_at("the shape for uid " + std::to_string(uid), error_code_t::INVALID_VALUE, std::move(found),
                          std::move(needed));
}

static error_t resize(Slot& slot, TensorShape const& shape) {
    if (slot.is_ragged()) return not_resizable(slot.uid, "a packed tensor", "tensors without ragged offsets");
    if (shape.dim.size() != slot.dim.size() || shape.stride.size() != slot.dim.size()) {
        return not_resizable(slot.uid, text(shape.dim.size(), " dims and ", shape.stride.size(), " strides"),
                             text(slot.dim.size(), " of each, as the graph's tensor has"));
    }
    slot.dim.assign(shape.dim.begin(), shape.dim.end());
    slot.stride.assign(shape.stride.begin(), shape.stride.end());
    bool const is_legal = std::ranges::all_of(slot.dim, [](std::int64_t size) { return size > 0; }) &&
                          std::ranges::all_of(slot.stride, [](std::int64_t stride) { return stride >= 0; });
    auto const elements = is_legal ? core::span_of(slot.dim, slot.stride) : std::nullopt;
    if (elements && !__builtin_mul_overflow(*elements, slot.element_size, &slot.span)) return {};
    return not_resizable(slot.uid, text("dims ", slot.dim, " and strides ", slot.stride),
                         "sizes above 0, and strides that are not negative and do not overflow");
}

Result<PackLayout> resized(PackLayout const& layout, TensorShapes shapes) {
    PackLayout resized = layout;
    for (auto shape = shapes.begin(); shape != shapes.end(); ++shape) {
        auto const is_same = [&](TensorShape const& other) { return other.uid == shape->uid; };
        if (std::any_of(shapes.begin(), shape, is_same))
            return not_resizable(shape->uid, "more than one shape", "one shape for each tensor");
        if (auto const slot = resized.slot_of(shape->uid)) SDPA_GRAPH_TRY(resize(resized.slots[*slot], *shape));
    }
    return resized;
}

static std::size_t slot_index_of(ir::OpGraph const& graph, ir::ValueId value) {
    auto const binding =
        std::ranges::find_if(graph.bindings(), [&](ir::Binding const& candidate) { return candidate.value == value; });
    return static_cast<std::size_t>(binding - graph.bindings().begin());
}

static std::vector<Slot> make_slots(ir::OpGraph const& graph) {
    std::vector<Slot> slots;
    for (ir::Binding const& binding : graph.bindings()) {
        ir::Value const& value = graph.value(binding.value);
        std::int64_t const size = core::size_of(value.type);
        std::int64_t const elements = core::span_of(value.dim, value.stride).value_or(0);
        slots.push_back({.uid = binding.uid,
                         .name = value.name,
                         .is_written = value.role == ir::Role::Output,
                         .is_on_host = value.role == ir::Role::ByValue,
                         .element_size = size,
                         .alignment = size,
                         .span = elements * size,
                         .dim = value.dim,
                         .stride = value.stride,
                         .is_factor = value.is_factor && value.role != ir::Role::Output});
        if (!value.ragged) continue;
        slots.back().offset_slot = slot_index_of(graph, value.ragged.offset);
        slots.back().offset_unit = value.ragged.multiplier * size;
    }
    return slots;
}

static Slot slot_of(nodes::TensorSpec const& tensor, nodes::Node const* producer) {
    std::int64_t const size = core::size_of(tensor.data_type);
    core::Dims stride = tensor.stride;
    if (tensor.ragged_offset != nodes::kNoTensor) {  // the stride of its batch entries means nothing
        stride[0] = 0;
        stride[0] = core::span_of(tensor.dim, stride).value_or(0);
    }
    return {.uid = tensor.uid.value(),
            .name = nodes::name_of_tensor(tensor, producer),
            .is_written = producer != nullptr,
            .is_on_host = tensor.is_by_value,
            .element_size = size,
            .alignment = size,
            .span = core::span_of(tensor.dim, stride).value_or(0) * size,
            .dim = tensor.dim,
            .stride = stride};
}

static std::vector<Slot> make_slots(nodes::GraphSpec const& graph) {
    std::vector<nodes::Node const*> producers(graph.tensors.size(), nullptr);
    std::vector<nodes::TensorId> bound;
    auto const bind = [&](nodes::TensorId id) {
        nodes::TensorSpec const& tensor = graph.tensors[static_cast<std::size_t>(id)];
        bool const has_memory = !tensor.value && !tensor.is_virtual;
        if (has_memory && std::ranges::find(bound, id) == bound.end()) bound.push_back(id);
    };
    for (nodes::Node const& node : every_node(graph)) {
        for (auto const direction : {nodes::Direction::Input, nodes::Direction::Output}) {
            nodes::for_each_port(node, direction, [&](nodes::PortRow const&, nodes::TensorId id) {
                if (direction == nodes::Direction::Output) producers[static_cast<std::size_t>(id)] = &node;
                nodes::TensorId const offsets = graph.tensors[static_cast<std::size_t>(id)].ragged_offset;
                if (offsets != nodes::kNoTensor) bind(offsets);
                bind(id);
            });
        }
    }
    std::ranges::sort(bound, {},
                      [&](nodes::TensorId id) { return graph.tensors[static_cast<std::size_t>(id)].uid.value(); });
    std::vector<Slot> slots;
    for (nodes::TensorId const id : bound) {
        nodes::TensorSpec const& tensor = graph.tensors[static_cast<std::size_t>(id)];
        slots.push_back(slot_of(tensor, producers[static_cast<std::size_t>(id)]));
        if (tensor.ragged_offset == nodes::kNoTensor) continue;
        auto const offsets = std::ranges::find(bound, tensor.ragged_offset);
        slots.back().offset_slot = static_cast<std::size_t>(offsets - bound.begin());
        slots.back().offset_unit = tensor.ragged_offset_multiplier * slots.back().element_size;
    }
    return slots;
}

static std::vector<VirtualTensor> virtual_results(nodes::GraphSpec const& graph) {
    std::vector<VirtualTensor> tensors;
    for (nodes::Node const& node : every_node(graph)) {
        nodes::for_each_port(node, nodes::Direction::Output, [&](nodes::PortRow const&, nodes::TensorId id) {
            nodes::TensorSpec const& tensor = graph.tensors[static_cast<std::size_t>(id)];
            if (!tensor.is_virtual) return;
            tensors.push_back(
                {tensor.uid.value(), nodes::name_of_tensor(tensor, &node), tensor.uid == tensor.automatic_uid});
        });
    }
    std::ranges::sort(tensors, {}, &VirtualTensor::uid);
    return tensors;
}

PackLayout make_pack_layout(nodes::GraphSpec const& graph, ir::OpGraph const& op_graph) {
    return {make_slots(op_graph), virtual_results(graph)};
}

PackLayout make_pack_layout(nodes::GraphSpec const& graph) { return {make_slots(graph), virtual_results(graph)}; }

std::optional<std::size_t> PackLayout::slot_of(std::int64_t uid) const {
    auto const slot = std::ranges::find(slots, uid, &Slot::uid);
    if (slot == slots.end()) return std::nullopt;
    return static_cast<std::size_t>(slot - slots.begin());
}

error_t resolve(PackSource const& pack, PackLayout const& layout, std::span<void*> pointers) {
    std::fill(pointers.begin(), pointers.end(), &kUnnamed);
    core::Findings findings;
    SlotFiller filler(layout, pointers, findings);
    pack.fill(filler);
    for (std::size_t i = 0; i < layout.slots.size(); ++i) {
        Slot const& slot = layout.slots[i];
        bool const is_named = pointers[i] != &kUnnamed;
        if (is_named && pointers[i] != nullptr) continue;
        filler.refuse(
            slot.name, text(is_named ? "a null pointer" : "no entry", " for uid ", slot.uid, " in the pack"),
            slot.is_ragged() ? "memory up to the last of its ragged offsets" : text("memory of ", slot.span, " bytes"),
            is_named ? "pass a pointer to it" : "add an entry for this uid");
    }
    return findings.to_error();
}

error_t check_alignment(std::vector<Slot> const& slots, std::span<void* const> pointers) {
    core::Findings findings;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        auto const address = reinterpret_cast<std::uintptr_t>(pointers[i]);
        if (address % static_cast<std::uintptr_t>(slots[i].alignment) == 0) continue;
        findings.add(run_rules::kAlignment.violation(
            "", slots[i].name, text("the pointer ", describe_pointer(pointers[i]), " for uid ", slots[i].uid),
            text("a multiple of ", slots[i].alignment, " bytes, for elements of ", slots[i].element_size),
            "pass aligned memory"));
    }
    return findings.to_error();
}

error_t check_factors(PackLayout const& layout, std::span<void* const> pointers) {
    std::vector<Slot> const& slots = layout.slots;
    bool const is_all_on_host = layout.host_memory == HostMemory::All;
    core::Findings findings;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!slots[i].is_factor || !(is_all_on_host || slots[i].is_on_host)) continue;
        auto const factor = static_cast<float>(core::load(DataType_t::FLOAT, pointers[i], 0));
        if (std::isfinite(factor) && factor > 0.0f) continue;
        findings.add(run_rules::kFactors.violation("", slots[i].name,
                                                   text("the factor ", factor, " for uid ", slots[i].uid),
                                                   "a finite number above 0, by which 8-bit numbers can be multiplied",
                                                   "pass a number such as fp8_scale() picks"));
    }
    return findings.to_error();
}

namespace {

using SlotPair = std::pair<std::size_t, std::size_t>;

[[gnu::cold]] error_t error_of_sharing(std::vector<Slot> const& slots, std::vector<SlotPair> found) {
    std::sort(found.begin(), found.end());
    core::Findings findings;
    for (auto const& [i, j] : found) {
        findings.add(
            run_rules::kOverlap.violation("", slots[i].name,
                                          text("uid ", slots[i].uid, " written to memory that it shares with tensor '",
                                               slots[j].name, "' (uid ", slots[j].uid, ")"),
                                          "memory of its own", "give each its own"));
    }
    return findings.to_error();
}

// Calls share(i, j) for each pair of tensors whose extents overlap and of which i is written; reports those that share
// memory.
template <class Share>
error_t check_pairs(std::vector<Slot> const& slots, std::span<Extent const> extents, Share const& share) {
    std::vector<SlotPair> found;
    for_each_overlap(slots, extents, [&](std::size_t a, std::size_t b) {
        bool const is_in_order = slots[a].is_written && (!slots[b].is_written || a < b);
        auto const [i, j] = is_in_order ? std::pair(a, b) : std::pair(b, a);
        if (share(i, j)) found.emplace_back(i, j);
    });
    return found.empty() ? error_t() : error_of_sharing(slots, std::move(found));
}

// Whether the batch entries of both start at the same distances from their tensors' pointers.
bool have_same_starts(std::vector<Slot> const& slots, std::span<void* const> pointers, Slot const& a, Slot const& b) {
    Slot const &of_a = slots[a.offset_slot], &of_b = slots[b.offset_slot];
    return a.offset_unit == b.offset_unit && pointers[a.offset_slot] == pointers[b.offset_slot] &&
           of_a.element_size == of_b.element_size && of_a.stride == of_b.stride;
}

}  // namespace

error_t check_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers) {
    SlotList<Extent> list(slots.size());
    std::span<Extent> const extents = list.all();
    for (std::size_t i = 0; i < slots.size(); ++i) extents[i] = extent_of(slots[i], pointers[i]);
    return check_pairs(slots, extents, [&](std::size_t i, std::size_t j) {
        Slot const &a = slots[i], &b = slots[j];
        if (!a.is_ragged() && !b.is_ragged()) return share_memory(a, pointers[i], b, pointers[j]);
        if (!a.is_ragged() || !b.is_ragged() || !have_same_starts(slots, pointers, a, b)) return false;
        return share_memory(sequence_slot(a, 1), pointers[i], sequence_slot(b, 1), pointers[j]);
    });
}

error_t check_workspace_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers, void const* workspace,
                                std::int64_t workspace_bytes) {
    auto const begin = reinterpret_cast<std::intptr_t>(workspace), end = begin + workspace_bytes;
    if (workspace_bytes == 0) return {};
    core::Findings findings;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        Extent const extent = extent_of(slots[i], pointers[i]);
        if (slots[i].is_ragged() || extent.end <= begin || end <= extent.begin) continue;
        findings.add(run_rules::kOverlap.violation(
            "", slots[i].name,
            text("a workspace of ", workspace_bytes, " bytes at ", describe_pointer(workspace),
                 " within the range of uid ", slots[i].uid),
            "memory before the tensor's first element or behind its last one", "give the workspace its own"));
    }
    return findings.to_error();
}

error_t check_ragged_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers,
                             std::vector<PackedSequences> const& sequences) {
    SlotList<Extent> extents(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        extents.all()[i] = extent_of({slots[i], pointers[i], sequences[i]});
    }
    return check_pairs(slots, extents.all(), [&](std::size_t i, std::size_t j) {
        if (!slots[i].is_ragged() && !slots[j].is_ragged()) return false;
        return share_memory({slots[i], pointers[i], sequences[i]}, {slots[j], pointers[j], sequences[j]});
    });
}

}  // namespace cudnn_frontend::plan
