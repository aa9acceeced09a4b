// A view of the caller's map from tensors to pointers: no copy, and no container header is needed here.
#pragma once

#include "tensor.h"

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
        return Variant_pack(&map, [](void const* container, Variant_pack_sink& sink) {
            for (auto const& entry : *static_cast<Map const*>(container)) sink.add(entry.first, entry.second);
        });
    }

    void visit(Variant_pack_sink& sink) const { visit_(container_, sink); }

   private:
    using Visit = void (*)(void const*, Variant_pack_sink&);

    Variant_pack(void const* container, Visit function) : container_(container), visit_(function) {}

    void const* container_;
    Visit visit_;
};

}  // namespace cudnn_frontend
