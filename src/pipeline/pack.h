// From the caller's pack to the pointers that a plan runs on, with every check that can be made before running.
#pragma once

#include "cpu/ragged.h"
#include "ir/op_graph.h"
#include "nodes/schema/graph_spec.h"

#include <cudnn_frontend/variant_pack.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::pipeline {

// A tensor that the pack must name.
struct Slot {
    std::int64_t uid;
    std::string name;
    bool is_written;
    bool is_on_host;            // a by-value scalar
    std::int64_t element_size;  // bytes
    std::int64_t alignment;     // bytes that the pointer is a multiple of
    std::int64_t span;          // bytes from the first to past the last element
    core::Dims dim, stride;
    bool is_factor = false;  // of 8-bit attention: one FLOAT, finite and above 0
    // Of a ragged tensor: the slot of the offsets, which say how far it reaches, and the bytes that they count as one.
    std::size_t offset_slot = kNoSlot;
    std::int64_t offset_unit = 0;

    static constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);
    bool is_ragged() const { return offset_slot != kNoSlot; }
};

// A result that the graph keeps to itself: nothing is written to memory that a pack has for it.
struct VirtualTensor {
    std::int64_t uid;
    std::string name;
    bool is_uid_automatic;
};

// What a plan holds packs against.
struct PackLayout {
    std::uint64_t graph_id = 0;                  // tensors as keys belong to this graph, or to none
    std::vector<Slot> slots;                     // one for each binding of the op graph, in the same order
    std::vector<VirtualTensor> virtual_tensors;  // by uid
};

PackLayout make_pack_layout(std::uint64_t graph_id, nodes::GraphSpec const& graph, ir::OpGraph const& op_graph);

// Something for each slot, without a trip to the heap for as many as attention graphs have.
template <class T>
class SlotList {
   public:
    explicit SlotList(std::size_t count) : count_(count), more_(count > kInline ? count : 0) {}
    std::span<T> all() { return {count_ > kInline ? more_.data() : inline_.data(), count_}; }

   private:
    static constexpr std::size_t kInline = 32;
    std::size_t count_;
    std::array<T, kInline> inline_;
    std::vector<T> more_;
};
using PointerList = SlotList<void*>;

// Fills the pointers, one for each slot in their order.
error_t resolve(Variant_pack pack, PackLayout const& layout, std::span<void*> pointers);

// The pointers are multiples of each slot's alignment.
error_t check_alignment(std::vector<Slot> const& slots, std::span<void* const> pointers);
// What numbers of 8 bits are multiplied by is finite and above 0. Reads the pointers of host memory: all of them, or
// those of by-value scalars alone.
enum class HostMemory { All, ScalarsByValue };
error_t check_factors(std::vector<Slot> const& slots, std::span<void* const> pointers, HostMemory host);
// No output shares memory with another tensor. Of ragged tensors no more is seen here than whether two with the same
// offsets start in the same place: where they reach, the offsets say, in memory that may be a GPU's.
error_t check_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers);
// The same of pairs in which a tensor is ragged, exactly: their sequences lie as told for each slot.
error_t check_ragged_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers,
                             std::vector<cpu::PackedSequences> const& sequences);

// A pack whose pointers stand in the order of the slots.
class SortedPack {
   public:
    SortedPack(std::vector<Slot> const& slots, void* const* pointers) : slots_(slots), pointers_(pointers) {}

    struct Iterator {
        SortedPack const* pack;
        std::size_t at;
        std::pair<std::int64_t, void*> operator*() const { return {pack->slots_[at].uid, pack->pointers_[at]}; }
        Iterator& operator++() { return ++at, *this; }
        bool operator!=(Iterator const& other) const { return at != other.at; }
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, slots_.size()}; }

   private:
    std::vector<Slot> const& slots_;
    void* const* pointers_;
};

}  // namespace cudnn_frontend::pipeline
