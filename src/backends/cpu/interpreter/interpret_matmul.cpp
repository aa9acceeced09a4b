// The matrix product with fp64 accumulation: one batch entry after the other, with B as doubles in the scratch.
#include "cpu/interpreter/interpreter.h"

#include "core/dims.h"

#include <algorithm>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

struct MatmulSizes {
    std::int64_t m, n, k;
};

class MatmulRun {
   public:
    MatmulRun(ir::MatmulOp const& op, Memory const& memory, double* scratch)
        : op_(op), memory_(memory), a_(memory.tensor(op.a)), b_(memory.tensor(op.b)), c_(memory.tensor(op.c)) {
        std::size_t const row = c_.rank - 2, column = c_.rank - 1;
        full_ = {c_.dim[row], c_.dim[column], a_.dim[column]};
        b_matrix_ = scratch;
        a_row_ = b_matrix_ + full_.k * full_.n;
        c_row_ = a_row_ + full_.k;
    }

    void run() {
        Walk<1> batches(c_.rank - 2, c_.dim, {c_.stride});
        do {
            run_entry(batches.index(), batches.offset(0));
        } while (batches.next());
    }

   private:
    std::int64_t length(ir::ValueId lengths, std::int64_t batch, std::int64_t full) const {
        if (lengths == ir::kNoValue) return full;
        return memory_.integer(lengths, batch * memory_.tensor(lengths).stride[0]);
    }

    // Groups of adjacent entries of C share one entry of a smaller operand.
    std::int64_t batch_offset(Tensor const& operand, Extents const& index) const {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d + 2 < c_.rank; ++d) {
            offset += index[d] / (c_.dim[d] / operand.dim[d]) * operand.stride[d];
        }
        return offset;
    }

    void run_entry(Extents const& index, std::int64_t c_offset) {
        MatmulSizes const size{length(op_.m_override, index[0], full_.m), length(op_.n_override, index[0], full_.n),
                               length(op_.k_override, index[0], full_.k)};
        std::size_t const row = c_.rank - 2, column = c_.rank - 1;
        std::int64_t const a_offset = batch_offset(a_, index), b_offset = batch_offset(b_, index);
        for (std::int64_t k = 0; k < size.k; ++k) {
            load_row(b_, b_offset + k * b_.stride[row], b_.stride[column], size.n, b_matrix_ + k * size.n);
        }
        for (std::int64_t i = 0; i < full_.m; ++i) {
            bool const is_padding = i >= size.m;
            std::fill_n(c_row_, full_.n, op_.padding);
            if (!is_padding) multiply_row(a_offset + i * a_.stride[row], size);
            store_row(c_, c_offset + i * c_.stride[row], c_.stride[column], full_.n, c_row_);
        }
    }

    void multiply_row(std::int64_t a_offset, MatmulSizes const& size) {
        load_row(a_, a_offset, a_.stride[a_.rank - 1], size.k, a_row_);
        std::fill_n(c_row_, size.n, 0.0);
        for (std::int64_t k = 0; k < size.k; ++k) {
            double const factor = a_row_[k];
            if (op_.a_masks && factor == 0.0) continue;
            double const* const b_row = b_matrix_ + k * size.n;
            for (std::int64_t j = 0; j < size.n; ++j) c_row_[j] += factor * b_row[j];
        }
    }

    ir::MatmulOp const& op_;
    Memory const& memory_;
    Tensor a_, b_, c_;
    MatmulSizes full_{};
    double *b_matrix_, *a_row_, *c_row_;
};

}  // namespace

std::optional<std::int64_t> interpreter_scratch(ir::OpGraph const& graph, ir::MatmulOp const& op) {
    core::Dims const& b = graph.value(op.b).dim;
    std::int64_t const k = b[b.size() - 2], n = b[b.size() - 1];
    auto const matrix = core::volume({k, n});
    if (!matrix || *matrix > std::numeric_limits<std::int64_t>::max() / 4) return std::nullopt;
    return *matrix + k + n;  // B, a row of A and a row of C
}

void interpret(ir::MatmulOp const& op, Memory const& memory, double* scratch) { MatmulRun(op, memory, scratch).run(); }

}  // namespace cudnn_frontend::cpu
