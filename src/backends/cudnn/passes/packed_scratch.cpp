#include "cudnn/passes/pass_list.h"

#include "core/dims.h"
#include "cudnn/passes/draft_attention.h"

#include <limits>
#include <utility>

namespace cudnn_frontend::cudnn::passes {
namespace {

using ir::ValueId;

// Rows of more heads are that many times as long. The first stride is for the interpreter, which packs nothing.
core::Dims strides_of(core::Dims const& dim, ir::Value const& like) {
    core::Dims stride{0, like.stride[1], like.stride[2] * (dim[1] / like.dim[1]), like.stride[3]};
    stride[0] = core::span_of(dim, stride).value_or(0);
    return stride;
}

// Offsets of INT32 that cuDNN counts as often as heads are shared stay numbers of INT32.
bool fits_offsets(GraphDraft const& draft, ir::Value const& like, std::int64_t elements) {
    bool const is_narrow = draft.value(like.ragged.offset).type == DataType_t::INT32;
    return !is_narrow || elements <= std::numeric_limits<std::int32_t>::max();
}

// Where no bound on the rows is set, or the bound saves nothing, the value stays as it is.
void pack(GraphDraft& draft, ValueId id, ValueId ragged) {
    ir::Value const& like = draft.value(ragged);
    core::Dims const& dim = draft.value(id).dim;
    std::int64_t const rows = like.ragged.most_rows;
    if (rows == 0 || !core::volume(dim)) return;
    if (rows >= *core::volume(like.dim) / like.stride[2]) return;
    core::Dims stride = strides_of(dim, like);
    if (core::overlaps_itself(dim, stride) || !fits_offsets(draft, like, rows * stride[2])) return;
    draft.value(id).stride = std::move(stride);
    draft.scratch[id] = {.packed_like = ragged};
}

void pack_row_sums(GraphDraft& draft, BackwardSteps const& backward) {
    ValueId stats = step(draft, backward.shifted).in[1];
    if (is_own(draft, stats)) stats = draft.step(stats, PointwiseMode_t::MUL)->in[0];  // it was in base 2
    pack(draft, step(draft, backward.centered).in[1], stats);
}

// Packed, the accumulator is written in the layout of Q and read in that of dQ.
void pack_accumulator(GraphDraft& draft, BackwardSteps const& backward) {
    ValueId const accumulator = product(draft, backward.d_q).c;
    if (!draft.scratch.contains(accumulator)) return;
    ValueId const d_q = step(draft, backward.d_q + 1).out;
    ir::Value const &of_q = draft.value(product(draft, backward.d_k).b), &of_dq = draft.value(d_q);
    bool const lies_like_q = of_q.ragged.offset == of_dq.ragged.offset &&
                             of_q.ragged.multiplier == of_dq.ragged.multiplier && of_q.stride == of_dq.stride;
    if (lies_like_q) pack(draft, accumulator, d_q);
}

void pack_gradient_of_heads(GraphDraft& draft, std::size_t at) {
    auto const* const sum = std::get_if<ir::ReductionOp>(&draft.ops[at + 1].body);
    ValueId const of_heads = product(draft, at).c;
    if (sum != nullptr && sum->x == of_heads) pack(draft, of_heads, sum->y);
}

// Packed sums are right for head dims that are multiples of this; for others columns from the 16th on stay 0.
constexpr std::int64_t kHeadsOfPackedSums = 16;

bool takes_packed(GraphDraft const& draft, BackwardSteps const& backward) {
    core::Dims const& q = draft.value(product(draft, backward.d_k).b).dim;
    core::Dims const& v = draft.value(draft.storage_of(product(draft, backward.d_p).b)).dim;
    return q[3] % kHeadsOfPackedSums == 0 && v[3] % kHeadsOfPackedSums == 0 && !is_8_bit(draft, backward.scores);
}

}  // namespace

GraphDraft pack_scratch(GraphDraft draft) {
    auto const backward = find_backward(draft);
    if (!backward || !takes_packed(draft, *backward)) return draft;
    pack_row_sums(draft, *backward);
    pack_accumulator(draft, *backward);
    for (std::size_t const at : {backward->d_k, backward->d_v}) pack_gradient_of_heads(draft, at);
    return draft;
}

}  // namespace cudnn_frontend::cudnn::passes
