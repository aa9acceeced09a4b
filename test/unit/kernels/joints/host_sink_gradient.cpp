#include "host_sink_gradient.h"

#include "unit/kernels/host/cuda_words.h"
#include "unit/kernels/host/host_threads.h"

// No function is called of those that the options define here: tests need all types.
#define X float
#define Y float
#include "kernels/device/joints/sink_gradient.cu"
#undef X
#undef Y

#include <stdexcept>

extern unsigned char shared_memory[];

namespace sdpa_test {
namespace {

using cudnn_frontend::DataType_t;
using Thread = void (*)(SinkGradientArguments const&);

template <class OfO>
Thread thread_of(DataType_t of_gradient) {
    switch (of_gradient) {
        case DataType_t::BFLOAT16: return sink_gradient<OfO, bfloat16>;
        case DataType_t::HALF: return sink_gradient<OfO, half>;
        case DataType_t::FLOAT: return sink_gradient<OfO, float>;
        default: throw std::logic_error("no kernel reads that type");
    }
}

Thread thread_of(DataType_t of_o, DataType_t of_gradient) {
    switch (of_o) {
        case DataType_t::BFLOAT16: return thread_of<bfloat16>(of_gradient);
        case DataType_t::HALF: return thread_of<half>(of_gradient);
        case DataType_t::FLOAT: return thread_of<float>(of_gradient);
        default: throw std::logic_error("no kernel reads that type");
    }
}

}  // namespace

void run_on_host(cudnn_frontend::kernels::SinkGradientProblem const& problem,
                 cudnn_frontend::kernels::Pointers pointers, unsigned seed) {
    Thread const thread = thread_of(problem.o.operand.type, problem.d_o.operand.type);
    SinkGradientArguments arguments = cudnn_frontend::kernels::arguments_of(problem);
    cudnn_frontend::kernels::bind(arguments, problem, pointers);
    blockDim.x = 32 * kSinkWarps;
    for (blockIdx.x = 0; blockIdx.x < problem.o.operand.dims[1]; ++blockIdx.x) {
        std::memset(shared_memory, 0xff, kSinkWarps * sizeof(double));  // NaN: what no warp wrote must not count
        run_block(blockDim.x, seed + blockIdx.x, [&] { thread(arguments); });
    }
}

}  // namespace sdpa_test
