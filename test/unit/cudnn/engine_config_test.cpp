#include "cudnn/library/engine_config.h"

#include "support/catch.h"

using cudnn_frontend::cudnn::KnobChoice;
using cudnn_frontend::cudnn::may_split_keys;
using Knobs = std::vector<KnobChoice>;

namespace {

constexpr std::size_t kNumbered[] = {91200, 91400, 91900, 92200, 92299};
constexpr std::size_t kWithStreamK[] = {92300, 92501, 92800};

Knobs numbered(std::int64_t kernel) { return {{CUDNN_KNOB_TYPE_KERNEL_CFG, kernel}}; }

Knobs with_stream_k(std::int64_t stream_k) {
    return {{CUDNN_KNOB_TYPE_TILE_M, 2},
            {CUDNN_KNOB_TYPE_TILE_N, 1},
            {CUDNN_KNOB_TYPE_KERNEL_CFG, 1},
            {CUDNN_KNOB_TYPE_STREAM_K, stream_k},
            {CUDNN_KNOB_TYPE_TILE_CGA_M, 0}};
}

}  // namespace

TEST_CASE("up to cuDNN 9.22 the number of a kernel says whether it splits the keys of one query", "[cudnn]") {
    for (std::size_t const version : kNumbered) {
        CAPTURE(version);
        for (std::int64_t const kernel : {0, 2, 3, 5, 6, 7, 31}) CHECK_FALSE(may_split_keys(numbered(kernel), version));
        for (std::int64_t const kernel : {32, 35, 36}) CHECK(may_split_keys(numbered(kernel), version));
    }
}

TEST_CASE("from cuDNN 9.23 on STREAM_K says whether a kernel splits the keys of one query", "[cudnn]") {
    for (std::size_t const version : kWithStreamK) {
        CAPTURE(version);
        CHECK_FALSE(may_split_keys(with_stream_k(0), version));
        CHECK_FALSE(may_split_keys({{CUDNN_KNOB_TYPE_STREAM_K, 0}}, version));
        CHECK(may_split_keys(with_stream_k(1), version));
        CHECK(may_split_keys(with_stream_k(2), version));
    }
}

TEST_CASE("knobs of which nothing is known may split the keys of one query", "[cudnn]") {
    constexpr auto kUnheardOf = CUDNN_KNOB_TYPE_COUNTS;  // the next one in the future
    for (KnobChoice const more : {KnobChoice{kUnheardOf, 0}, {CUDNN_KNOB_TYPE_SPLIT_K_SLC, 1}}) {
        Knobs one = numbered(3), several = with_stream_k(0);
        one.push_back(more);
        several.push_back(more);
        CAPTURE(static_cast<int>(more.knob));
        for (std::size_t const version : kNumbered) CHECK(may_split_keys(one, version));
        for (std::size_t const version : kWithStreamK) CHECK(may_split_keys(several, version));
    }
    for (std::int64_t const kernel : {-1, 64, 67, 100}) CHECK(may_split_keys(numbered(kernel), 91900));
    // Choices that are left to the engine, and those that another release would report.
    CHECK(may_split_keys({}, 91900));
    CHECK(may_split_keys({}, 92800));
    CHECK(may_split_keys({{CUDNN_KNOB_TYPE_TILE_SIZE, 7}}, 91900));
    CHECK(may_split_keys(with_stream_k(0), 91900));
    CHECK(may_split_keys(numbered(3), 92800));
}
