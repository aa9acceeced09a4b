#include "cpu/memory/indices.h"

#include "core/text.h"
#include "plan/packs/run_rules.h"

#include <algorithm>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

class LengthCheck {
   public:
    LengthCheck(ir::OpGraph const& graph, Memory const& memory) : graph_(graph), memory_(memory) {}

    void operator()(ir::MatmulOp const& op) {
        core::Dims const &a = graph_.value(op.a).dim, &c = graph_.value(op.c).dim;
        check(op.m_override, c[c.size() - 2]);
        check(op.n_override, c[c.size() - 1]);
        check(op.k_override, a[a.size() - 1]);
    }
    void operator()(ir::ReductionOp const& op) {
        if (op.rows != ir::kNoValue) check(op.rows, graph_.value(op.x).dim[2]);
    }
    void operator()(ir::PagedLoadOp const& op) { check(op.length, ir::key_count(graph_, op)); }
    void operator()(ir::SdpaForwardOp const& op) { check_attention(op); }
    void operator()(ir::SdpaBackwardOp const& op) { check_attention(op); }
    template <class Other>
    void operator()(Other const&) {}

    error_t error() const { return findings_.to_error(); }

   private:
    template <class Attention>
    void check_attention(Attention const& op) {
        using namespace attention;
        check(op.operands[SeqLenQ], graph_.value(op.operands[Q]).dim[2]);
        check(op.operands[SeqLenKv], ir::key_count(graph_, op));
    }

    void check(ir::ValueId id, std::int64_t limit) {
        if (id == ir::kNoValue || findings_.has(&tensor_of(id))) return;
        ir::Value const& lengths = graph_.value(id);
        for (std::int64_t b = 0; b < lengths.dim[0]; ++b) {
            std::int64_t const length = memory_.integer(id, b * lengths.stride[0]);
            if (length < 0 || length > limit) return add_out_of_range(id, b, length, limit);
        }
    }

    // The caller's tensor that holds the lengths, or the cumulative lengths.
    ir::Value const& tensor_of(ir::ValueId id) const {
        ir::ValueId const sums = graph_.value(id).steps_of;
        return graph_.value(sums == ir::kNoValue ? id : sums);
    }

    void add_out_of_range(ir::ValueId id, std::int64_t batch, std::int64_t length, std::int64_t limit) {
        ir::Value const& tensor = tensor_of(id);
        findings_.add(
            plan::run_rules::kLengths.violation(
                "", tensor.name, core::text(length_text(graph_.value(id), batch, length), " for batch entry ", batch),
                core::text("lengths from 0 to ", limit, ", the size of the dim that they cut short"),
                "correct the entry, or use larger dims; nothing was written"),
            &tensor);
    }

    std::string length_text(ir::Value const& lengths, std::int64_t batch, std::int64_t length) const {
        if (lengths.steps_of == ir::kNoValue) return core::text("the length ", length);
        std::int64_t const stride = graph_.value(lengths.steps_of).stride[0];
        return core::text("cumulative lengths from ", memory_.integer(lengths.steps_of, batch * stride), " to ",
                          memory_.integer(lengths.steps_of, (batch + 1) * stride));
    }

    ir::OpGraph const& graph_;
    Memory const& memory_;
    core::Findings findings_;  // the first of each tensor
};

}  // namespace

// A difference that does not fit 32 bits becomes one that check_lengths() finds out of range.
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
    LengthCheck check(graph, memory);
    for (ir::Op const& op : graph.ops()) std::visit(check, op.body);
    return check.error();
}

}  // namespace cudnn_frontend::cpu
