// Work on rows in host memory.
#pragma once

#include "rows/worker.h"

#include <cudnn_frontend/types.h>

namespace cudnn_frontend::rows {

class HostWorker final : public Worker {
   public:
    HostWorker(DataType_t type, int threads) : type_(type), threads_(threads) {}  // of HALF or BFLOAT16 elements

    error_t run(Work const& work) const override;

   private:
    DataType_t type_;
    int threads_;
};

}  // namespace cudnn_frontend::rows
