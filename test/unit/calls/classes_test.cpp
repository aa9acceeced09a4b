// How sizes of classes of shapes are rounded.
#include "calls/classes.h"
#include "support/catch.h"

#include <utility>

using namespace sdpa_graph::calls;

TEST_CASE("numbers of slots are powers of two, at least one") {
    for (auto const& [count, wanted] : {std::pair{0, 1}, {1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {1000, 1024}})
        CHECK(slots_of_class(count) == wanted);
    CHECK(slots_of_class((std::int64_t{1} << 31) - 1) == std::int64_t{1} << 31);
}

TEST_CASE("bounds of lengths are powers of two, at least 64") {
    for (auto const& [length, wanted] : {std::pair{0, 64}, {1, 64}, {64, 64}, {65, 128}, {1024, 1024}, {1025, 2048}})
        CHECK(bound_of_class(length) == wanted);
    CHECK(bound_of_class((std::int64_t{1} << 31) - 1) == std::int64_t{1} << 31);
}
