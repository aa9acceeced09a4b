// Neighborhood attention as one node, forward and backward: ports and fields.
#include "nodes/neighborhood/tables.h"

namespace cudnn_frontend::nodes {
namespace {

using namespace neighborhood;
using enum Direction;
using enum Presence;

constexpr std::array kForwardPorts = {
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{Rel_pos_bias, "Rel_pos_bias", Input, Optional, "what is added to the scores, by head and distance"},
    PortRow{O, "O", Output, Required, "values weighed by probabilities"},
    PortRow{Stats, "Stats", Output, Optional, "logarithm of the sum of exp(score) over each window"},
};

constexpr std::array kBackwardPorts = {
    PortRow{Q, "Q", Input, Required, "queries"},
    PortRow{K, "K", Input, Required, "keys"},
    PortRow{V, "V", Input, Required, "values"},
    PortRow{Rel_pos_bias, "Rel_pos_bias", Input, Optional, "what forward added to the scores"},
    PortRow{O, "O", Input, Required, "what forward made"},
    PortRow{Stats, "Stats", Input, Required, "what forward made"},
    PortRow{dO, "dO", Input, Required, "gradient of O"},
    PortRow{dQ, "dQ", Output, Required, "gradient of Q"},
    PortRow{dK, "dK", Output, Required, "gradient of K"},
    PortRow{dV, "dV", Output, Required, "gradient of V"},
    PortRow{dRel_pos_bias, "dRel_pos_bias", Output, Optional, "gradient of Rel_pos_bias"},
};

template <class F>
constexpr Field kScaleRow = field<F, &F::attn_scale>("attn_scale", "factor of the scores; none: 1 / sqrt(D)");

using Forward = NeighborhoodForwardFields;
constexpr auto kForwardFields =
    join(kNeighborhoodFieldRows<Forward>,
         std::array{
             kScaleRow<Forward>,
             field<Forward, &Forward::generate_stats>("generate_stats", "make the Stats output"),
         });

using Backward = NeighborhoodBackwardFields;
constexpr auto kBackwardFields = join(kNeighborhoodFieldRows<Backward>, std::array{kScaleRow<Backward>});

}  // namespace

constinit NodeSchema const NeighborhoodForwardFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodForward, "NEIGHBORHOOD_FORWARD", kForwardPorts, kForwardFields);

constinit NodeSchema const NeighborhoodBackwardFields::schema =
    neighborhood_schema(NodeKind::NeighborhoodBackward, "NEIGHBORHOOD_BACKWARD", kBackwardPorts, kBackwardFields);

}  // namespace cudnn_frontend::nodes
