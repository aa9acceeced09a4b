#include "attention/masks.h"

#include "support/catch.h"

using namespace cudnn_frontend;

TEST_CASE("ALiBi slopes halve over a power of two of heads, the others lie between") {
    CHECK(attention::alibi_slope(0, 8) == 0.5);
    CHECK(attention::alibi_slope(7, 8) == 0x1p-8);
    CHECK(attention::alibi_slope(0, 1) == 0x1p-8);
    CHECK(attention::alibi_slope(3, 6) == 0x1p-8);
    CHECK(attention::alibi_slope(4, 6) == 0.5);
    CHECK(attention::alibi_slope(5, 6) == 0x1p-3);
}
