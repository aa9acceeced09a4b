// The worker on rows: a host, or a GPU.
#pragma once

#include "core/result.h"
#include "rows/documents.h"
#include "rows/dropout_mask.h"
#include "rows/padding.h"
#include "rows/probabilities.h"
#include "rows/row_passes.h"

#include <variant>

namespace cudnn_frontend::rows {

using Work = std::variant<Forward_start, Forward_end, Backward_start, Backward_end, Softmax_d, Probabilities, Fill,
                          Padding, Documents, Dropout_mask>;

// Immutable. Tensors are where the worker can read them.
class Worker {
   public:
    virtual ~Worker() = default;

    // Does the work, or enqueues it.
    virtual error_t run(Work const& work) const = 0;
};

}  // namespace cudnn_frontend::rows
