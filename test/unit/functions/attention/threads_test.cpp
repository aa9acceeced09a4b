// Calls of many threads share plans, of which none is built twice.
#include "support/catch.h"
#include "unit/functions/attention/viewed_tensor.h"

#include <sdpa_graph/attention.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

namespace attention = sdpa_graph::attention;
using sdpa_test::HalfTensor;

// With values that are all one number, so is the output. Empty if it is.
std::string fault_of_call(std::int64_t batch, std::int64_t tokens) {
    double const value = static_cast<double>(tokens % 7 + 1);
    sdpa_test::Dims const dim = {batch, 2, tokens, 16};
    HalfTensor q(dim), k(dim), v(dim, [&] { return value; }), o(dim);
    sdpa_graph::Place place;
    place.target = cudnn_frontend::Target::cpu(1);
    place.shape_policy = sdpa_graph::Shape_policy::CLASSES;
    attention::Options options;
    options.right_bound = 0;
    attention::Forward_results results{o.view, {}};
    attention::Inputs const inputs{q.view, k.view, v.view, {}, {}, {}, {}, {}, {}, {}, {}};
    if (auto const error = attention::forward(inputs, options, false, place, results); error.is_bad())
        return error.get_message();
    return o.farthest_from(value) > 0.01f ? "another number" : "";
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
