// The default data type of a tensor.
#pragma once

#include "nodes/schema/graph_spec.h"

namespace cudnn_frontend::nodes {

inline DataType_t default_type(GraphSpec const& graph, TensorSpec const& tensor) {
    return tensor.is_virtual ? graph.intermediate_data_type : graph.io_data_type;
}

}  // namespace cudnn_frontend::nodes
