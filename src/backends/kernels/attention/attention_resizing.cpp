#include "kernels/attention/attention_resizing.h"

#include "core/findings.h"
#include "core/text.h"
#include "kernels/attention/attention_rules.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;
using attention::Size;
using core::text;

error_t refusal(std::string const& tensor, std::string found, std::string needed) {
    return core::error_at(tensor, error_code_t::GRAPH_NOT_SUPPORTED, std::move(found), std::move(needed),
                          "build a graph of these shapes");
}

// A size of the problem by what it counts; 0 for sizes that no operand of the kernels has.
std::int64_t size_of(AttentionKernelProblem const& problem, Size size) {
    switch (size) {
        case Size::One: return 1;
        case Size::B: return problem.batches();
        case Size::Hq: return problem.heads();
        case Size::Hk: return problem.key_heads();
        case Size::Hv: return problem.operand(Port::V).dims[1];
        case Size::Sq: return problem.queries();
        case Size::Skv: return problem.keys();
        case Size::Dqk: return problem.operand(Port::Q).dims[3];
        case Size::Dv: return problem.operand(Port::V).dims[3];
        default: return 0;
    }
}

class Resizer {
   public:
    Resizer(AttentionKernelProblem const& problem, std::span<KernelPlace const> places, plan::TensorShapes shapes)
        : before_(problem), places_(places), shapes_(shapes), problem_(problem) {}

    Result<AttentionKernelProblem> run() {
        SDPA_GRAPH_TRY(check_kind());
        SDPA_GRAPH_TRY(replace_shapes());
        SDPA_GRAPH_TRY(check_sizes());
        SDPA_GRAPH_TRY(check_code());
        SDPA_GRAPH_TRY(for_each_operand([&](attention::Operand const& row) { return check_operand(row); }));
        SDPA_GRAPH_TRY(check_lengths("the lengths of queries", before_.query_lengths));
        SDPA_GRAPH_TRY(check_lengths("the lengths of keys", before_.key_lengths));
        if (!may_have_sizes_of(problem_)) {
            return refusal("the matrices", "sizes or strides that a rule of the engine refuses",
                           "those of a graph that it runs");
        }
        return std::move(problem_);
    }

   private:
    template <class Visit>
    error_t for_each_operand(Visit const& visit) {
        for (attention::Operand const& row : attention::kOperands) {
            if (attention::is_of_operation(row) && problem_.has(row.port)) SDPA_GRAPH_TRY(visit(row));
        }
        return {};
    }
    // Null for a tensor that keeps its shape.
    plan::TensorShape const* shape_of(std::size_t pointer) const {
        auto const found = std::ranges::find(shapes_, places_[pointer].uid, &plan::TensorShape::uid);
        return found == shapes_.end() ? nullptr : &*found;
    }

    error_t check_kind() const {
        if (before_.is_packed()) return refusal("Q", "packed sequences", "tensors without ragged offsets");
        if (before_.keys_in_pages) return refusal("K and V", "pages", "tensors without page tables");
        if (before_.has(Port::BlockMask)) return refusal("the scores", "a block mask", "none");
        if (before_.score_tensors.empty() && !before_.finds_blocks()) return {};
        return refusal("the scores", "a score modifier that reads tensors or hides scores", "another one, or none");
    }

    error_t replace_shapes() {
        return for_each_operand([&](attention::Operand const& row) -> error_t {
            PlacedOperand& operand = *problem_.operands[row.port];
            plan::TensorShape const* const shape = shape_of(operand.pointer);
            if (shape == nullptr) return {};
            operand.dims.assign(shape->dim.begin(), shape->dim.end());
            operand.strides.assign(shape->stride.begin(), shape->stride.end());
            return {};
        });
    }

    error_t check_sizes() const {
        if (std::max(problem_.queries(), problem_.keys()) > attention::kMaxLength) {
            return refusal("Q and K", text("lengths of ", problem_.queries(), " and ", problem_.keys()),
                           text("at most ", attention::kMaxLength));
        }
        if (problem_.heads() % problem_.key_heads() == 0) return {};
        return refusal("K", text(problem_.key_heads(), " heads for ", problem_.heads(), " in Q"), "a divisor of these");
    }

    // The kernels' code has head dims in it, and how the gradient of a bias is summed.
    error_t check_code() const {
        for (Port const port : {Port::Q, Port::V}) {
            std::int64_t const before = before_.operand(port).dims[3], now = problem_.operand(port).dims[3];
            if (before != now) return refusal(port == Port::Q ? "Q" : "V", text("a head dim of ", now), text(before));
        }
        if (before_.sums_bias_gradient() == problem_.sums_bias_gradient()) return {};
        return refusal("dBias", text("dims ", problem_.operand(Port::DBias).dims),
                       "a sum over scores only where it was one in the graph");
    }

    error_t check_operand(attention::Operand const& row) const {
        PlacedOperand const& operand = problem_.operand(row.port);
        core::Dims wanted;
        for (Size const size : row.shape.sizes) wanted.push_back(size_of(problem_, size));
        bool const has_dims = row.shape.broadcasts ? core::broadcasts_to(operand.dims, wanted) : operand.dims == wanted;
        if (!has_dims) return refusal(row.name, text("dims ", operand.dims), core::to_string(wanted));
        bool const is_written = attention::makes(problem_.is_backward ? row.backward : row.forward);
        if (!is_written || !core::overlaps_itself(operand.dims, operand.strides)) return {};
        return refusal(row.name, text("strides ", operand.strides), "results whose elements do not overlap");
    }

    // One for each batch entry, or their sums, one after the other.
    error_t check_lengths(char const* name, std::optional<SequenceLengths> const& lengths) const {
        if (!lengths) return {};
        plan::TensorShape const* const shape = shape_of(lengths->pointer);
        std::int64_t const wanted = problem_.batches() + (lengths->are_sums ? 1 : 0);
        std::int64_t const found = shape != nullptr ? shape->dim[0] : before_.batches() + (lengths->are_sums ? 1 : 0);
        if (found == wanted && (shape == nullptr || shape->stride[0] == 1)) return {};
        return refusal(name, text(found, " numbers"), text(wanted, ", one after the other"));
    }

    AttentionKernelProblem const& before_;
    std::span<KernelPlace const> places_;
    plan::TensorShapes shapes_;
    AttentionKernelProblem problem_;
};

}  // namespace

Result<AttentionKernelProblem> resized(AttentionKernelProblem const& problem, std::span<KernelPlace const> places,
                                       plan::TensorShapes shapes) {
    return Resizer(problem, places, shapes).run();
}

}  // namespace cudnn_frontend::kernels
