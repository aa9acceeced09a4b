#include "attention/neighborhood_operands.h"

#include "support/catch.h"

using namespace cudnn_frontend::neighborhood;

TEST_CASE("lists that are left out mean a dilation of 1 and no causal axis") {
    auto const plain = axes_of({{3, 5}, {}, {}}, {6, 9}), told = axes_of({{3, 5}, {2, 1}, {false, true}}, {6, 9});
    REQUIRE(plain.size() == 2);
    CHECK((plain[1].length == 9 && plain[1].kernel == 5 && plain[1].dilation == 1 && !plain[1].is_causal));
    CHECK((told[0].dilation == 2 && !told[0].is_causal && told[1].dilation == 1 && told[1].is_causal));
    CHECK(window_size({{3, 5}, {}, {}}) == 15);
}

TEST_CASE("windows fit a space that has their axes and is as long as they are") {
    CHECK(fits({{3, 5}, {2, 1}, {}}, {6, 5}));
    CHECK_FALSE(fits({{3, 5}, {2, 1}, {}}, {5, 5}));
    CHECK_FALSE(fits({{3, 5}, {}, {}}, {6}));
    CHECK_FALSE(fits({{3}, {1, 1}, {}}, {6}));
    CHECK_FALSE(fits({{3}, {}, {true, true}}, {6}));
    CHECK_FALSE(fits({{0}, {}, {}}, {6}));
    CHECK_FALSE(fits({{3}, {0}, {}}, {6}));
    CHECK_FALSE(fits({{3}, {INT64_MAX}, {}}, {6}));
}
