#include "cpu/interpreter.h"

#include "cpu/block_mask.h"
#include "cpu/pages.h"
#include "cpu/philox.h"
#include "cpu/pointwise.h"

#include <algorithm>
#include <numeric>

namespace cudnn_frontend::cpu {
namespace {

// Computes the result row by row, each in chunks that go through buffers of doubles.
class PointwiseRun {
   public:
    PointwiseRun(ir::PointwiseOp const& op, Memory const& memory) : op_(op), out_(memory.tensor(op.out)) {
        strides_[kOut] = out_.stride;
        for (std::size_t i = 0; i < kOut; ++i) {
            if (op.in[i] == ir::kNoValue) continue;
            in_[i] = memory.tensor(op.in[i]);
            strides_[i] = broadcast_strides(in_[i], out_);
        }
    }

    void run() {
        std::size_t const last = out_.rank - 1;
        Walk<4> rows(last, out_.dim, strides_);
        do {
            for (std::int64_t column = 0; column < out_.dim[last]; column += kChunk) {
                run_chunk(rows, column, std::min(kChunk, out_.dim[last] - column));
            }
        } while (rows.next());
    }

   private:
    static constexpr std::size_t kOut = 3;

    void run_chunk(Walk<4> const& rows, std::int64_t column, std::int64_t count) {
        std::size_t const last = out_.rank - 1;
        if (op_.mode == PointwiseMode_t::GEN_INDEX) {
            fill_index(rows.index(), column);
        } else {
            for (std::size_t i = 0; i < kOut; ++i) {
                std::int64_t const stride = strides_[i][last];
                if (in_[i].data != nullptr) {
                    load_row(in_[i], rows.offset(i) + column * stride, stride, count, buffers_[i].data());
                }
            }
            apply(op_, {{buffers_[0].data(), buffers_[1].data(), buffers_[2].data()}, buffers_[kOut].data(), count});
        }
        std::int64_t const stride = strides_[kOut][last];
        store_row(out_, rows.offset(kOut) + column * stride, stride, count, buffers_[kOut].data());
    }

    void fill_index(Extents const& index, std::int64_t column) {
        auto const axis = static_cast<std::size_t>(op_.axis);
        auto& result = buffers_[kOut];
        if (axis + 1 == out_.rank) {
            std::iota(result.begin(), result.end(), static_cast<double>(column));
        } else {
            result.fill(static_cast<double>(index[axis]));
        }
    }

    ir::PointwiseOp const& op_;
    Tensor out_;
    std::array<Tensor, kOut> in_{};
    std::array<Extents, 4> strides_{};  // of the operands, then of the result
    std::array<std::array<double, kChunk>, 4> buffers_;
};

void fill_chunk(DropoutMask const& mask, std::int64_t row, std::int64_t column, std::int64_t count, double* values) {
    static_assert(kChunk % 4 == 0, "a chunk starts at a group of four columns");
    PhiloxBlock block{};
    for (std::int64_t i = 0; i < count; ++i) {
        if (i % 4 == 0) block = mask.group(row, (column + i) / 4);
        values[i] = block[static_cast<std::size_t>(i % 4)] < mask.threshold() ? 1.0 : 0.0;
    }
}

}  // namespace

void interpret(ir::PointwiseOp const& op, Memory const& memory, double*) { PointwiseRun(op, memory).run(); }

void interpret(ir::RngOp const& op, Memory const& memory, double*) {
    Tensor const y = memory.tensor(op.y);
    std::size_t const last = y.rank - 1;
    std::int64_t const columns = y.dim[last], stride = y.stride[last];
    DropoutMask const mask(memory.integer(op.seed, 0), memory.integer(op.offset, 0), op.probability, columns);
    std::array<double, kChunk> values;
    std::int64_t row = 0;
    Walk<1> rows(last, y.dim, {y.stride});
    do {
        for (std::int64_t column = 0; column < columns; column += kChunk) {
            std::int64_t const count = std::min(kChunk, columns - column);
            fill_chunk(mask, row, column, count, values.data());
            store_row(y, rows.offset(0) + column * stride, stride, count, values.data());
        }
        ++row;
    } while (rows.next());
}

void interpret(ir::PagedLoadOp const& op, Memory const& memory, double*) {
    Tensor const y = memory.tensor(op.y);
    View const from = paged_view(memory.view(op.container), memory.view(op.table), y.dim[0], y.dim[2]);
    View const lengths = memory.view(op.length);
    Walk<1> element(y.rank, y.dim, {y.stride});
    do {
        Extents const& at = element.index();
        bool const is_there = at[2] < core::load_integer(lengths.type, lengths.data, lengths.at(at[0], 0, 0, 0));
        double const value = is_there ? core::load(from.type, from.data, from.at(at[0], at[1], at[2], at[3])) : 0.0;
        store_row(y, element.offset(0), 1, 1, &value);
    } while (element.next());
}

void interpret(ir::BlockMaskOp const& op, Memory const& memory, double*) {
    Tensor const y = memory.tensor(op.y);
    BlockMask const mask(memory.view(op.mask));
    Walk<1> element(y.rank, y.dim, {y.stride});
    do {
        Extents const& at = element.index();
        double const value = mask.keeps(at[0], at[1], at[2], at[3]) ? 1.0 : 0.0;
        store_row(y, element.offset(0), 1, 1, &value);
    } while (element.next());
}

}  // namespace cudnn_frontend::cpu
