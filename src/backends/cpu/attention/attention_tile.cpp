#include "cpu/attention/attention_tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace cudnn_frontend::cpu {
namespace {

// Any type that the host can load, one element at a time.
void load_any(Slice const& from, Packed const& to) {
    for (std::int64_t row = 0; row < to.rows; ++row) {
        for (std::int64_t column = 0; column < to.columns; ++column) {
            std::int64_t const at = from.origin + row * from.row_stride + column * from.column_stride;
            to.data[row * to.stride + column] = static_cast<float>(core::load(from.type, from.data, at));
        }
    }
}

void store_any(Packed const& from, Slice const& to) {
    for (std::int64_t row = 0; row < from.rows; ++row) {
        for (std::int64_t column = 0; column < from.columns; ++column) {
            std::int64_t const at = to.origin + row * to.row_stride + column * to.column_stride;
            core::store(to.type, to.data, at, static_cast<double>(from.data[row * from.stride + column]));
        }
    }
}

// Visits (memory offset, packed offset) of each element. The innermost loop runs through adjacent elements in memory if
// there are any. A transposing copy goes in strips, whose packed side stays in the cache; loops over whole strips have
// a length known at compile time.
template <class Visit>
void for_each_element(Slice const& slice, Packed const& packed, Visit visit) {
    if (slice.column_stride == 1) {
        for (std::int64_t row = 0; row < packed.rows; ++row) {
            std::int64_t const memory = row * slice.row_stride, tile = row * packed.stride;
            for (std::int64_t column = 0; column < packed.columns; ++column) visit(memory + column, tile + column);
        }
        return;
    }
    constexpr std::int64_t kStrip = 16;
    auto const visit_row = [&](std::int64_t row, std::int64_t column) {
        visit(column * slice.column_stride + row * slice.row_stride, row * packed.stride + column);
    };
    std::int64_t first = 0;
    for (; first + kStrip <= packed.rows; first += kStrip) {
        for (std::int64_t column = 0; column < packed.columns; ++column) {
            for (std::int64_t row = 0; row < kStrip; ++row) visit_row(first + row, column);
        }
    }
    for (std::int64_t column = 0; column < packed.columns; ++column) {
        for (std::int64_t row = first; row < packed.rows; ++row) visit_row(row, column);
    }
}

// Adjacent elements.
template <class Format>
void load_row(typename Format::Element const* from, std::int64_t count, float* to) {
    std::int64_t first = 0;
    if constexpr (std::is_same_v<Format, HalfTraits>) {
        if (auto const convert = kernels().half_to_floats; convert != nullptr && count >= kRowStep) {
            first = count / kRowStep * kRowStep;
            convert(from, first, to);
        }
    }
    for (std::int64_t i = first; i < count; ++i) to[i] = Format::to_float(from[i]);
}

template <class Format>
void load_elements(Slice const& from, Packed const& to) {
    auto const* const memory = static_cast<typename Format::Element const*>(from.data) + from.origin;
    float* const tile = to.data;
    if (from.column_stride == 1) {
        for (std::int64_t row = 0; row < to.rows; ++row)
            load_row<Format>(memory + row * from.row_stride, to.columns, tile + row * to.stride);
        return;
    }
    for_each_element(from, to,
                     [=](std::int64_t at, std::int64_t packed) { tile[packed] = Format::to_float(memory[at]); });
}

template <class Format>
void store_elements(Packed const& from, Slice const& to) {
    auto* const memory = static_cast<typename Format::Element*>(to.data) + to.origin;
    float const* const tile = from.data;
    for_each_element(to, from,
                     [=](std::int64_t at, std::int64_t packed) { memory[at] = Format::from_float(tile[packed]); });
}

constexpr std::int64_t kBlock = Transpose::kStep;
using Block = std::array<float, kBlock * kBlock>;

void transpose(float const* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
    kernels().transpose({reinterpret_cast<std::uint32_t const*>(from), from_stride, kBlock, kBlock,
                         reinterpret_cast<std::uint32_t*>(to), to_stride});
}

// A slice whose rows are the columns of a tensor in memory goes in blocks, which kernels transpose: the rows of the
// tensor are read and written one after the other. Others, and the elements beyond whole blocks, go one by one.
template <class CopyBlock, class CopyElements>
void copy_in_blocks(Slice const& slice, Packed const& packed, CopyBlock const& copy_block,
                    CopyElements const& copy_elements) {
    auto const part = [&](std::int64_t row, std::int64_t column) {
        Slice at = slice;
        at.origin += row * slice.row_stride + column * slice.column_stride;
        return at;
    };
    bool const is_transposed = slice.row_stride == 1 && slice.column_stride > 1;
    std::int64_t const rows = is_transposed ? packed.rows / kBlock * kBlock : 0;
    std::int64_t const columns = rows > 0 ? packed.columns / kBlock * kBlock : 0;
    for (std::int64_t column = 0; column < columns; column += kBlock) {
        for (std::int64_t row = 0; row < rows; row += kBlock)
            copy_block(part(row, column), packed.data + row * packed.stride + column);
    }
    float* const right = packed.data + columns;
    copy_elements(part(0, columns), Packed{right, packed.stride, packed.rows, packed.columns - columns});
    if (columns == 0) return;
    float* const below = packed.data + rows * packed.stride;
    copy_elements(part(rows, 0), Packed{below, packed.stride, packed.rows - rows, columns});
}

template <class Format>
void load_as(Slice const& from, Packed const& to) {
    auto const load_block = [&](Slice const& block, float* tile) {
        auto const* const memory = static_cast<typename Format::Element const*>(block.data) + block.origin;
        if constexpr (std::is_same_v<Format, PlainTraits<float>>) {
            transpose(memory, block.column_stride, tile, to.stride);
        } else {
            alignas(64) Block rows;
            for (std::int64_t i = 0; i < kBlock; ++i)
                load_row<Format>(memory + i * block.column_stride, kBlock, rows.data() + i * kBlock);
            transpose(rows.data(), kBlock, tile, to.stride);
        }
    };
    copy_in_blocks(from, to, load_block, load_elements<Format>);
}

template <class Format>
void store_as(Packed const& from, Slice const& to) {
    auto const store_block = [&](Slice const& block, float const* tile) {
        auto* const memory = static_cast<typename Format::Element*>(block.data) + block.origin;
        if constexpr (std::is_same_v<Format, PlainTraits<float>>) {
            transpose(tile, from.stride, memory, block.column_stride);
        } else {
            alignas(64) Block rows;
            transpose(tile, from.stride, rows.data(), kBlock);
            for (std::int64_t i = 0; i < kBlock; ++i) {
                for (std::int64_t j = 0; j < kBlock; ++j)
                    memory[i * block.column_stride + j] =
                        Format::from_float(rows[static_cast<std::size_t>(i * kBlock + j)]);
            }
        }
    };
    copy_in_blocks(to, from, store_block,
                   [](Slice const& slice, Packed const& packed) { store_elements<Format>(packed, slice); });
}

void load_block_of_pairs(std::uint16_t const* memory, std::int64_t stride, std::uint32_t* to, std::int64_t to_stride) {
    alignas(64) std::array<std::uint32_t, kBlock * kBlock> rows;
    for (std::int64_t i = 0; i < kBlock; ++i)
        std::memcpy(rows.data() + i * kBlock, memory + i * stride, kBlock * sizeof(std::uint32_t));
    kernels().transpose({rows.data(), kBlock, kBlock, kBlock, to, to_stride});
}

std::uint32_t pair_of(std::uint16_t const* row, std::int64_t column, std::int64_t columns) {
    std::uint32_t const high = column + 1 < columns ? row[column + 1] : 0;
    return row[column] | high << 16;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "a pair in memory has its first number in the low half");

void load_pairs_of_columns(Slice const& from, PackedPairs const& to, std::int64_t padded_rows,
                           std::int64_t padded_pairs) {
    auto const* const memory = static_cast<std::uint16_t const*>(from.data) + from.origin;
    std::int64_t const whole = to.columns / 2, pairs = (to.columns + 1) / 2;
    std::int64_t const in_blocks = whole / kBlock * kBlock, block_rows = in_blocks > 0 ? to.rows / kBlock * kBlock : 0;
    for (std::int64_t row = 0; row < block_rows; row += kBlock) {
        for (std::int64_t pair = 0; pair < in_blocks; pair += kBlock)
            load_block_of_pairs(memory + row * from.row_stride + 2 * pair, from.row_stride,
                                to.data + pair * to.stride + row, to.stride);
    }
    for (std::int64_t row = 0; row < to.rows; ++row) {
        std::uint16_t const* const numbers = memory + row * from.row_stride;
        for (std::int64_t pair = row < block_rows ? in_blocks : 0; pair < whole; ++pair)
            std::memcpy(to.data + pair * to.stride + row, numbers + 2 * pair, sizeof(std::uint32_t));
        if (pairs != whole) to.data[whole * to.stride + row] = pair_of(numbers, to.columns - 1, to.columns);
    }
    for (std::int64_t pair = 0; pair < padded_pairs; ++pair) {
        std::int64_t const first = pair < pairs ? to.rows : 0;
        std::fill(to.data + pair * to.stride + first, to.data + pair * to.stride + std::max(padded_rows, first), 0);
    }
}

void load_pairs_in_blocks(Slice const& from, PackedPairs const& to, std::int64_t first, std::int64_t padded_rows) {
    using Block = PairBlocks;
    auto const* const memory = static_cast<std::uint16_t const*>(from.data) + from.origin;
    std::int64_t const pairs = to.stride / Block::kRows, whole = to.columns / 2 / Block::kPairs * Block::kPairs;
    for (std::int64_t row = 0; row < padded_rows; ++row) {
        std::uint32_t* const packed = to.data + Block::row(first + row, to.stride);
        std::uint16_t const* const numbers = memory + row * from.row_stride;
        std::int64_t const copied = row < to.rows ? whole : 0;
        for (std::int64_t pair = 0; pair < copied; pair += Block::kPairs)
            std::memcpy(packed + pair * Block::kRows, numbers + 2 * pair, Block::kPairs * sizeof(std::uint32_t));
        for (std::int64_t pair = copied; pair < pairs; ++pair) {
            std::int64_t const column = row < to.rows ? 2 * pair : to.columns;
            packed[pair / Block::kPairs * Block::kSize + pair % Block::kPairs] =
                column < to.columns ? pair_of(numbers, column, to.columns) : 0;
        }
    }
}

void load_pairs_of_rows(Slice const& from, PackedPairs const& to, std::int64_t padded_columns) {
    auto const* const memory = static_cast<std::uint16_t const*>(from.data) + from.origin;
    for (std::int64_t row = 0; row < to.rows; row += 2) {
        std::uint16_t const* const first = memory + row * from.row_stride;
        std::uint16_t const* const second = first + from.row_stride;
        std::uint32_t* const pairs = to.data + row / 2 * to.stride;
        if (row + 1 < to.rows) {
            for (std::int64_t column = 0; column < to.columns; ++column)
                pairs[column] = first[column] | std::uint32_t{second[column]} << 16;
        } else {
            std::copy_n(first, to.columns, pairs);
        }
        std::fill(pairs + to.columns, pairs + std::max(padded_columns, to.columns), 0);
    }
}

void unpack_pairs_of_rows(std::uint32_t const* pairs, std::int64_t rows, std::int64_t lanes, float* tile) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            std::uint32_t const pair = pairs[row / 2 * lanes + lane];
            tile[row * lanes + lane] =
                core::bfloat16_to_float(static_cast<std::uint16_t>(row % 2 == 0 ? pair : pair >> 16));
        }
    }
}

void unpack_pairs_of_lanes(std::uint32_t const* pairs, std::int64_t stride, std::int64_t rows, std::int64_t lanes,
                           float* tile) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            std::uint32_t const pair = pairs[PairBlocks::at(row, lane / 2, stride)];
            tile[row * lanes + lane] =
                core::bfloat16_to_float(static_cast<std::uint16_t>(lane % 2 == 0 ? pair : pair >> 16));
        }
    }
}

void clear_not_finite(std::uint32_t* pairs, std::int64_t count) {
    constexpr std::uint32_t kLow = 0x7f80, kHigh = 0x7f800000;  // the exponents
    for (std::int64_t i = 0; i < count; ++i) {
        if ((pairs[i] & kLow) == kLow) pairs[i] &= 0xffff0000;
        if ((pairs[i] & kHigh) == kHigh) pairs[i] &= 0x0000ffff;
    }
}

void add_not_finite(Packed const& rows, float const* tile, std::int64_t lanes, float* panel) {
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        float const* const weights = tile + row * lanes;
        for (std::int64_t column = 0; column < rows.columns; ++column) {
            float const number = rows.data[row * rows.stride + column];
            if (std::isfinite(number)) continue;
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                if (weights[lane] != 0.0f) panel[column * lanes + lane] += weights[lane] * number;
            }
        }
    }
}

Slice slice_of(DataView const& view, std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) {
    return {view.data, view.type, view.at(b, h, row, column), view.dim[2] == 1 ? 0 : view.stride[2],
            view.dim[3] == 1 ? 0 : view.stride[3]};
}

Slice transposed(Slice const& slice) {
    return {slice.data, slice.type, slice.origin, slice.column_stride, slice.row_stride};
}

void load_tile(Slice const& from, Packed const& to, std::int64_t padded_columns) {
    switch (from.type) {
        case DataType_t::FLOAT: load_as<PlainTraits<float>>(from, to); break;
        case DataType_t::DOUBLE: load_as<PlainTraits<double>>(from, to); break;
        case DataType_t::HALF: load_as<HalfTraits>(from, to); break;
        case DataType_t::BFLOAT16: load_as<Bfloat16Traits>(from, to); break;
        default: load_any(from, to); break;
    }
    for (std::int64_t row = 0; row < to.rows && padded_columns > to.columns; ++row) {
        std::fill(to.data + row * to.stride + to.columns, to.data + row * to.stride + padded_columns, 0.0f);
    }
}

void store_tile(Packed const& from, Slice const& to) {
    switch (to.type) {
        case DataType_t::FLOAT: store_as<PlainTraits<float>>(from, to); break;
        case DataType_t::DOUBLE: store_as<PlainTraits<double>>(from, to); break;
        case DataType_t::HALF: store_as<HalfTraits>(from, to); break;
        case DataType_t::BFLOAT16: store_as<Bfloat16Traits>(from, to); break;
        default: store_any(from, to); break;
    }
}

}  // namespace cudnn_frontend::cpu
