// The changes of the scores, a soft cap and then slopes, as modifiers of a graph.
#pragma once

#include "flash/shapes.h"

#include <cudnn_frontend/score_modifiers.h>

namespace sdpa_graph::flash {

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

struct Score_terms {
    fe::detail::Score_modifier forward;
    fe::detail::Score_modifier backward;  // empty if the gradient passes unchanged
};

// Slopes and lengths are tensors of the graph; those that the shapes do not need may be null.
Score_terms score_terms(Shapes const& shapes, Tensor const& slopes, Tensor const& lengths_q, Tensor const& lengths_k);

}  // namespace sdpa_graph::flash
