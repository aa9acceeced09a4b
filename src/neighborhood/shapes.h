// The class of a call: the properties that a plan depends on.
#pragma once

#include "neighborhood/call.h"

#include <cudnn_frontend/graph.h>

#include <cstddef>

namespace sdpa_graph::neighborhood {

// Dims and strides of a tensor, and a power of two that divides its address.
struct Layout {
    fe::core::Dims dim, stride;
    std::int64_t alignment = 0;  // 0: there is no such tensor

    friend bool operator==(Layout const&, Layout const&) = default;
};

struct Shapes {
    Function function = Function::Forward;
    fe::neighborhood::Options options;
    float scale = 1.0f;
    DataType_t type = DataType_t::NOT_SET;
    bool is_deterministic = false;
    fe::neighborhood::OfPorts<Layout> tensors;

    // The target, as far as plans differ by it.
    fe::Target::Kind target = fe::Target::Kind::CPU;
    int threads = 0;
    std::int32_t device = 0;

    friend bool operator==(Shapes const&, Shapes const&) = default;
};

Shapes shapes_of(Call const& call, fe::Target const& target);

std::size_t hash_of(Shapes const& shapes);
// Tensors are planned as they are: there are no classes of neighborhoods.
inline fe::ShapePolicy_t policy_of(Shapes const&) { return fe::ShapePolicy_t::EXACT; }

// The class as a graph, whose tensors have the numbers of their ports as uids.
void describe(Shapes const& shapes, fe::graph::Graph& graph);

}  // namespace sdpa_graph::neighborhood
