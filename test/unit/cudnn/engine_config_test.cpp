#include "cudnn/engine_config.h"

#include "support/catch.h"

using cudnn_frontend::cudnn::EngineConfig;
using cudnn_frontend::cudnn::may_split_keys;

TEST_CASE("engine configs that split the keys of one query are known by their knobs", "[cudnn]") {
    EngineConfig const whole{.engine = 1, .knobs = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 3}}};
    EngineConfig const split{.engine = 1, .knobs = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 35}}};
    CHECK_FALSE(may_split_keys(whole));
    CHECK(may_split_keys(split));
    // Since 9.28 another knob says so.
    auto const of_9_28 = [](std::int64_t stream_k) {
        return EngineConfig{
            .engine = 1,
            .knobs = {
                {CUDNN_KNOB_TYPE_TILE_M, 2}, {CUDNN_KNOB_TYPE_KERNEL_CFG, 1}, {CUDNN_KNOB_TYPE_STREAM_K, stream_k}}};
    };
    CHECK_FALSE(may_split_keys(of_9_28(0)));
    CHECK(may_split_keys(of_9_28(1)));
    CHECK(may_split_keys({.engine = 1}));  // as the engine likes
}
