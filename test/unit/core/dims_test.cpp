#include "core/dims.h"

#include "support/catch.h"
#include "support/random.h"

#include <limits>
#include <set>

using namespace cudnn_frontend;
using core::Dims;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// Tries every index.
bool overlaps_by_enumeration(Dims const& dim, Dims const& stride) {
    std::set<std::int64_t> seen;
    for (std::int64_t a = 0; a < dim[0]; ++a) {
        for (std::int64_t b = 0; b < dim[1]; ++b) {
            for (std::int64_t c = 0; c < dim[2]; ++c) {
                if (!seen.insert(a * stride[0] + b * stride[1] + c * stride[2]).second) return true;
            }
        }
    }
    return false;
}

}  // namespace

TEST_CASE("volume multiplies, and notices overflow") {
    CHECK(core::volume({2, 3, 5}) == 30);
    CHECK(core::volume({}) == 1);
    CHECK(core::volume({kHuge, 1}) == kHuge);
    CHECK_FALSE(core::volume({kHuge, 2}));
    CHECK_FALSE(core::volume({std::int64_t{1} << 32, std::int64_t{1} << 31}));
}

TEST_CASE("a permutation has each index once, and orders a list") {
    CHECK(core::is_permutation({2, 0, 1}, 3));
    CHECK(core::is_permutation({}, 0));
    for (Dims const& other : {Dims{0, 1}, Dims{0, 1, 1}, Dims{1, 2, 3}, Dims{-1, 0, 1}}) {
        CHECK_FALSE(core::is_permutation(other, 3));
    }
    CHECK(core::permuted({10, 20, 30}, {2, 0, 1}) == Dims{30, 10, 20});
}

TEST_CASE("span_of counts to the last element reached, and notices overflow") {
    CHECK(core::span_of({2, 3}, {3, 1}) == 6);
    CHECK(core::span_of({2, 3}, {100, 1}) == 103);
    CHECK(core::span_of({5, 3}, {0, 1}) == 3);
    CHECK_FALSE(core::span_of({3, 3}, {kHuge / 2, kHuge / 2}));
    CHECK_FALSE(core::span_of({2}, {kHuge}));
}

TEST_CASE("packed_strides are row-major, and do not overflow for absurd sizes") {
    CHECK(core::packed_strides({2, 3, 4}) == Dims{12, 4, 1});
    CHECK(core::packed_strides({2, kHuge, kHuge}) == Dims{0, kHuge, 1});
}

TEST_CASE("overlaps_itself never misses an overlap, and is exact for nested strides") {
    sdpa_test::Random random(20);
    int overlapping = 0, separate = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        Dims const dim{random.between(1, 4), random.between(1, 4), random.between(1, 4)};
        Dims const stride{random.between(0, 20), random.between(0, 20), random.between(0, 20)};
        bool const truth = overlaps_by_enumeration(dim, stride);
        CAPTURE(core::to_string(dim), core::to_string(stride));
        if (truth) REQUIRE(core::overlaps_itself(dim, stride));
        (truth ? overlapping : separate) += 1;
    }
    CHECK(overlapping > 500);
    CHECK(separate > 100);
    CHECK_FALSE(core::overlaps_itself({2, 8, 5, 4}, {160, 4, 32, 1}));
    CHECK_FALSE(core::overlaps_itself({2, 1, 4}, {4, 0, 1}));
    CHECK(core::overlaps_itself({2, 3}, {0, 1}));
}

TEST_CASE("dims print as a list") {
    CHECK(core::to_string(Dims{1, -2, 3}) == "[1, -2, 3]");
    CHECK(core::to_string(Dims{}) == "[]");
}

TEST_CASE("dims broadcast where each is 1 or the same, aligned at the last one") {
    CHECK(core::broadcasts_to(Dims{2, 1, 4}, Dims{2, 3, 4}));
    CHECK(core::broadcasts_to(Dims{4}, Dims{2, 3, 4}));
    CHECK(core::broadcasts_to(Dims{1, 1, 4}, Dims{4}));
    CHECK_FALSE(core::broadcasts_to(Dims{2, 1, 4}, Dims{1, 4}));
    CHECK_FALSE(core::broadcasts_to(Dims{3}, Dims{2, 3, 4}));
}
