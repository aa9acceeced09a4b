// Who does the work on rows: a host, or a GPU.
#pragma once

#include "core/result.h"
#include "rows/copies.h"
#include "rows/gradients.h"
#include "rows/log_sums.h"
#include "rows/probabilities.h"
#include "rows/tables.h"

#include <variant>

namespace cudnn_frontend::rows {

using Work = std::variant<Tables, Copy, Forward_end, Backward_start, Unseen, Softmax_d, Probabilities, Fill>;

// Immutable. Tensors are where the worker can read them.
class Worker {
   public:
    virtual ~Worker() = default;

    // Does the work, or enqueues it.
    virtual error_t run(Work const& work) const = 0;
};

}  // namespace cudnn_frontend::rows
