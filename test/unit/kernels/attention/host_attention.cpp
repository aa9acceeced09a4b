#include "host_attention.h"

#include "unit/kernels/host/cuda_words.h"
#include "unit/kernels/host/host_async.h"
#include "unit/kernels/host/host_boxes.h"
#include "unit/kernels/host/host_threads.h"

#include <attention/attention_arguments.h>
#include <hopper/bulk_copies.cuh>

#include <cstring>
#include <stdexcept>

namespace {

constexpr std::size_t kSharedBytes = std::size_t{227} << 10;

}  // namespace

#define CLASS columns_64
#define COLUMNS_OF_KEYS 64
#define COLUMNS_OF_VALUES 64
#define attention_forward attention_forward_64
#include "attention_class.inc"
#define CLASS columns_128
#define COLUMNS_OF_KEYS 128
#define COLUMNS_OF_VALUES 128
#define attention_forward attention_forward_128
#include "attention_class.inc"
#define CLASS columns_192_128
#define COLUMNS_OF_KEYS 192
#define COLUMNS_OF_VALUES 128
#define attention_forward attention_forward_192_128
#include "attention_class.inc"
#define CLASS columns_256
#define COLUMNS_OF_KEYS 256
#define COLUMNS_OF_VALUES 256
#define attention_forward attention_forward_256
#include "attention_class.inc"

namespace sdpa_test {
namespace {

namespace kernels = cudnn_frontend::kernels;
using kernels::AttentionArguments;
using kernels::AttentionKernelProblem;

// A kernel's code, and the shared memory that it finds by its name.
struct HostCode {
    void (*thread)(AttentionArguments const&);
    unsigned char* shared_memory;
};

template <class Element>
HostCode code_of(int columns) {
    switch (columns) {
        case 64: return {columns_64::run<Element>, columns_64::shared_memory};
        case 128: return {columns_128::run<Element>, columns_128::shared_memory};
        case 192: return {columns_192_128::run<Element>, columns_192_128::shared_memory};
        case 256: return {columns_256::run<Element>, columns_256::shared_memory};
        default: throw std::logic_error("no such class of columns");
    }
}

kernels::TensorMap map_of(cudnn_frontend::cuda::BoxedTensor const& tensor, void* start) {
    HostTensorMap map{static_cast<unsigned char*>(start), {}, {}, static_cast<int>(tensor.box_rows)};
    for (std::size_t i = 0; i < map.dims.size(); ++i) map.dims[i] = static_cast<std::int64_t>(tensor.dims[i]);
    for (std::size_t i = 0; i < map.strides.size(); ++i) map.strides[i] = static_cast<std::int64_t>(tensor.strides[i]);
    kernels::TensorMap bytes{};
    std::memcpy(bytes.bytes, &map, sizeof(map));
    return bytes;
}

}  // namespace

void run_on_host(AttentionKernelProblem const& problem, int multiprocessors, kernels::Pointers pointers) {
    bool const is_half = problem.queries.type == cudnn_frontend::DataType_t::HALF;
    int const columns = kernels::class_of(problem)->columns;
    HostCode const code = is_half ? code_of<half>(columns) : code_of<bfloat16>(columns);
    kernels::AttentionLaunch launch = kernels::attention_launch(problem, multiprocessors);
    if (launch.shared_bytes > kSharedBytes) throw std::logic_error("too much shared memory");
    launch.arguments.queries = map_of(launch.queries, pointers[0]);
    launch.arguments.keys = map_of(launch.keys, pointers[1]);
    launch.arguments.values = map_of(launch.values, pointers[2]);
    launch.arguments.output = map_of(launch.output, pointers[3]);
    kernels::bind(problem, launch.arguments, pointers);
    blockDim.x = launch.threads;
    gridDim.x = launch.blocks;
    for (blockIdx.x = 0; blockIdx.x < launch.blocks; ++blockIdx.x) {
        std::memset(code.shared_memory, 0xff, kSharedBytes);  // NaN: what no copy wrote must not count
        begin_async_block(launch.threads, blockIdx.x, code.shared_memory, launch.shared_bytes);
        begin_box_block(launch.threads);
        run_block(launch.threads, blockIdx.x, [&] { code.thread(launch.arguments); });
        finish_box_block();
    }
}

}  // namespace sdpa_test
