// The attributes of cuDNN's one operation for forward attention that hold its operands.
#pragma once

#include "core/attention_operands.h"
#include "cudnn/library/backend_enums.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {

struct SdpaOperand {
    core::attention::Port port;
    SdpaForwardAttribute attribute;
    SdpaForwardAttribute of_sums = attribute;  // where lengths are cumulative
};

inline constexpr SdpaOperand kSdpaOperands[] = {
    {core::attention::Q, SdpaForwardAttribute::Q},
    {core::attention::K, SdpaForwardAttribute::K},
    {core::attention::V, SdpaForwardAttribute::V},
    {core::attention::O, SdpaForwardAttribute::O},
    {core::attention::Stats, SdpaForwardAttribute::Stats},
    {core::attention::Attn_scale, SdpaForwardAttribute::Scale},
    {core::attention::Block_mask, SdpaForwardAttribute::Block_mask},
    {core::attention::Page_table_k, SdpaForwardAttribute::Page_table_k},
    {core::attention::Page_table_v, SdpaForwardAttribute::Page_table_v},
    {core::attention::Seq_len_q, SdpaForwardAttribute::Seq_len_q, SdpaForwardAttribute::Cu_seq_len_q},
    {core::attention::Seq_len_kv, SdpaForwardAttribute::Seq_len_kv, SdpaForwardAttribute::Cu_seq_len_kv},
};

// The operands for which it has no attribute. Limits refuse such graphs before they are lowered.
inline constexpr core::attention::Port kWithoutPlace[] = {
    core::attention::Bias,       core::attention::Seed,         core::attention::Offset,
    core::attention::Rng_dump,   core::attention::Dropout_mask, core::attention::Dropout_scale,
    core::attention::Sink_token, core::attention::Max,          core::attention::Sum_exp,
};

// Whether an operand of forward attention is in exactly one of the two lists, once.
constexpr bool has_one_place(core::attention::Operand const& row) {
    bool const is_operand = core::attention::is_of_operation(row) && core::attention::is_used(row.forward);
    auto const places =
        std::ranges::count(kSdpaOperands, row.port, &SdpaOperand::port) + std::ranges::count(kWithoutPlace, row.port);
    return places == (is_operand ? 1 : 0);
}
static_assert(std::ranges::all_of(core::attention::kOperands, has_one_place));

}  // namespace cudnn_frontend::cudnn
