// A built plan for other shapes of its graph's tensors, made in microseconds: for programs whose shapes are new at
// every step.
#pragma once

#include "graph.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cudnn_frontend {

namespace plan {
class Plan;
}

namespace graph {

// Dims and strides of the tensor of that uid in place of the graph's, as many of each as the tensor has.
struct Tensor_shape {
    std::int64_t uid;
    std::int64_t const* dim;
    std::int64_t const* stride;
    std::size_t rank;
};

// Immutable once it is made: many threads may run it at once. It does not need the graph any more.
class SDPA_GRAPH_API Resized_plan {
   public:
    // Resizes the plan that Graph::execute() runs, which has to be one for all shapes: the graph was built, not loaded,
    // with ShapePolicy_t::ALL_SHAPES, or with any policy for a Cuda_stream. Tensors that are not named keep their
    // shapes, and all keep their head dims. `made` stays as it is if that fails: INVALID_VALUE means that these are no
    // shapes of the graph's tensors, GRAPH_NOT_SUPPORTED that the engine does not run them, a filter of the graph bars
    // the plan, or first runs are verified, and HEURISTIC_QUERY_FAILED that the engine would run them slowly. In the
    // last two cases a graph of these shapes may still be built.
    static error_t make(Graph const& graph, Tensor_shape const* shapes, std::size_t count, Resized_plan& made) noexcept;

    // False before make().
    bool is_made() const { return plan_ != nullptr; }
    std::int64_t get_workspace_size() const noexcept;

    // Packs are those of the graph.
    template <class Map>
    error_t execute(cudnnHandle_t handle, Map const& pack, void* workspace) const {
        return run(handle, Variant_pack::of(pack), workspace);
    }
    template <class Map>
    error_t execute(Cuda_stream stream, Map const& pack, void* workspace) const {
        return run(stream, Variant_pack::of(pack), workspace);
    }

   private:
    error_t run(detail::Run_queue queue, Variant_pack pack, void* workspace) const noexcept;

    std::shared_ptr<plan::Plan const> plan_;
    std::uint64_t graph_id_ = 0;  // whose tensors may be keys of packs
    Target::Kind planned_for_ = Target::Kind::CUDA;
};

}  // namespace graph
}  // namespace cudnn_frontend
