// Which plan runs after its times were measured.
#include "plan/measured_times.h"

#include "support/catch.h"

using cudnn_frontend::plan::MeasuredTimes;
using cudnn_frontend::plan::plan_to_prefer;

TEST_CASE("a plan replaces the usual one only if it is faster by more than times differ from round to round") {
    MeasuredTimes const usual{{10.0, 12.0, 11.0}};
    CHECK(usual.median() == 11.0);
    CHECK(usual.least() == 10.0);
    CHECK(plan_to_prefer({usual}, 0) == 0);
    CHECK(plan_to_prefer({usual, {{9.0, 9.5, 30.0}}}, 0) == 1);  // two of three rounds are faster than all of the usual
    CHECK(plan_to_prefer({usual, {{9.0, 10.5, 10.5}}}, 0) == 0);  // its median is less, and so is its least
    CHECK(plan_to_prefer({usual, {{20.0, 20.0, 20.0}}}, 0) == 0);
    CHECK(plan_to_prefer({{{9.0, 10.5, 10.5}}, usual}, 1) == 1);  // the usual one need not be the first
    CHECK(plan_to_prefer({{{9.0, 9.0, 9.0}}, usual, {{8.0, 8.0, 8.0}}}, 1) == 2);
}
