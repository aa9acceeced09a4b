#include "host_kernels.h"

#include "unit/kernels/host/cuda_words.h"

// No function is called of those that the options define here: tests need all types.
#define X float
#define Y float
#define INDEX unsigned
#include "kernels/device/joints/merge.cu"
#include "kernels/device/joints/split_lengths.cu"
#include "kernels/device/joints/sum.cu"
#undef X
#undef Y
#undef INDEX

#include <stdexcept>

namespace sdpa_test {
namespace {

using cudnn_frontend::DataType_t;
using cudnn_frontend::kernels::LaunchForm;
using cudnn_frontend::kernels::Share;
using Thread = void (*)(KernelArguments const&);

struct Choice {
    std::string const& kernel;
    Share share;
    bool is_wide;
};

template <class From, class To, int COUNT, int RUNS, class Index>
Thread thread_of(Choice const& choice) {
    if (choice.kernel == "merge") return merge<From, To, COUNT, RUNS, Index>;
    if (choice.kernel == "sum") return sum<From, To, COUNT, RUNS, Index>;
    throw std::logic_error("no kernel of joints has the name '" + choice.kernel +
                           "'; expected merge, split_lengths or sum");
}

template <class From, class To, class Index>
Thread thread_of(Choice const& choice) {
    constexpr int kCount = kVectorBytes / sizeof(From);
    switch (choice.share) {
        case Share::Element: return thread_of<From, To, 1, 1, Index>(choice);
        case Share::Vector: return thread_of<From, To, kCount, 1, Index>(choice);
        default: return thread_of<From, To, 2 * kCount, 2, Index>(choice);
    }
}

template <class From, class To>
Thread thread_of(Choice const& choice) {
    return choice.is_wide ? thread_of<From, To, unsigned long long>(choice) : thread_of<From, To, unsigned>(choice);
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
    if (choice.kernel == "split_lengths") {
        return choice.is_wide ? split_lengths<unsigned long long> : split_lengths<unsigned>;
    }
    switch (from) {
        case DataType_t::BFLOAT16: return thread_of<bfloat16>(choice, to);
        case DataType_t::HALF: return thread_of<half>(choice, to);
        case DataType_t::FLOAT: return thread_of<float>(choice, to);
        default: throw std::logic_error("no kernel reads that type");
    }
}

}  // namespace

void run_on_host(std::string const& kernel, DataType_t from, DataType_t to, bool is_wide, LaunchForm const& form) {
    Thread const thread = thread_of({kernel, form.share, is_wide}, from, to);
    blockDim.x = form.threads;
    for (blockIdx.x = 0; blockIdx.x < form.blocks; ++blockIdx.x) {
        for (threadIdx.x = 0; threadIdx.x < form.threads; ++threadIdx.x) thread(form.arguments);
    }
}

}  // namespace sdpa_test
