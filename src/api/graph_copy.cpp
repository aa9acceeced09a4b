// A copy of a graph: it shares the tensors and the plans that are built, and chooses its own from then on.
#include "api/graph_impl.h"
#include "plan/planner.h"

namespace cudnn_frontend::graph {

Graph::Graph(Graph const& other) : impl_(other.impl_ ? new Impl(*other.impl_) : nullptr) {
    if (impl_ == nullptr) return;
    if (impl_->planner) impl_->planner = impl_->planner->copy();
    // The modifier that made the copy works on the other graph.
    impl_->running_modifiers = 0;
    impl_->modifier_faults.clear();
}

}  // namespace cudnn_frontend::graph
