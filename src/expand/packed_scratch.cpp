#include "expand/packed_scratch.h"

#include <limits>

namespace cudnn_frontend::expand {
namespace {

using ir::ValueId;

// Rows of more heads are as many times as long. The first stride is for the interpreter, which packs nothing.
core::Dims strides_of(core::Dims const& dim, ir::Value const& like) {
    core::Dims stride{0, like.stride[1], like.stride[2] * (dim[1] / like.dim[1]), like.stride[3]};
    stride[0] = core::span_of(dim, stride).value_or(0);
    return stride;
}

// Offsets of INT32 that cuDNN counts as often as heads are shared stay numbers of INT32.
bool fits_offsets(AttentionScope const& at, ir::Value const& like, std::int64_t elements) {
    bool const is_narrow = at.value(like.ragged.offset).type == DataType_t::INT32;
    return !is_narrow || elements <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

ValueId add_packed_scratch(AttentionScope& at, std::string const& name, DataType_t type, core::Dims const& dim,
                           ValueId ragged) {
    ir::Value const like = at.value(ragged);
    std::int64_t const rows = like.ragged.most_rows;
    if (rows == 0 || !core::volume(dim)) return ir::kNoValue;
    bool const is_less = rows < *core::volume(like.dim) / like.stride[2];
    if (!is_less) return ir::kNoValue;
    core::Dims stride = strides_of(dim, like);
    if (core::overlaps_itself(dim, stride) || !fits_offsets(at, like, rows * stride[2])) return ir::kNoValue;
    return at.add_scratch_like(ragged, name, type, dim, std::move(stride));
}

ValueId add_row_scratch(AttentionScope& at, std::string const& name, core::Dims const& dim, ValueId ragged) {
    ValueId const packed = add_packed_scratch(at, name, DataType_t::FLOAT, dim, ragged);
    return packed != ir::kNoValue ? packed : at.add_scratch(name, dim);
}

}  // namespace cudnn_frontend::expand
