// The forms of a caller's pack, as the planner reads them.
#pragma once

#include "plan/packs/pack.h"

#include <cudnn_frontend/variant_pack.h>

namespace cudnn_frontend::api {

// A map by uid or by tensor. Tensors as keys belong to the graph of this id, or to none.
class UserPack final : public plan::PackSource {
   public:
    UserPack(Variant_pack pack, std::uint64_t graph_id) : pack_(pack), graph_id_(graph_id) {}

    void fill(plan::SlotFiller& filler) const override;

   private:
    Variant_pack pack_;
    std::uint64_t graph_id_;
};

// A pack whose pointers are in the order of the slots.
class SortedPack {
   public:
    SortedPack(std::vector<plan::Slot> const& slots, void* const* pointers) : slots_(slots), pointers_(pointers) {}

    struct PackIterator {
        SortedPack const* pack;
        std::size_t at;
        std::pair<std::int64_t, void*> operator*() const { return {pack->slots_[at].uid, pack->pointers_[at]}; }
        PackIterator& operator++() { return ++at, *this; }
        bool operator!=(PackIterator const& other) const { return at != other.at; }
    };
    PackIterator begin() const { return {this, 0}; }
    PackIterator end() const { return {this, slots_.size()}; }

   private:
    std::vector<plan::Slot> const& slots_;
    void* const* pointers_;
};

}  // namespace cudnn_frontend::api
