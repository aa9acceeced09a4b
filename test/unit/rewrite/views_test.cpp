// Views of views: where their elements are.
#include "rewrite/view_moves.h"
#include "support/catch.h"

using namespace cudnn_frontend;
using namespace cudnn_frontend::rewrite;
using core::Dims;

namespace {

// Row-major HALF.
View tensor(Dims dim) {
    Dims stride = core::packed_strides(dim);
    return {{}, DataType_t::HALF, std::move(dim), std::move(stride), 16};
}

}  // namespace

TEST_CASE("a part starts so many bytes on, and is aligned to what divides them") {
    View const part = part_of(tensor({2, 6, 8}), 1, 2, 3);
    CHECK(part.place.offset == 2 * 8 * 2);
    CHECK(part.dim == Dims{2, 3, 8});
    CHECK(part.stride == Dims{48, 8, 1});
    CHECK(part.alignment == 16);
    CHECK(part_of(tensor({2, 6, 4}), 1, 1, 1).alignment == 8);
    CHECK(part_of(tensor({2, 6, 4}), 1, 2, 1).alignment == 16);
    CHECK(part_of(tensor({2, 6, 7}), 1, 1, 5).alignment == 2);
    View const part_of_part = part_of(part_of(tensor({2, 6, 7}), 1, 1, 5), 0, 1, 1);
    CHECK(part_of_part.place.offset == (7 + 42) * 2);
    CHECK(part_of_part.alignment == 2);
}

TEST_CASE("a dim splits in two, and the two join again") {
    View const whole = tensor({3, 12, 5});
    View const halves = split(whole, 1, 4);
    CHECK(halves.dim == Dims{3, 3, 4, 5});
    CHECK(halves.stride == Dims{60, 20, 5, 1});
    auto const joined = join(halves, 1);
    REQUIRE(joined);
    CHECK(*joined == whole);
}

TEST_CASE("dims without a common stride do not join") {
    View gaps = tensor({3, 4, 5});
    gaps.stride = {24, 5, 1};
    CHECK_FALSE(join(gaps, 0));
    CHECK(join(gaps, 1));
    CHECK_FALSE(join(permute(tensor({3, 4, 5}), {1, 0, 2}), 0));
    CHECK_FALSE(join(repeat(tensor({4, 5}), 0, 3), 0));
}

TEST_CASE("a dim of size 1 joins whatever its stride is") {
    View view = tensor({1, 4, 5});
    view.stride = {7, 5, 1};
    CHECK(join(view, 0)->stride == Dims{5, 1});
    view.dim = {4, 1, 5}, view.stride = {9, 3, 1};
    CHECK(join(view, 0)->dim == Dims{4, 5});
    CHECK(join(view, 0)->stride == Dims{9, 1});
}

TEST_CASE("a repeated dim has stride 0, and joins another repeated one") {
    View const repeated = repeat(repeat(tensor({5}), 0, 3), 0, 2);
    CHECK(repeated.dim == Dims{2, 3, 5});
    CHECK(repeated.stride == Dims{0, 0, 1});
    CHECK(join(repeated, 0)->dim == Dims{6, 5});
}

TEST_CASE("a permutation moves dims and strides alike, and nothing in memory") {
    View const turned = permute(tensor({2, 3, 5}), {2, 0, 1});
    CHECK(turned.dim == Dims{5, 2, 3});
    CHECK(turned.stride == Dims{1, 15, 5});
    CHECK(turned.place == Place());
    CHECK(permute(turned, {1, 2, 0}) == tensor({2, 3, 5}));
}
