// The two products of neighborhood attention as nodes of their own, with their gradients: ports and fields.
#include "nodes/neighborhood/tables.h"

namespace cudnn_frontend::nodes {
namespace {

using namespace neighborhood;
using enum Direction;
using enum Presence;

constexpr std::array kQkPorts = {
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{Rel_pos_bias, "Rel_pos_bias", Input, Optional, "what is added to the products, by head and distance"},
    PortRow{Attn, "Attn", Output, Required, "products of each query with the keys of its window"},
};

constexpr std::array kQkBackwardPorts = {
    PortRow{dAttn, "dAttn", Input, Required, "gradient of Attn"},
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{dQ, "dQ", Output, Required, "gradient of Q"},
    PortRow{dK, "dK", Output, Required, "gradient of K"},
    PortRow{dRel_pos_bias, "dRel_pos_bias", Output, Optional, "gradient of the bias"},
};

constexpr std::array kAvPorts = {
    PortRow{Attn, "Attn", Input, Required, "weights of the values of each window"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{O, "O", Output, Required, "sums of the weighed values"},
};

constexpr std::array kAvBackwardPorts = {
    PortRow{dO, "dO", Input, Required, "gradient of O"},
    PortRow{Attn, "Attn", Input, Required, "weights of the values of each window"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{dAttn, "dAttn", Output, Required, "gradient of Attn"},
    PortRow{dV, "dV", Output, Required, "gradient of V"},
};

template <class F>
constexpr std::span<Field const> kRows = kNeighborhoodFieldRows<F>;

}  // namespace

constinit NodeSchema const NeighborhoodQkFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodQk, "NEIGHBORHOOD_QK", kQkPorts, kRows<NeighborhoodQkFields>);

constinit NodeSchema const NeighborhoodQkBackwardFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodQkBackward, "NEIGHBORHOOD_QK_BACKWARD", kQkBackwardPorts,
                        kRows<NeighborhoodQkBackwardFields>);

constinit NodeSchema const NeighborhoodAvFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodAv, "NEIGHBORHOOD_AV", kAvPorts, kRows<NeighborhoodAvFields>);

constinit NodeSchema const NeighborhoodAvBackwardFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodAvBackward, "NEIGHBORHOOD_AV_BACKWARD", kAvBackwardPorts,
                        kRows<NeighborhoodAvBackwardFields>);

}  // namespace cudnn_frontend::nodes
