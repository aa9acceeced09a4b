// Calls of many threads share plans, of which none is built twice.
#include "core/floats.h"
#include "support/catch.h"

#include <sdpa_graph/attention.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

namespace attention = sdpa_graph::attention;
using cudnn_frontend::DataType_t;
using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

using Dims = std::vector<std::int64_t>;

struct Tensor {
    std::vector<std::uint16_t> bits;
    Tensor_view view;

    explicit Tensor(Dims const& dim) : bits(static_cast<std::size_t>(dim[0] * dim[1] * dim[2] * dim[3]), 0) {
        view.data = bits.data();
        view.dim = dim;
        view.stride = sdpa_graph::row_major(dim);
        view.type = DataType_t::HALF;
        view.device = Device_kind::CPU;
    }
};

// With values that are all one number, so is the output. Empty if it is.
std::string fault_of_call(std::int64_t batch, std::int64_t tokens) {
    Tensor q({batch, 2, tokens, 16}), k(q.view.dim), v(q.view.dim), o(q.view.dim);
    float const value = static_cast<float>(tokens % 7 + 1);
    std::ranges::fill(v.bits, cudnn_frontend::core::float_to_half(value));
    sdpa_graph::Place place;
    place.target = cudnn_frontend::Target::cpu(1);
    place.shape_policy = sdpa_graph::Shape_policy::CLASSES;
    attention::Options options;
    options.right_bound = 0;
    attention::Forward_results results{o.view, {}};
    attention::Inputs const inputs{q.view, k.view, v.view, {}, {}, {}, {}, {}, {}, {}, {}};
    if (auto const error = attention::forward(inputs, options, false, place, results); error.is_bad())
        return error.get_message();
    for (std::uint16_t const bits : o.bits) {
        if (std::abs(cudnn_frontend::core::half_to_float(bits) - value) > 0.01f) return "another number";
    }
    return "";
}

}  // namespace

TEST_CASE("attention: no plan of a class is built twice, by however many threads") {
    constexpr int kThreads = 8, kCalls = 60;
    constexpr std::int64_t kClasses = 3;  // up to 64, 128 and 256 tokens; slots of up to 8 sequences times heads
    std::int64_t const before = sdpa_graph::plan_counts().built;
    std::atomic<int> faults{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            for (int call = 0; call < kCalls; ++call) {
                std::int64_t const tokens = 33 + (call * 37 + thread * 11) % 220;
                faults += fault_of_call(3 + call % 2, tokens).empty() ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(faults == 0);
    CHECK(sdpa_graph::plan_counts().built - before == kClasses);
}
