// Names of the existing frontend that have nothing to do with attention. They do nothing here. They exist so that
// headers compile which declare functions on them next to those of attention.
#pragma once

namespace cudnn_frontend {

class Tensor;
class Operation;
class PointWiseDesc;

enum class ConvolutionMode_t { NOT_SET, CONVOLUTION, CROSS_CORRELATION };

enum class NormMode_t { NOT_SET, LAYER_NORM, INSTANCE_NORM, BATCH_NORM, GROUP_NORM, RMS_NORM, ADA_LAYER_NORM };

enum class NormFwdPhase_t { NOT_SET, INFERENCE, TRAINING };

enum class ResampleMode_t { NOT_SET, AVGPOOL_EXCLUDE_PADDING, AVGPOOL_INCLUDE_PADDING, BILINEAR, NEAREST, MAXPOOL };

enum class PaddingMode_t { NOT_SET, EDGE_VAL_PAD, NEG_INF_PAD, ZERO_PAD };

enum class MoeGroupedMatmulMode_t { NOT_SET, NONE, GATHER, SCATTER };

}  // namespace cudnn_frontend
