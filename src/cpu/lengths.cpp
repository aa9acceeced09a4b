#include "cpu/lengths.h"

namespace cudnn_frontend::inline v1::cpu {
namespace {

class LengthCheck {
   public:
    LengthCheck(ir::OpGraph const& graph, Memory const& memory) : graph_(graph), memory_(memory) {}

    error_t operator()(ir::MatmulOp const& op) const {
        core::Dims const &a = graph_.value(op.a).dim, &c = graph_.value(op.c).dim;
        SDPA_GRAPH_TRY(check(op.m_override, c[c.size() - 2]));
        SDPA_GRAPH_TRY(check(op.n_override, c[c.size() - 1]));
        return check(op.k_override, a[a.size() - 1]);
    }
    error_t operator()(ir::PagedLoadOp const& op) const { return check(op.length, ir::key_count(graph_, op)); }
    error_t operator()(ir::SdpaForwardOp const& op) const { return check_attention(op); }
    error_t operator()(ir::SdpaBackwardOp const& op) const { return check_attention(op); }
    template <class Other>
    error_t operator()(Other const&) const {
        return {};
    }

   private:
    template <class Attention>
    error_t check_attention(Attention const& op) const {
        SDPA_GRAPH_TRY(check(op.seq_len_q, graph_.value(op.q).dim[2]));
        return check(op.seq_len_kv, ir::key_count(graph_, op));
    }

    error_t check(ir::ValueId id, std::int64_t limit) const {
        if (id == ir::kNoValue) return {};
        ir::Value const& lengths = graph_.value(id);
        for (std::int64_t b = 0; b < lengths.dim[0]; ++b) {
            std::int64_t const length = memory_.integer(id, b * lengths.stride[0]);
            if (length < 0 || length > limit) return out_of_range(lengths, b, length, limit);
        }
        return {};
    }

    static error_t out_of_range(ir::Value const& lengths, std::int64_t batch, std::int64_t length, std::int64_t limit) {
        return {
            error_code_t::INVALID_VALUE,
            "Tensor '" + lengths.name + "' holds the length " + std::to_string(length) + " for batch entry " +
                std::to_string(batch) + "; lengths run from 0 to " + std::to_string(limit) +
                ", the size of the dim that they cut short. Nothing was written; correct the entry or use larger dims.",
            {"", "", lengths.name}};
    }

    ir::OpGraph const& graph_;
    Memory const& memory_;
};

}  // namespace

error_t check_lengths(ir::OpGraph const& graph, Memory const& memory) {
    LengthCheck const check(graph, memory);
    for (ir::Op const& op : graph.ops()) SDPA_GRAPH_TRY(std::visit(check, op.body));
    return {};
}

}  // namespace cudnn_frontend::inline v1::cpu
