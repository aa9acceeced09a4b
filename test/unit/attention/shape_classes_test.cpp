// How sizes of classes of shapes are rounded.
#include "attention/shape_classes.h"
#include "support/catch.h"

#include <utility>

using namespace cudnn_frontend::attention;

TEST_CASE("numbers of slots are powers of two") {
    for (auto const& [count, wanted] : {std::pair{0, 1}, {1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {1000, 1024}}) {
        CHECK(power_of_two_from(count) == wanted);
        CHECK(slots_of_class(count, 8192) == wanted);
        CHECK(slots_of_class(count, 32) == wanted);
    }
    CHECK(slots_of_class((std::int64_t{1} << 31) - 1, 64) == std::int64_t{1} << 31);
}

TEST_CASE("few sequences share a number of slots if they are short, and have more than few queries") {
    for (std::int64_t const count : {0, 1, 2, 3, 4}) {
        CHECK(slots_of_class(count, 64) == 4);
        CHECK(slots_of_class(count, 2048) == 4);
    }
    CHECK(slots_of_class(1, 4096) == 2);
    CHECK(slots_of_class(1, 1) == 1);
    CHECK(slots_of_class(5, 64) == 8);
}

TEST_CASE("bounds of lengths are powers of two, at least 64") {
    for (auto const& [length, wanted] : {std::pair{0, 64}, {1, 64}, {64, 64}, {65, 128}, {1024, 1024}, {1025, 2048}})
        CHECK(bound_of_class(length) == wanted);
    CHECK(bound_of_class((std::int64_t{1} << 31) - 1) == std::int64_t{1} << 31);
}
