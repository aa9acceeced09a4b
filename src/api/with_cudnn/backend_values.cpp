#include <cudnn_frontend/backend_helpers.h>

#include "cudnn/library/backend_enums.h"

namespace cudnn_frontend::detail {

template <class Enum>
static int value_of(Enum value) {
    auto const known = cudnn::to_backend(value);
    return known ? static_cast<int>(*known) : -1;
}

int backend_value(DataType_t value) { return value_of(value); }
int backend_value(PointwiseMode_t value) { return value_of(value); }
int backend_value(ReductionMode_t value) { return value_of(value); }
int backend_value(HeurMode_t value) { return value_of(value); }
int backend_value(KnobType_t value) { return value_of(value); }
int backend_value(BehaviorNote_t value) { return value_of(value); }
int backend_value(NumericalNote_t value) { return value_of(value); }

}  // namespace cudnn_frontend::detail
