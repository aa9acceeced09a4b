#include <cudnn_frontend/backend_helpers.h>

namespace cudnn_frontend::detail {

int backend_value(DataType_t) { return -1; }
int backend_value(PointwiseMode_t) { return -1; }
int backend_value(ReductionMode_t) { return -1; }
int backend_value(HeurMode_t) { return -1; }
int backend_value(KnobType_t) { return -1; }
int backend_value(BehaviorNote_t) { return -1; }
int backend_value(NumericalNote_t) { return -1; }

}  // namespace cudnn_frontend::detail
