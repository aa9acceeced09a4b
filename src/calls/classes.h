// Which calls are planned for classes of shapes.
#pragma once

#include "attention/shape_classes.h"

#include <cudnn_frontend/process.h>
#include <sdpa_graph/place.h>

namespace sdpa_graph::calls {

inline Shape_policy policy_of(Place const& place) {
    auto const said = place.shape_policy ? place.shape_policy : cudnn_frontend::runtime::shape_policy();
    return said.value_or(Shape_policy::AUTO);
}

inline bool wants_classes(Place const& place, Tensor_view const& tensor) {
    bool const is_on_gpu = tensor.device == Device_kind::CUDA;
    Shape_policy const policy = policy_of(place);
    return policy == Shape_policy::CLASSES || (policy == Shape_policy::AUTO && is_on_gpu);
}

}  // namespace sdpa_graph::calls
