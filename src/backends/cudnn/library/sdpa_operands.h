// The attributes of cuDNN's one operation for forward attention that hold its operands.
#pragma once

#include "attention/attention_operands.h"
#include "cudnn/library/backend_enums.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {

struct SdpaOperand {
    attention::Port port;
    SdpaForwardAttribute attribute;
    SdpaForwardAttribute of_sums = attribute;  // where lengths are cumulative
};

inline constexpr SdpaOperand kSdpaOperands[] = {
    {attention::Q, SdpaForwardAttribute::Q},
    {attention::K, SdpaForwardAttribute::K},
    {attention::V, SdpaForwardAttribute::V},
    {attention::O, SdpaForwardAttribute::O},
    {attention::Stats, SdpaForwardAttribute::Stats},
    {attention::Attn_scale, SdpaForwardAttribute::Scale},
    {attention::Block_mask, SdpaForwardAttribute::Block_mask},
    {attention::Page_table_k, SdpaForwardAttribute::Page_table_k},
    {attention::Page_table_v, SdpaForwardAttribute::Page_table_v},
    {attention::Seq_len_q, SdpaForwardAttribute::Seq_len_q, SdpaForwardAttribute::Cu_seq_len_q},
    {attention::Seq_len_kv, SdpaForwardAttribute::Seq_len_kv, SdpaForwardAttribute::Cu_seq_len_kv},
};

// The operands for which it has no attribute. Limits refuse such graphs before they are lowered.
inline constexpr attention::Port kWithoutPlace[] = {
    attention::Bias,          attention::Seed,       attention::Offset, attention::Rng_dump, attention::Dropout_mask,
    attention::Dropout_scale, attention::Sink_token, attention::Max,    attention::Sum_exp,
};

// Whether an operand of forward attention is in exactly one of the two lists, once.
constexpr bool has_one_place(attention::Operand const& row) {
    bool const is_operand = attention::is_of_operation(row) && attention::is_used(row.forward);
    auto const places =
        std::ranges::count(kSdpaOperands, row.port, &SdpaOperand::port) + std::ranges::count(kWithoutPlace, row.port);
    return places == (is_operand ? 1 : 0);
}
static_assert(std::ranges::all_of(attention::kOperands, has_one_place));

}  // namespace cudnn_frontend::cudnn
