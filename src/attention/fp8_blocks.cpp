// Quantization of numbers to block-scaled tensors, and back.
#include "attention/block_scale.h"
#include "core/data_type.h"
#include "core/floats.h"

#include <cudnn_frontend/fp8.h>

#include <cmath>

namespace cudnn_frontend {
namespace {

using core::Dims;

bool can_have_blocks(DataType_t type, Dims const& dim, int axis) {
    bool const is_matrix = dim.size() == 4 && (axis == 2 || axis == 3);
    if (!core::is_fp8(type) || !is_matrix) return false;
    for (std::int64_t const size : dim) {
        if (size < 1) return false;
    }
    return core::volume(attention::padded_block_dims(dim, static_cast<std::size_t>(axis))).has_value();
}

// Calls visit(index of the number, index of its scale) for each number; numbers of one block are not adjacent where the
// axis is 2.
template <class Visit>
void for_each_number(Dims const& dim, std::size_t axis, Visit const& visit) {
    Dims const scales = attention::padded_block_dims(dim, axis);
    std::int64_t const of_matrix = scales[2] * scales[3];
    std::int64_t at = 0;
    for (std::int64_t matrix = 0; matrix < dim[0] * dim[1]; ++matrix)
        for (std::int64_t i = 0; i < dim[2]; ++i)
            for (std::int64_t j = 0; j < dim[3]; ++j) {
                std::int64_t const row = axis == 2 ? j : i, block = (axis == 2 ? i : j) / attention::kScaleBlock;
                visit(at++, matrix * of_matrix + attention::index_128x4(row, block, scales[axis]));
            }
}

std::vector<double> magnitudes_of_blocks(std::vector<float> const& values, Dims const& dim, std::size_t axis,
                                         std::size_t count) {
    std::vector<double> magnitudes(count, 0.0);
    for_each_number(dim, axis, [&](std::int64_t at, std::int64_t scale) {
        double const magnitude = std::abs(double{values[static_cast<std::size_t>(at)]});
        double& greatest = magnitudes[static_cast<std::size_t>(scale)];
        if (std::isfinite(magnitude) && magnitude > greatest) greatest = magnitude;
    });
    return magnitudes;
}

}  // namespace

std::vector<std::int64_t> mxfp8_scale_dim(std::vector<std::int64_t> const& dim, int axis) {
    if (!can_have_blocks(DataType_t::FP8_E4M3, dim, axis)) return {};
    return attention::padded_block_dims(dim, static_cast<std::size_t>(axis));
}

Mxfp8 mxfp8_quantize(DataType_t type, std::vector<float> const& values, std::vector<std::int64_t> const& dim,
                     int axis) {
    if (!can_have_blocks(type, dim, axis)) return {};
    if (core::volume(dim) != static_cast<std::int64_t>(values.size())) return {};
    auto const along = static_cast<std::size_t>(axis);
    Mxfp8 made{std::vector<std::uint8_t>(values.size()), {}, attention::padded_block_dims(dim, along)};
    auto const count = static_cast<std::size_t>(*core::volume(made.scale_dim));
    std::vector<double> const magnitudes = magnitudes_of_blocks(values, dim, along, count);
    for (double const magnitude : magnitudes) {
        made.scales.push_back(attention::block_exponent(magnitude, double{fp8_largest(type)}));
    }
    for_each_number(dim, along, [&](std::int64_t at, std::int64_t scale) {
        double const factor = core::e8m0_to_double(made.scales[static_cast<std::size_t>(scale)]);
        core::store(type, made.elements.data(), at, double{values[static_cast<std::size_t>(at)]} / factor);
    });
    return made;
}

std::vector<float> mxfp8_dequantize(DataType_t type, Mxfp8 const& blocks, std::vector<std::int64_t> const& dim,
                                    int axis) {
    if (!can_have_blocks(type, dim, axis)) return {};
    auto const along = static_cast<std::size_t>(axis);
    auto const holds = [](std::vector<std::uint8_t> const& bytes, Dims const& of) {
        return core::volume(of) == static_cast<std::int64_t>(bytes.size());
    };
    if (!holds(blocks.elements, dim) || !holds(blocks.scales, attention::padded_block_dims(dim, along))) return {};
    std::vector<float> values(blocks.elements.size());
    for_each_number(dim, along, [&](std::int64_t at, std::int64_t scale) {
        double const factor = core::e8m0_to_double(blocks.scales[static_cast<std::size_t>(scale)]);
        values[static_cast<std::size_t>(at)] =
            static_cast<float>(core::load(type, blocks.elements.data(), at) * factor);
    });
    return values;
}

}  // namespace cudnn_frontend
