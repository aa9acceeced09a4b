#include "pipeline/pack.h"

#include "core/data_type.h"
#include "core/dims.h"
#include "core/number_text.h"
#include "graph/tensor_access.h"
#include "pipeline/overlap.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::inline v1::pipeline {
namespace {

std::string label(Slot const& slot) { return "tensor '" + slot.name + "' (uid " + std::to_string(slot.uid) + ")"; }

void append(std::string& text, std::string const& line) { text += (text.empty() ? "" : "\n") + line; }

// Puts each pointer into the slot of its uid; what no slot asks for is dropped.
class SlotFiller final : public Variant_pack_sink {
   public:
    SlotFiller(std::vector<Slot> const& slots, std::uint64_t graph_id, std::span<void*> pointers)
        : slots_(slots), graph_id_(graph_id), pointers_(pointers) {}

    void add(std::int64_t uid, void* pointer) override {
        auto const slot = std::lower_bound(slots_.begin(), slots_.end(), uid,
                                           [](Slot const& candidate, std::int64_t key) { return candidate.uid < key; });
        if (slot == slots_.end() || slot->uid != uid) return;
        pointers_[static_cast<std::size_t>(slot - slots_.begin())] = pointer;
    }

    void add(std::shared_ptr<graph::Tensor_attributes> const& tensor, void* pointer) override {
        if (!tensor) {
            append(faults_, "the pack has a null tensor as a key; remove it or use the tensor");
        } else if (is_foreign(*tensor)) {
            append(faults_,
                   "tensor '" + tensor->get_name() + "' in the pack belongs to another graph; use this graph's");
        } else if (tensor->has_uid()) {
            add(tensor->get_uid(), pointer);
        }
    }

    std::string const& faults() const { return faults_; }

   private:
    bool is_foreign(graph::Tensor_attributes const& tensor) const {
        std::uint64_t const owner = detail::Tensor_access::graph_id(tensor);
        return owner != 0 && owner != graph_id_;
    }

    std::vector<Slot> const& slots_;
    std::uint64_t graph_id_;
    std::span<void*> pointers_;
    std::string faults_;
};

error_t invalid_pack(std::string text, std::string const& tensor) {
    return {error_code_t::INVALID_VARIANT_PACK, std::move(text), {"", "", tensor}};
}

std::string describe_pointer(void const* pointer) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (auto value = reinterpret_cast<std::uintptr_t>(pointer); value != 0; value /= 16) text += kDigits[value % 16];
    return "0x" + std::string(text.rbegin(), text.rend());
}

}  // namespace

std::vector<Slot> make_slots(ir::OpGraph const& graph) {
    std::vector<Slot> slots;
    for (ir::Binding const& binding : graph.bindings()) {
        ir::Value const& value = graph.value(binding.value);
        std::int64_t const size = core::size_of(value.type);
        std::int64_t const elements = core::span_of(value.dim, value.stride).value_or(0);
        bool const is_factor = value.is_factor && value.role != ir::Role::Output;
        slots.push_back({binding.uid, value.name, value.role == ir::Role::Output, value.role == ir::Role::ByValue, size,
                         size, elements * size, value.dim, value.stride, static_cast<bool>(value.ragged), is_factor});
    }
    return slots;
}

error_t resolve(Variant_pack pack, std::uint64_t graph_id, std::vector<Slot> const& slots, std::span<void*> pointers) {
    static char unnamed;  // its address stands for a slot that the pack does not name
    std::fill(pointers.begin(), pointers.end(), &unnamed);
    SlotFiller filler(slots, graph_id, pointers);
    pack.visit(filler);
    std::string faults = filler.faults(), first;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        bool const is_named = pointers[i] != &unnamed;
        if (is_named && pointers[i] != nullptr) continue;
        if (first.empty()) first = slots[i].name;
        append(faults, is_named ? label(slots[i]) + " has a null pointer in the pack; it needs memory" +
                                      (slots[i].is_ragged ? " up to the last of its ragged offsets"
                                                          : " of " + std::to_string(slots[i].span) + " bytes")
                                : label(slots[i]) + " is missing in the pack; add an entry for this uid");
    }
    if (faults.empty()) return {};
    return invalid_pack(std::move(faults), first);
}

error_t check_alignment(std::vector<Slot> const& slots, std::span<void* const> pointers) {
    std::string faults, first;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        auto const address = reinterpret_cast<std::uintptr_t>(pointers[i]);
        if (address % static_cast<std::uintptr_t>(slots[i].alignment) == 0) continue;
        if (first.empty()) first = slots[i].name;
        append(faults, label(slots[i]) + " has the pointer " + describe_pointer(pointers[i]) +
                           ", which is not a multiple of " + std::to_string(slots[i].alignment) +
                           " bytes (its elements have " + std::to_string(slots[i].element_size) +
                           "); pass aligned memory");
    }
    if (faults.empty()) return {};
    return invalid_pack(std::move(faults), first);
}

error_t check_factors(std::vector<Slot> const& slots, std::span<void* const> pointers, HostMemory host) {
    std::string faults, first;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!slots[i].is_factor || (host == HostMemory::ScalarsByValue && !slots[i].is_on_host)) continue;
        auto const factor = static_cast<float>(core::load(DataType_t::FLOAT, pointers[i], 0));
        if (std::isfinite(factor) && factor > 0.0f) continue;
        if (first.empty()) first = slots[i].name;
        append(faults, label(slots[i]) + " holds the factor " + core::shortest_text(factor) +
                           ", by which no 8-bit number can be multiplied; pass a finite number above 0, such as "
                           "fp8_scale() picks");
    }
    if (faults.empty()) return {};
    return invalid_pack(std::move(faults), first);
}

error_t check_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers) {
    std::string faults, first;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        for (std::size_t j = 0; j < slots.size(); ++j) {
            bool const is_checked_once = slots[i].is_written && (!slots[j].is_written || i < j) && i != j;
            bool const is_known = !slots[i].is_ragged && !slots[j].is_ragged;
            if (!is_checked_once || !is_known || !share_memory(slots[i], pointers[i], slots[j], pointers[j])) continue;
            if (first.empty()) first = slots[i].name;
            append(faults, label(slots[i]) + " is written to memory that it shares with " + label(slots[j]) +
                               "; give each its own");
        }
    }
    if (faults.empty()) return {};
    return invalid_pack(std::move(faults), first);
}

}  // namespace cudnn_frontend::inline v1::pipeline
