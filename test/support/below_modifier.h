// A score modifier that selects by row < column, a form that ends cuDNN's planning of backward.
#pragma once

#include "support/small_graph.h"

#include <limits>

namespace test {

inline Tensor_ptr select_below(std::shared_ptr<Graph> const& graph, Tensor_ptr const& scores) {
    using cudnn_frontend::PointwiseMode_t;
    using cudnn_frontend::graph::Pointwise_attributes;
    auto const index = [&](std::int64_t axis) {
        auto const made =
            graph->pointwise(scores, Pointwise_attributes().set_mode(PointwiseMode_t::GEN_INDEX).set_axis(axis));
        made->set_data_type(DataType_t::INT32);
        return made;
    };
    auto const is_below =
        graph->pointwise(index(2), index(3), Pointwise_attributes().set_mode(PointwiseMode_t::CMP_LT));
    is_below->set_data_type(DataType_t::BOOLEAN);
    auto const masked = graph->tensor(-std::numeric_limits<float>::infinity());
    return graph->pointwise(scores, masked, is_below, Pointwise_attributes().set_mode(PointwiseMode_t::BINARY_SELECT));
}

}  // namespace test
