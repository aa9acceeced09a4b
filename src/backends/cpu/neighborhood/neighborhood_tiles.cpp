#include "cpu/neighborhood/neighborhood_tiles.h"

#include "cpu/attention/attention_tile.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

std::int64_t token_offset(TokenView const& view, TokenBlock const& block, GridPlace const& place) {
    std::int64_t offset = block.b * view.batch + block.h * view.head;
    for (std::size_t axis = 0; axis < 3; ++axis) offset += block.group.position(axis, place[axis]) * view.axes[axis];
    return offset;
}

// Calls visit(slice, first, count) for tokens along the last axis, which have a constant distance in memory.
template <class Visit>
void for_each_run(TokenView const& view, Tokens const& tokens, Visit visit) {
    std::int64_t const step = view.axes[2] * tokens.block.group.axes[2].dilation;
    for (std::int64_t first = 0; first < tokens.count;) {
        GridPlace const place = tokens.box.at(tokens.begin + first);
        std::int64_t const count = std::min(tokens.count - first, tokens.box.end[2] - place[2]);
        visit(Slice{view.data, view.type, token_offset(view, tokens.block, place), step, view.last}, first, count);
        first += count;
    }
}

template <class Use>
void use_format(DataType_t type, Use use) {
    switch (type) {
        case DataType_t::HALF: return use(HalfTraits{});
        case DataType_t::BFLOAT16: return use(Bfloat16Traits{});
        case DataType_t::DOUBLE: return use(PlainTraits<double>{});
        default: return use(PlainTraits<float>{});
    }
}

GridPlace row_major_slots(NeighborhoodAxes const& axes) { return {axes[1].kernel * axes[2].kernel, axes[2].kernel, 1}; }

template <class Visit>
void for_each_element_of_pairs(TokenView const& view, PairOffsets const& offsets, VisibleKeys const& keys,
                               std::int64_t lanes, Visit visit) {
    use_format(view.type, [&](auto format) {
        auto* const memory = static_cast<typename decltype(format)::Element*>(view.data);
        for_each_pair(keys, [&](std::int64_t key, std::int64_t lane) {
            visit(format, memory[offsets.of(keys.places[static_cast<std::size_t>(key)], lane)], key * lanes + lane);
        });
    });
}

}  // namespace

Tokens tile_of(TokenBlock const& block, Box const& keys, std::int64_t index) {
    return {block, keys, index, std::min(kTileKeys, keys.count() - index)};
}

void load_rows(TokenView const& view, Tokens const& tokens, std::int64_t width, float* rows, std::int64_t stride) {
    for_each_run(view, tokens, [&](Slice const& slice, std::int64_t first, std::int64_t count) {
        load_tile(slice, {rows + first * stride, stride, count, width}, stride);
    });
}

void store_rows(float* rows, std::int64_t stride, TokenView const& view, Tokens const& tokens, std::int64_t width) {
    for_each_run(view, tokens, [&](Slice const& slice, std::int64_t first, std::int64_t count) {
        store_tile({rows + first * stride, stride, count, width}, slice);
    });
}

void gather_rows(TokenView const& view, Tokens const& tokens, std::int64_t width, std::uint16_t* rows) {
    for_each_run(view, tokens, [&](Slice const& slice, std::int64_t first, std::int64_t count) {
        auto const* const memory = static_cast<std::uint16_t const*>(slice.data) + slice.origin;
        for (std::int64_t row = 0; row < count; ++row)
            std::copy_n(memory + row * slice.row_stride, width, rows + (first + row) * width);
    });
}

void load_columns(TokenView const& view, Tokens const& tokens, std::int64_t width, float* columns,
                  std::int64_t stride) {
    for_each_run(view, tokens, [&](Slice const& slice, std::int64_t first, std::int64_t count) {
        std::int64_t const filled = first + count == tokens.count ? stride - first : count;
        load_tile(transposed(slice), {columns + first, stride, width, count}, filled);
    });
}

void store_columns(float* columns, std::int64_t stride, TokenView const& view, Tokens const& tokens,
                   std::int64_t width) {
    for_each_run(view, tokens, [&](Slice const& slice, std::int64_t first, std::int64_t count) {
        store_tile({columns + first, stride, width, count}, transposed(slice));
    });
}

VisibleKeys key_tile(Tokens const& keys, Visibility const& visibility) {
    VisibleKeys tile;
    tile.count = keys.count;
    LaneMask any = 0;
    for (std::int64_t key = 0; key < keys.count; ++key) {
        auto const at = static_cast<std::size_t>(key);
        tile.places[at] = keys.box.at(keys.begin + key);
        any |= tile.seen_by[at] = visibility.lanes_that_see(tile.places[at]);
    }
    tile.is_seen = any != 0;
    return tile;
}

void fill_unseen(VisibleKeys const& keys, std::int64_t lanes, float value, float* tile) {
    static constexpr auto kBits = [] {
        std::array<LaneMask, kMaxLanes> bits;
        for (std::size_t lane = 0; lane < bits.size(); ++lane) bits[lane] = LaneMask{1} << lane;
        return bits;
    }();
    for (std::int64_t key = 0; key < keys.count; ++key) {
        LaneMask const seen = keys.seen_by[static_cast<std::size_t>(key)];
        float* const row = tile + key * lanes;
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            row[lane] = (seen & kBits[static_cast<std::size_t>(lane)]) != 0 ? row[lane] : value;
    }
}

PairOffsets slot_offsets(TokenView const& view, TokenBlock const& block, QueryLanes const& lanes) {
    PairOffsets offsets{row_major_slots(block.group.axes), {}};
    for (std::int64_t& step : offsets.step) step *= view.last;
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes.count); ++lane) {
        offsets.origin[lane] = token_offset(view, block, lanes.places[lane]);
        for (std::size_t axis = 0; axis < 3; ++axis)
            offsets.origin[lane] -= lanes.first_keys[lane][axis] * offsets.step[axis];
    }
    return offsets;
}

PairOffsets distance_offsets(TokenView const& view, TokenBlock const& block, QueryLanes const& lanes) {
    PairOffsets offsets{view.axes, {}};
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes.count); ++lane) {
        offsets.origin[lane] = block.h * view.head;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            std::int64_t const query = block.group.position(axis, lanes.places[lane][axis]);
            std::int64_t const first = neighborhood::first_bias_of(block.group.axes[axis], query);
            offsets.origin[lane] += (first - lanes.first_keys[lane][axis]) * view.axes[axis];
        }
    }
    return offsets;
}

void load_pairs(TokenView const& view, PairOffsets const& offsets, VisibleKeys const& keys, std::int64_t lanes,
                float* tile) {
    std::fill_n(tile, kTileKeys * lanes, 0.0f);
    for_each_element_of_pairs(view, offsets, keys, lanes, [&](auto format, auto& element, std::int64_t at) {
        tile[at] = decltype(format)::to_float(element);
    });
}

void add_pairs(TokenView const& view, PairOffsets const& offsets, VisibleKeys const& keys, std::int64_t lanes,
               float* tile) {
    for_each_element_of_pairs(view, offsets, keys, lanes, [&](auto format, auto& element, std::int64_t at) {
        tile[at] += decltype(format)::to_float(element);
    });
}

void store_pairs(float const* tile, std::int64_t lanes, TokenView const& view, PairOffsets const& offsets,
                 VisibleKeys const& keys) {
    for_each_element_of_pairs(view, offsets, keys, lanes, [&](auto format, auto& element, std::int64_t at) {
        element = decltype(format)::from_float(tile[at]);
    });
}

void fill_empty_slots(TokenView const& view, TokenBlock const& block, QueryLanes const& lanes, float value) {
    NeighborhoodAxes const& axes = block.group.axes;
    Box const slots{{}, {axes[0].kernel, axes[1].kernel, axes[2].kernel}};
    for (std::int64_t lane = 0; lane < lanes.count; ++lane) {
        GridPlace const& query = lanes.places[static_cast<std::size_t>(lane)];
        GridPlace used;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            auto const [first, end] = block.group.keys_of(axis, query[axis]);
            used[axis] = end - first;
        }
        if (used == slots.end) continue;
        for (std::int64_t slot = 0; slot < slots.count(); ++slot) {
            GridPlace const at = slots.at(slot);
            if (at[0] < used[0] && at[1] < used[1] && at[2] < used[2]) continue;
            float number = value;
            store_tile({&number, 1, 1, 1},
                       {view.data, view.type, token_offset(view, block, query) + slot * view.last, 0, 0});
        }
    }
}

}  // namespace cudnn_frontend::cpu
