// A view of the caller's map from tensors to pointers: no copy, and no container header is needed here.
#pragma once

#include "tensor.h"

#include <type_traits>
#include <utility>

namespace cudnn_frontend {

// Receives the entries of a pack, one call for each.
class SDPA_GRAPH_API Variant_pack_sink {
   public:
    virtual void add(std::int64_t uid, void* pointer) = 0;
    // A tensor that no node uses has no uid and is skipped.
    virtual void add(std::shared_ptr<graph::Tensor_attributes> const& tensor, void* pointer) = 0;

   protected:
    ~Variant_pack_sink() = default;
};

// A view of any container of (uid, pointer) or (tensor, pointer) pairs. It must outlive the view.
class Variant_pack {
   public:
    template <class Map>
    static Variant_pack of(Map const& map) {
        return Variant_pack(
            &map,
            [](void const* container, Variant_pack_sink& sink) {
                for (auto const& entry : *static_cast<Map const*>(container)) sink.add(entry.first, entry.second);
            },
            finder_in<Map>(nullptr));
    }

    void visit(Variant_pack_sink& sink) const { visit_(container_, sink); }

    // Whether a uid can be looked up: in maps from uids, of which programs pass large ones that serve many graphs.
    bool can_find() const { return find_ != nullptr; }
    // The pointer of a uid, null where the pack does not name it.
    void* const* find(std::int64_t uid) const { return find_(container_, uid); }

   private:
    using Visit = void (*)(void const*, Variant_pack_sink&);
    using Find = void* const* (*)(void const*, std::int64_t);

    Variant_pack(void const* container, Visit visitor, Find finder)
        : container_(container), visit_(visitor), find_(finder) {}

    // at(): not in maps that name a uid more than once.
    template <class Map, class = decltype(std::declval<Map const&>().at(std::int64_t{}))>
    static typename std::enable_if<std::is_same<typename Map::key_type, std::int64_t>::value &&
                                       std::is_same<typename Map::mapped_type, void*>::value,
                                   Find>::type
    finder_in(Map const*) {
        return [](void const* container, std::int64_t uid) -> void* const* {
            Map const& map = *static_cast<Map const*>(container);
            auto const entry = map.find(uid);
            return entry == map.end() ? nullptr : &entry->second;
        };
    }
    template <class Map>
    static Find finder_in(...) {
        return nullptr;
    }

    void const* container_;
    Visit visit_;
    Find find_;
};

}  // namespace cudnn_frontend
