// The schema of each node kind, defined beside its inference.
#pragma once

#include "nodes/schema.h"

namespace cudnn_frontend::inline v1::nodes {

extern NodeSchema const kSdpaForwardSchema;
extern NodeSchema const kSdpaBackwardSchema;
extern NodeSchema const kPointwiseSchema;
extern NodeSchema const kMatmulSchema;
extern NodeSchema const kReductionSchema;

}  // namespace cudnn_frontend::inline v1::nodes
