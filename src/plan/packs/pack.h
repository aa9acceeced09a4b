// Resolves the caller's pack to the pointers that a plan runs on, with every check that can be made before running.
#pragma once

#include "core/findings.h"
#include "core/result.h"
#include "ir/op_graph.h"
#include "nodes/schema/graph_spec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::plan {

// A tensor that the pack must name.
struct Slot {
    std::int64_t uid;
    std::string name;
    bool is_written;
    bool is_on_host;            // a by-value scalar
    std::int64_t element_size;  // bytes
    std::int64_t alignment;     // the pointer is a multiple of this many bytes
    std::int64_t span;          // bytes from the first to past the last element
    core::Dims dim, stride;
    bool is_factor = false;  // an FP8 scale or descale: one FLOAT, finite and above 0
    // The slot of a ragged tensor's offsets, which determine its extent, and the bytes of one unit of them.
    std::size_t offset_slot = kNoSlot;
    std::int64_t offset_unit = 0;

    static constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);
    bool is_ragged() const { return offset_slot != kNoSlot; }
};

// Dims and strides of a tensor in place of those that the graph has for its uid.
struct TensorShape {
    std::int64_t uid;
    std::span<std::int64_t const> dim, stride;
};
using TensorShapes = std::span<TensorShape const>;

// A result without memory of the caller's: nothing would be written to a pointer for it in a pack.
struct VirtualTensor {
    std::int64_t uid;
    std::string name;
    bool is_uid_automatic;
};

// Which slots' memory the host may read: all, or only by-value scalars'.
enum class HostMemory { All, ScalarsByValue };

// The data against which packs are checked.
struct PackLayout {
    std::vector<Slot> slots;                     // one for each binding of the op graph, in the same order
    std::vector<VirtualTensor> virtual_tensors;  // by uid
    HostMemory host_memory = HostMemory::All;

    // The number of the tensor's slot; nothing where packs have no pointer to it.
    std::optional<std::size_t> slot_of(std::int64_t uid) const;
};

// An estimate of its memory.
std::size_t heap_bytes(PackLayout const& layout);

PackLayout make_pack_layout(nodes::GraphSpec const& graph, ir::OpGraph const& op_graph);
// The same for a graph that has no 8-bit factors and whose operations read all of its tensors, which is faster than
// to expand it.
PackLayout make_pack_layout(nodes::GraphSpec const& graph);

// The layout with other shapes of its tensors; those to which packs have no pointer are ignored. An error if a tensor
// has two, or another rank, or its elements cannot be counted.
Result<PackLayout> resized(PackLayout const& layout, TensorShapes shapes);

// An array with an element for each slot, which does not allocate for as many slots as attention graphs have.
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

// A sequence of a ragged tensor: elements from the tensor's address to the sequence, and the sequence's rows.
struct PackedSequence {
    std::int64_t start, rows;
};
using PackedSequences = std::vector<PackedSequence>;

// Stores each pointer in the slot of its uid. Other entries are ignored, except memory for a virtual result. Programs
// pass one map to several graphs, so that a number may equal an automatic uid here by mere chance.
class SlotFiller {
   public:
    SlotFiller(PackLayout const& layout, std::span<void*> pointers, core::Findings& findings)
        : layout_(layout), pointers_(pointers), findings_(findings) {}

    enum class Key { Number, Tensor };
    void place(std::int64_t uid, void* pointer, Key key);

    // The same as placing all entries of a map from uids, by find(uid): the address of the pointer, or null.
    template <class Find>
    void look_up(Find const& find);

    // A key of the pack, or an entry, that it may not have.
    void refuse(std::string const& tensor, std::string found, std::string needed, std::string fix);

   private:
    void refuse(VirtualTensor const& result);

    PackLayout const& layout_;
    std::span<void*> pointers_;
    core::Findings& findings_;
};

template <class Find>
void SlotFiller::look_up(Find const& find) {
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
        if (void* const* const pointer = find(layout_.slots[i].uid)) pointers_[i] = *pointer;
    }
    for (VirtualTensor const& result : layout_.virtual_tensors) {
        void* const* const pointer = result.is_uid_automatic ? nullptr : find(result.uid);
        if (pointer != nullptr && *pointer != nullptr) refuse(result);
    }
}

// The caller's pack, whatever its form.
class PackSource {
   public:
    virtual void fill(SlotFiller& filler) const = 0;

   protected:
    ~PackSource() = default;
};

// Fills the pointers, one for each slot, in order.
error_t resolve(PackSource const& pack, PackLayout const& layout, std::span<void*> pointers);

// The pointers are multiples of each slot's alignment.
error_t check_alignment(std::vector<Slot> const& slots, std::span<void* const> pointers);
// FP8 factors that the host may read are finite and above 0.
error_t check_factors(PackLayout const& layout, std::span<void* const> pointers);
// No output shares memory with another tensor. For ragged tensors this only compares where two with the same offsets
// start: their extents depend on the offsets, which may be in GPU memory.
error_t check_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers);
// The workspace lies before the first element of each tensor or behind its last one. Ragged ones are left out.
error_t check_workspace_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers, void const* workspace,
                                std::int64_t workspace_bytes);
// The same for pairs with a ragged tensor, exactly: the places of its sequences are given for each slot.
error_t check_ragged_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers,
                             std::vector<PackedSequences> const& sequences);

// Backends whose memory the host cannot read check its contents through copies.

// Copies bytes to the host from a pointer of the pack.
using Fetch = std::function<error_t(std::span<std::byte> to, void const* from)>;

// Checks lengths, ragged offsets and page tables. The pointers are in the order of the op graph's bindings.
using CheckIndices = error_t (*)(ir::OpGraph const& graph, std::span<void* const> pointers, Fetch const& fetch);

}  // namespace cudnn_frontend::plan
