// Work on rows (src/rows), a thread for each of its steps. Options define X, the type of the elements.
#include <conversions.cuh>
#include "rows/documents.h"
#include "rows/dropout_mask.h"
#include "rows/padding.h"
#include "rows/probabilities.h"
#include "rows/row_passes.h"

namespace rows = cudnn_frontend::rows;

inline long long this_thread() { return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; }

template <class Work>
inline void run(Work const& work) {
    if (this_thread() < work.threads()) work_on(work, this_thread());
}
template <class Element, class Work>
inline void run(Work const& work) {
    if (this_thread() < work.threads()) rows::work_on<Element>(work, this_thread());
}

extern "C" __global__ void rows_forward_start(__grid_constant__ rows::Forward_start const work) { run(work); }
extern "C" __global__ void rows_forward_end(__grid_constant__ rows::Forward_end const work) { run(work); }
extern "C" __global__ void rows_backward_start(__grid_constant__ rows::Backward_start const work) { run(work); }
extern "C" __global__ void rows_backward_end(__grid_constant__ rows::Backward_end const work) { run(work); }
extern "C" __global__ void rows_softmax_d(__grid_constant__ rows::Softmax_d const work) { run<X>(work); }
extern "C" __global__ void rows_probabilities(__grid_constant__ rows::Probabilities const work) { run<X>(work); }
extern "C" __global__ void rows_fill(__grid_constant__ rows::Fill const work) { run(work); }
extern "C" __global__ void rows_padding(__grid_constant__ rows::Padding const work) { run(work); }
extern "C" __global__ void rows_documents(__grid_constant__ rows::Documents const work) { run(work); }
extern "C" __global__ void rows_dropout_mask(__grid_constant__ rows::Dropout_mask const work) { run(work); }
