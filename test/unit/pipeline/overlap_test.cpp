#include "pipeline/overlap.h"

#include "support/catch.h"

#include <random>
#include <set>

using namespace cudnn_frontend;
using pipeline::Slot;

namespace {

Slot make_slot(core::Dims dim, core::Dims stride) {
    std::int64_t const span = *core::span_of(dim, stride) * 4;
    return {0, "t", true, false, 4, 4, span, std::move(dim), std::move(stride)};
}

std::set<std::int64_t> elements(Slot const& slot, std::int64_t start) {
    std::set<std::int64_t> indices;
    for (std::int64_t a = 0; a < slot.dim[0]; ++a) {
        for (std::int64_t b = 0; b < slot.dim[1]; ++b) {
            for (std::int64_t c = 0; c < slot.dim[2]; ++c) {
                indices.insert(start + a * slot.stride[0] + b * slot.stride[1] + c * slot.stride[2]);
            }
        }
    }
    return indices;
}

bool share_by_enumeration(Slot const& a, std::int64_t a_start, Slot const& b, std::int64_t b_start) {
    auto const in_a = elements(a, a_start);
    for (std::int64_t const index : elements(b, b_start)) {
        if (in_a.contains(index)) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("tensors of one layout share memory exactly when they have an element in common") {
    std::mt19937 random(7);
    auto const draw = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    float memory[1] = {};
    char* const base = reinterpret_cast<char*>(memory);
    int sharing = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        std::int64_t const inner = draw(1, 4), middle = draw(1, 4);
        core::Dims const stride{inner * 2 * middle * 2, inner * 2, 1};
        Slot const a = make_slot({draw(1, 3), middle, inner}, stride);
        Slot const b = make_slot({draw(1, 3), draw(1, middle), draw(1, inner)}, stride);
        std::int64_t const distance = draw(0, 40);
        bool const expected = share_by_enumeration(a, 0, b, distance);
        CAPTURE(core::to_string(a.dim), core::to_string(b.dim), core::to_string(stride), distance);
        REQUIRE(pipeline::share_memory(a, base, b, base + distance * 4) == expected);
        REQUIRE(pipeline::share_memory(b, base + distance * 4, a, base) == expected);
        sharing += expected;
    }
    CHECK(sharing > 300);
    CHECK(sharing < 2700);
}

TEST_CASE("dense tensors share memory when their ranges meet") {
    Slot const a = make_slot({1, 2, 8}, {16, 8, 1}), b = make_slot({1, 4, 4}, {16, 4, 1});
    float memory[64] = {};
    CHECK(pipeline::share_memory(a, memory, b, memory + 15));
    CHECK_FALSE(pipeline::share_memory(a, memory, b, memory + 16));
    CHECK(pipeline::share_memory(b, memory + 15, a, memory));
}
