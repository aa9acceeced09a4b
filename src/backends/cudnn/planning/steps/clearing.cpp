#include "cudnn/planning/steps/extra_step.h"

#include "cuda/driver.h"

#include <utility>

namespace cudnn_frontend::cudnn {
namespace {

struct Cleared {
    std::size_t slot;  // of the pack
    std::size_t bytes;

    std::span<std::byte> memory(plan::Launch const& launch) const {
        return {static_cast<std::byte*>(launch.pointers[slot]), bytes};
    }
};

class Clearing final : public ExtraStep {
   public:
    explicit Clearing(std::vector<Cleared> results) : results_(std::move(results)) {}

    error_t launch(plan::Launch const& launch, CUstream stream) const override {
        for (Cleared const& result : results_) SDPA_GRAPH_TRY(cuda::clear(stream, result.memory(launch)));
        return {};
    }

    error_t record(plan::Launch const& launch, CUgraph graph) const override {
        std::vector<CUgraphNode> last;
        for (Cleared const& result : results_) {
            auto const node = cuda::add_clearing(graph, last, result.memory(launch));
            if (node.is_bad()) return node.error();
            last = {node.value()};
        }
        return {};
    }

    error_t update(plan::Launch const& launch, CUgraph graph) const override {
        CUgraphNode last = nullptr;
        for (Cleared const& result : results_) {
            SDPA_GRAPH_TRY(cuda::node_after(graph, last).move_to(last));
            SDPA_GRAPH_TRY(cuda::update_clearing(last, result.memory(launch)));
        }
        return {};
    }

   private:
    std::vector<Cleared> results_;
};

}  // namespace

Result<std::shared_ptr<ExtraStep const>> clearing_of(LegalGraph const& graph, plan::PackLayout const& layout) {
    std::vector<Cleared> results;
    for (auto const& [dense, offsets] : graph.offsets) {
        ir::Value const& value = graph.graph.value(dense);
        if (value.role != ir::Role::Output) continue;
        auto const slot = layout.slot_of(value.uid);
        if (!slot) return no_pointer(value);
        results.push_back({*slot, static_cast<std::size_t>(layout.slots[*slot].span)});
    }
    if (results.empty()) return std::shared_ptr<ExtraStep const>();
    return std::shared_ptr<ExtraStep const>(std::make_shared<Clearing const>(std::move(results)));
}

}  // namespace cudnn_frontend::cudnn
