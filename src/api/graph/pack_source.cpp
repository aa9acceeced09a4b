#include "api/graph/pack_source.h"

#include "api/attributes/tensor_access.h"

namespace cudnn_frontend::api {
namespace {

class Sink final : public Variant_pack_sink {
   public:
    Sink(plan::SlotFiller& filler, std::uint64_t graph_id) : filler_(filler), graph_id_(graph_id) {}

    void add(std::int64_t uid, void* pointer) override { filler_.place(uid, pointer, plan::SlotFiller::Key::Number); }

    void add(std::shared_ptr<graph::Tensor_attributes> const& tensor, void* pointer) override {
        if (!tensor) {
            filler_.refuse("", "a null tensor as a key of the pack", "tensors of the graph",
                           "remove it, or use the tensor");
        } else if (is_foreign(*tensor)) {
            filler_.refuse(tensor->get_name(), "a key of the pack that belongs to another graph",
                           "tensors of this graph", "use this graph's");
        } else if (tensor->has_uid()) {
            filler_.place(tensor->get_uid(), pointer, plan::SlotFiller::Key::Tensor);
        }
    }

   private:
    bool is_foreign(graph::Tensor_attributes const& tensor) const {
        std::uint64_t const owner = detail::Tensor_access::graph_id(tensor);
        return owner != 0 && owner != graph_id_;
    }

    plan::SlotFiller& filler_;
    std::uint64_t graph_id_;
};

}  // namespace

void UserPack::fill(plan::SlotFiller& filler) const {
    if (pack_.can_find()) return filler.look_up([&](std::int64_t uid) { return pack_.find(uid); });
    Sink sink(filler, graph_id_);
    pack_.visit(sink);
}

}  // namespace cudnn_frontend::api
