#include "host_kernels.h"

#include "host/cuda_words.h"

// Of the functions that the options define here none is called: all types are wanted, not these.
#define X float
#define Y float
#define INDEX unsigned
#include "kernels/device/merge.cu"
#include "kernels/device/sum.cu"
#undef X
#undef Y
#undef INDEX

#include <stdexcept>

namespace sdpa_test {
namespace {

using cudnn_frontend::DataType_t;
using cudnn_frontend::kernels::LaunchForm;
using Thread = void (*)(KernelArguments const&);

struct Choice {
    std::string const& kernel;
    bool by_vectors, is_wide;
};

template <class From, class To, int COUNT, class Index>
Thread thread_of(Choice const& choice) {
    return choice.kernel == "merge" ? merge<From, To, COUNT, Index> : sum<From, To, COUNT, Index>;
}

template <class From, class To>
Thread thread_of(Choice const& choice) {
    constexpr int kCount = 16 / sizeof(From);
    if (choice.is_wide) {
        return choice.by_vectors ? thread_of<From, To, kCount, unsigned long long>(choice)
                                 : thread_of<From, To, 1, unsigned long long>(choice);
    }
    return choice.by_vectors ? thread_of<From, To, kCount, unsigned>(choice) : thread_of<From, To, 1, unsigned>(choice);
}

template <class From>
Thread thread_of(Choice const& choice, DataType_t to) {
    switch (to) {
        case DataType_t::BFLOAT16: return thread_of<From, bfloat16>(choice);
        case DataType_t::HALF: return thread_of<From, half>(choice);
        case DataType_t::FLOAT: return thread_of<From, float>(choice);
        default: throw std::logic_error("no kernel writes that type");
    }
}

Thread thread_of(Choice const& choice, DataType_t from, DataType_t to) {
    switch (from) {
        case DataType_t::BFLOAT16: return thread_of<bfloat16>(choice, to);
        case DataType_t::HALF: return thread_of<half>(choice, to);
        case DataType_t::FLOAT: return thread_of<float>(choice, to);
        default: throw std::logic_error("no kernel reads that type");
    }
}

}  // namespace

void run_on_host(std::string const& kernel, DataType_t from, DataType_t to, bool by_vectors, bool is_wide,
                 LaunchForm const& form) {
    Thread const thread = thread_of({kernel, by_vectors, is_wide}, from, to);
    blockDim.x = form.threads;
    for (blockIdx.x = 0; blockIdx.x < form.blocks; ++blockIdx.x) {
        for (threadIdx.x = 0; threadIdx.x < form.threads; ++threadIdx.x) thread(form.arguments);
    }
}

}  // namespace sdpa_test
