// Which plan runs after its times were measured.
#include "plan/measured_times.h"

#include "support/catch.h"

using cudnn_frontend::plan::MeasuredTimes;
using cudnn_frontend::plan::plan_to_prefer;

namespace {

MeasuredTimes const kUsual = MeasuredTimes::of({10.0, 12.0, 11.0});

// The index that is preferred to the usual plan, which comes first, or to itself.
std::size_t preferred(std::vector<double> const& other) {
    return plan_to_prefer({kUsual, MeasuredTimes::of(other)}, 0);
}

}  // namespace

TEST_CASE("times are kept by their median, the least and the greatest") {
    CHECK(kUsual == MeasuredTimes{11.0, 10.0, 12.0, 3});
    CHECK(MeasuredTimes::of({5.0}) == MeasuredTimes{5.0, 5.0, 5.0, 1});
}

TEST_CASE("a plan replaces the usual one only if it is faster by more than times differ from run to run") {
    CHECK(plan_to_prefer({kUsual}, 0) == 0);
    CHECK(preferred({9.0, 9.5, 30.0}) == 1);   // two of three runs are faster than all of the usual
    CHECK(preferred({9.0, 10.5, 10.5}) == 0);  // its median is less, and so is its least
    CHECK(preferred({20.0, 20.0, 20.0}) == 0);
    auto const close = MeasuredTimes::of({9.0, 10.5, 10.5});
    CHECK(plan_to_prefer({close, kUsual}, 1) == 1);  // the usual one need not be the first
    CHECK(plan_to_prefer({MeasuredTimes::of({9.0}), kUsual, MeasuredTimes::of({8.0})}, 1) == 2);
}
