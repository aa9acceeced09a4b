#include "expand/packed_scratch.h"

namespace cudnn_frontend::inline v1::expand {
namespace {

using ir::ValueId;

// Of other heads, cuDNN's engines leave the last columns of packed scratch 0.
constexpr std::int64_t kHeadMultiple = 16;

bool takes_packed_scratch(AttentionScope const& at) {
    return at.capabilities().packed_scratch && at.value(at.port(Port::Q)).dim[3] % kHeadMultiple == 0 &&
           at.value(at.port(Port::V)).dim[3] % kHeadMultiple == 0;
}

// Rows of more heads are as many times as long. The first stride is for the interpreter, which packs nothing.
core::Dims strides_of(core::Dims const& dim, ir::Value const& like) {
    core::Dims stride{0, like.stride[1], like.stride[2] * (dim[1] / like.dim[1]), like.stride[3]};
    stride[0] = core::span_of(dim, stride).value_or(0);
    return stride;
}

}  // namespace

ValueId add_packed_scratch(AttentionScope& at, std::string const& name, DataType_t type, core::Dims const& dim,
                           ValueId ragged) {
    ir::Value const like = at.value(ragged);
    if (!like.ragged || like.ragged.most_rows == 0 || !takes_packed_scratch(at)) return ir::kNoValue;
    core::Dims stride = strides_of(dim, like);
    bool const is_less = like.ragged.most_rows < core::volume(dim).value_or(0) / stride[2];
    return is_less ? at.add_scratch_like(ragged, name, type, dim, std::move(stride)) : ir::kNoValue;
}

}  // namespace cudnn_frontend::inline v1::expand
