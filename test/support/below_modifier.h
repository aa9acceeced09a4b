// Score modifiers that select by one index below another: by row < column, a form that ends cuDNN's planning of
// backward, or by column < row.
#pragma once

#include "support/small_graph.h"

#include <limits>

namespace test {

inline Tensor_ptr select_where_less(std::shared_ptr<Graph> const& graph, Tensor_ptr const& scores, std::int64_t axis,
                                    std::int64_t other) {
    using cudnn_frontend::PointwiseMode_t;
    using cudnn_frontend::graph::Pointwise_attributes;
    auto const index = [&](std::int64_t of) {
        auto const made =
            graph->pointwise(scores, Pointwise_attributes().set_mode(PointwiseMode_t::GEN_INDEX).set_axis(of));
        made->set_data_type(DataType_t::INT32);
        return made;
    };
    auto const is_less =
        graph->pointwise(index(axis), index(other), Pointwise_attributes().set_mode(PointwiseMode_t::CMP_LT));
    is_less->set_data_type(DataType_t::BOOLEAN);
    auto const masked = graph->tensor(-std::numeric_limits<float>::infinity());
    return graph->pointwise(scores, masked, is_less, Pointwise_attributes().set_mode(PointwiseMode_t::BINARY_SELECT));
}

inline Tensor_ptr select_below(std::shared_ptr<Graph> const& graph, Tensor_ptr const& scores) {
    return select_where_less(graph, scores, 2, 3);
}

inline Tensor_ptr select_left(std::shared_ptr<Graph> const& graph, Tensor_ptr const& scores) {
    return select_where_less(graph, scores, 3, 2);
}

}  // namespace test
