#include "rows/host_worker.h"

#include "core/floats.h"
#include "core/threads.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::rows {
namespace {

// Names that differ in CUDA C++.
struct Half {
    std::uint16_t bits;
};
struct Bfloat16 {
    std::uint16_t bits;
};
[[maybe_unused]] float to_float(Half x) { return core::half_to_float(x.bits); }
[[maybe_unused]] float to_float(Bfloat16 x) { return core::bfloat16_to_float(x.bits); }
[[maybe_unused]] void assign(Half& to, float x) { to.bits = core::float_to_half(x); }
[[maybe_unused]] void assign(Bfloat16& to, float x) { to.bits = core::float_to_bfloat16(x); }

// Some kinds of work do the same for all types of elements.
template <class Element, class Part>
void work(Part const& part, long long thread) {
    if constexpr (requires { work_on<Element>(part, thread); }) work_on<Element>(part, thread);
    else work_on(part, thread);
}

template <class Element>
void run_all(Work const& all, int threads) {
    constexpr long long kTogether = 4096;
    std::visit(
        [&](auto const& part) {
            long long const count = part.threads();
            core::parallel_for(threads, (count + kTogether - 1) / kTogether, [&](int, std::int64_t block) {
                long long const end = std::min<long long>(count, (block + 1) * kTogether);
                for (long long i = block * kTogether; i < end; ++i) work<Element>(part, i);
            });
        },
        all);
}

}  // namespace

error_t HostWorker::run(Work const& work) const {
    if (type_ == DataType_t::BFLOAT16) run_all<Bfloat16>(work, threads_);
    else run_all<Half>(work, threads_);
    return {};
}

}  // namespace cudnn_frontend::rows
