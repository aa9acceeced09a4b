// Shared by the tables of all functions of neighborhood attention.
#pragma once

#include "nodes/attention/attention_schema.h"
#include "nodes/neighborhood/neighborhood_schema.h"

namespace cudnn_frontend::nodes {

template <class F>
constexpr std::array kNeighborhoodFieldRows = {
    field<F, &F::kernel_size>("kernel_size", "keys of a window along each axis of space"),
    field<F, &F::dilation>("dilation", "distance of these keys along each axis; empty: 1"),
    field<F, &F::is_causal>("is_causal", "whether windows end at the query, along each axis; empty: nowhere"),
};

constexpr NodeSchema neighborhood_schema(NodeKind kind, char const* tag, std::span<PortRow const> ports,
                                         std::span<Field const> fields) {
    return {kind, tag, neighborhood::kPorts, ports, fields, infer_neighborhood, neighborhood_rules, Computes::InFloat};
}

}  // namespace cudnn_frontend::nodes
