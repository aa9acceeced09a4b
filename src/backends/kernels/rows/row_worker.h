// Work on rows by a GPU.
#pragma once

#include "kernels/launch/code.h"
#include "rows/worker.h"

namespace cudnn_frontend::kernels {

// Enqueues kernels on a stream. They are compiled once in a process, for each type and kind of GPU.
class RowWorker final : public rows::Worker {
   public:
    // A worker for HALF or BFLOAT16 elements, and the GPU of an ordinal.
    static Result<RowWorker> make(DataType_t type, int ordinal, CUstream stream);

    error_t run(rows::Work const& work) const override;

   private:
    RowWorker(std::shared_ptr<Code const> code, CUstream stream) : code_(std::move(code)), stream_(stream) {}

    std::shared_ptr<Code const> code_;
    CUstream stream_;
};

inline constexpr unsigned kThreadsOfRows = 128;  // of a block
// The blocks for so many threads.
Result<unsigned> blocks_of_rows(long long threads);

// The code of all kernels of such elements.
CodeName name_of_rows(DataType_t type, int compute_capability);

}  // namespace cudnn_frontend::kernels
