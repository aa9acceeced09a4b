#include "cpu/lengths.h"

#include <algorithm>
#include <limits>

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

    error_t out_of_range(ir::Value const& lengths, std::int64_t batch, std::int64_t length, std::int64_t limit) const {
        std::string const& name = lengths.steps_of == ir::kNoValue ? lengths.name : graph_.value(lengths.steps_of).name;
        return {
            error_code_t::INVALID_VALUE,
            "Tensor '" + name + "' " + told_length(lengths, batch, length) + " for batch entry " +
                std::to_string(batch) + "; lengths run from 0 to " + std::to_string(limit) +
                ", the size of the dim that they cut short. Nothing was written; correct the entry or use larger dims.",
            {"", "", name}};
    }

    std::string told_length(ir::Value const& lengths, std::int64_t batch, std::int64_t length) const {
        if (lengths.steps_of == ir::kNoValue) return "holds the length " + std::to_string(length);
        std::int64_t const stride = graph_.value(lengths.steps_of).stride[0];
        return "goes from " + std::to_string(memory_.integer(lengths.steps_of, batch * stride)) + " to " +
               std::to_string(memory_.integer(lengths.steps_of, (batch + 1) * stride));
    }

    ir::OpGraph const& graph_;
    Memory const& memory_;
};

}  // namespace

// What is no length in 32 bits, check_lengths() finds out of range.
static std::int32_t step(std::int64_t from, std::int64_t to) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(to, from, &difference)) return -1;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(difference, -1, std::numeric_limits<std::int32_t>::max()));
}

std::vector<ir::ValueId> values_of_steps(ir::OpGraph const& graph) {
    std::vector<ir::ValueId> ids;
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
        if (graph.values()[i].steps_of != ir::kNoValue) ids.push_back(static_cast<ir::ValueId>(i));
    }
    return ids;
}

void compute_steps(ir::OpGraph const& graph, std::span<ir::ValueId const> values, Memory const& memory) {
    for (ir::ValueId const id : values) {
        ir::Value const& value = graph.value(id);
        std::int64_t const stride = graph.value(value.steps_of).stride[0];
        auto* const steps = static_cast<std::int32_t*>(memory.view(id).data);
        for (std::int64_t b = 0; b < value.dim[0]; ++b) {
            steps[b] =
                step(memory.integer(value.steps_of, b * stride), memory.integer(value.steps_of, (b + 1) * stride));
        }
    }
}

error_t check_lengths(ir::OpGraph const& graph, Memory const& memory) {
    LengthCheck const check(graph, memory);
    for (ir::Op const& op : graph.ops()) SDPA_GRAPH_TRY(std::visit(check, op.body));
    return {};
}

}  // namespace cudnn_frontend::inline v1::cpu
