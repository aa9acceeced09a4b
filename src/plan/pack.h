// From the caller's pack to the pointers that a plan runs on, with every check that can be made before running.
#pragma once

#include "ir/op_graph.h"
#include "nodes/schema/graph_spec.h"
#include "plan/sequences.h"

#include <array>
#include <cstdint>
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

// Of which slots the host may read the memory: all of them, or those of by-value scalars alone.
enum class HostMemory { All, ScalarsByValue };

// What a plan holds packs against.
struct PackLayout {
    std::vector<Slot> slots;                     // one for each binding of the op graph, in the same order
    std::vector<VirtualTensor> virtual_tensors;  // by uid
    HostMemory host_memory = HostMemory::All;
};

PackLayout make_pack_layout(nodes::GraphSpec const& graph, ir::OpGraph const& op_graph);

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

// What is wrong with a pack under one of the rules on runs in docs/spec.md, all of it in one error.
class PackFaults {
   public:
    explicit PackFaults(char const* rule) : rule_(rule) {}

    void add(std::string const& tensor, std::string const& fault);
    error_t error() && { return std::move(error_); }

   private:
    char const* rule_;
    error_t error_;
};

// Puts each pointer into the slot of its uid. What no slot asks for is dropped, but for memory that waits for a result.
// Programs pass one map for several graphs, so that a number may be an automatic uid here by chance alone.
class SlotFiller {
   public:
    SlotFiller(PackLayout const& layout, std::span<void*> pointers, PackFaults& faults)
        : layout_(layout), pointers_(pointers), faults_(faults) {}

    enum class Key { Number, Tensor };
    void place(std::int64_t uid, void* pointer, Key key);

    PackFaults& faults() { return faults_; }

   private:
    void refuse(VirtualTensor const& result);

    PackLayout const& layout_;
    std::span<void*> pointers_;
    PackFaults& faults_;
};

// The caller's pack, whatever its form.
class PackSource {
   public:
    virtual void fill(SlotFiller& filler) const = 0;

   protected:
    ~PackSource() = default;
};

// Fills the pointers, one for each slot in their order.
error_t resolve(PackSource const& pack, PackLayout const& layout, std::span<void*> pointers);

// The pointers are multiples of each slot's alignment.
error_t check_alignment(std::vector<Slot> const& slots, std::span<void* const> pointers);
// What numbers of 8 bits are multiplied by is finite and above 0, where the host may read it.
error_t check_factors(PackLayout const& layout, std::span<void* const> pointers);
// No output shares memory with another tensor. Of ragged tensors no more is seen here than whether two with the same
// offsets start in the same place: where they reach, the offsets say, in memory that may be a GPU's.
error_t check_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers);
// The same of pairs in which a tensor is ragged, exactly: their sequences lie as told for each slot.
error_t check_ragged_overlap(std::vector<Slot> const& slots, std::span<void* const> pointers,
                             std::vector<PackedSequences> const& sequences);

}  // namespace cudnn_frontend::plan
