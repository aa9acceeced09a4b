// The class of a call: what a plan depends on.
#pragma once

#include "flash/band.h"

#include <array>
#include <cstddef>
#include <optional>

namespace sdpa_graph::flash {

// FORWARD and BACKWARD are attention; PROBABILITIES multiplies by a unit matrix in place of v, without dropout.
enum class Pass { FORWARD, BACKWARD, PROBABILITIES };

// What is added to the score of query i and key j, for a head's slope s: nothing, s * j, or -s * |i + shift - j|.
enum class Alibi { NONE, BY_KEY, BY_DISTANCE };

struct Strides {
    std::int64_t batch = 0, row = 0, head = 0;

    bool operator==(Strides const&) const = default;
};

struct Shapes {
    Pass pass = Pass::FORWARD;
    DataType_t type = DataType_t::NOT_SET;
    bool is_packed = false, has_pages = false, is_deterministic = false, dumps_dropout = false;
    std::int64_t batches = 0, queries = 0, keys = 0, heads = 0, key_heads = 0, width = 0;
    std::int64_t pages = 0, page_rows = 0, table_columns = 0;
    Band band;
    Alibi alibi = Alibi::NONE;
    std::int64_t slope_stride = 0;  // from one batch entry to the next
    float scale = 1.0f, softcap = 0.0f, p_dropout = 0.0f;
    std::array<Strides, static_cast<std::size_t>(Argument::DV) + 1> strides;

    // The target, as far as plans differ by it.
    fe::Target::Kind target = fe::Target::Kind::CPU;
    int threads = 0;
    std::int32_t device = 0;
    cudnnHandle_t handle = nullptr;

    bool operator==(Shapes const&) const = default;
    Strides const& of(Argument argument) const { return strides[static_cast<std::size_t>(argument)]; }
    Strides& of(Argument argument) { return strides[static_cast<std::size_t>(argument)]; }
};

// Packed sequences of all lengths up to one of a few bounds are one class, whatever their totals.
Shapes shapes_of(Call const& call, Sizes const& sizes, fe::Target const& target);

std::size_t hash_of(Shapes const& shapes);

}  // namespace sdpa_graph::flash
