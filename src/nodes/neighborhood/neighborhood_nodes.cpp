// The nodes of neighborhood attention, as one function and in its parts, forward and backward: ports and fields.
#include "nodes/neighborhood/neighborhood_schema.h"

namespace cudnn_frontend::nodes {
namespace {

using namespace neighborhood;
using enum Direction;
using enum Presence;

template <class F>
constexpr std::array kNeighborhoodFieldRows = {
    field<F, &F::kernel_size>("kernel_size", "keys of a window along each axis of space"),
    field<F, &F::dilation>("dilation", "distance of these keys along each axis; empty: 1"),
    field<F, &F::is_causal>("is_causal", "whether windows end at the query, along each axis; empty: nowhere"),
};

constexpr NodeSchema neighborhood_schema(NodeKind kind, char const* tag, std::span<PortRow const> ports,
                                         std::span<Field const> fields) {
    return {
        kind, tag, neighborhood::PortCount, ports, fields, infer_neighborhood, neighborhood_rules, Computes::InFloat};
}

constexpr std::array kForwardPorts = {
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{RelPosBias, "Rel_pos_bias", Input, Optional, "what is added to the scores, by head and distance"},
    PortRow{O, "O", Output, Required, "values weighed by probabilities"},
    PortRow{Stats, "Stats", Output, Optional, "logarithm of the sum of exp(score) over each window"},
};

constexpr std::array kBackwardPorts = {
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{RelPosBias, "Rel_pos_bias", Input, Optional, "what forward added to the scores"},
    PortRow{O, "O", Input, Required, "what forward made"},
    PortRow{Stats, "Stats", Input, Required, "what forward made"},
    PortRow{DO, "dO", Input, Required, "gradient of O"},
    PortRow{DQ, "dQ", Output, Required, "gradient of Q"},
    PortRow{DK, "dK", Output, Required, "gradient of K"},
    PortRow{DV, "dV", Output, Required, "gradient of V"},
    PortRow{DRelPosBias, "dRel_pos_bias", Output, Optional, "gradient of Rel_pos_bias"},
};

template <class F>
constexpr Field kScaleRow = field<F, &F::attn_scale>("attn_scale", "factor of the scores; none: 1 / sqrt(D)");

constexpr auto kForwardFields = join(kNeighborhoodFieldRows<NeighborhoodForwardFields>,
                                     std::array{
                                         kScaleRow<NeighborhoodForwardFields>,
                                         field<NeighborhoodForwardFields, &NeighborhoodForwardFields::generate_stats>(
                                             "generate_stats", "make the Stats output"),
                                     });

constexpr auto kBackwardFields =
    join(kNeighborhoodFieldRows<NeighborhoodBackwardFields>, std::array{kScaleRow<NeighborhoodBackwardFields>});

}  // namespace

constinit NodeSchema const NeighborhoodForwardFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodForward, "NEIGHBORHOOD_FORWARD", kForwardPorts, kForwardFields);

constinit NodeSchema const NeighborhoodBackwardFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodBackward, "NEIGHBORHOOD_BACKWARD", kBackwardPorts, kBackwardFields);

// The two products of neighborhood attention as nodes of their own, with their gradients: ports and fields.
namespace {

constexpr std::array kQkPorts = {
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{RelPosBias, "Rel_pos_bias", Input, Optional, "what is added to the products, by head and distance"},
    PortRow{Attn, "Attn", Output, Required, "products of each query with the keys of its window"},
};

constexpr std::array kQkBackwardPorts = {
    PortRow{DAttn, "dAttn", Input, Required, "gradient of Attn"},
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{DQ, "dQ", Output, Required, "gradient of Q"},
    PortRow{DK, "dK", Output, Required, "gradient of K"},
    PortRow{DRelPosBias, "dRel_pos_bias", Output, Optional, "gradient of the bias"},
};

constexpr std::array kAvPorts = {
    PortRow{Attn, "Attn", Input, Required, "weights of the values of each window"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{O, "O", Output, Required, "sums of the weighed values"},
};

constexpr std::array kAvBackwardPorts = {
    PortRow{DO, "dO", Input, Required, "gradient of O"},
    PortRow{Attn, "Attn", Input, Required, "weights of the values of each window"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{DAttn, "dAttn", Output, Required, "gradient of Attn"},
    PortRow{DV, "dV", Output, Required, "gradient of V"},
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
