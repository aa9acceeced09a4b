// Reductions in fp64: each element of the result folds a box of the operand.
#include "cpu/interpreter/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class ReductionRun {
   public:
    ReductionRun(ir::ReductionOp const& op, Memory const& memory)
        : mode_(op.mode), x_(memory.tensor(op.x)), y_(memory.tensor(op.y)), lengths_(memory.view(op.rows)) {
        for (std::size_t d = 0; d < x_.rank; ++d) {
            box_[d] = x_.dim[d] / y_.dim[d];
            box_stride_[d] = x_.stride[d] * box_[d];
            box_volume_ *= box_[d];
        }
    }

    void run() {
        Walk<2> results(y_.rank, y_.dim, {y_.stride, box_stride_});
        do {
            double const result = reduce_box(results.offset(1));
            store_row(y_, results.offset(0), 1, 1, &result);
        } while (results.next());
    }

   private:
    double reduce_box(std::int64_t offset) const {
        switch (mode_) {
            case ReductionMode_t::ADD: return sum(offset);
            case ReductionMode_t::AVG: return sum(offset) / static_cast<double>(box_volume_);
            case ReductionMode_t::MUL: return fold(offset, 1.0, [](double all, double x) { return all * x; });
            case ReductionMode_t::MUL_NO_ZEROS:
                return fold(offset, 1.0, [](double all, double x) { return x == 0.0 ? all : all * x; });
            case ReductionMode_t::MAX: return fold(offset, -kInfinity, maximum);
            case ReductionMode_t::MIN: return fold(offset, kInfinity, minimum);
            case ReductionMode_t::AMAX:
                return fold(offset, 0.0, [](double all, double x) { return maximum(all, std::abs(x)); });
            case ReductionMode_t::NORM1:
                return fold(offset, 0.0, [](double all, double x) { return all + std::abs(x); });
            case ReductionMode_t::NORM2:
                return std::sqrt(fold(offset, 0.0, [](double all, double x) { return all + x * x; }));
            case ReductionMode_t::NOT_SET: break;
        }
        return 0.0;
    }

    // NaN in either operand is NaN in the result.
    static double maximum(double all, double x) { return std::isnan(all) || all > x ? all : x; }
    static double minimum(double all, double x) { return std::isnan(all) || all < x ? all : x; }

    double sum(std::int64_t offset) const {
        return fold(offset, 0.0, [](double all, double x) { return all + x; });
    }

    // If there are lengths, the box starts at the first row of the first batch entry.
    bool counts(Extents const& row) const {
        return !lengths_ || row[2] < core::load_integer(lengths_.type, lengths_.data, lengths_.at(row[0], 0, 0, 0));
    }

    template <class Function>
    double fold(std::int64_t offset, double start, Function const& f) const {
        std::size_t const last = x_.rank - 1;
        std::array<double, kChunk> row;
        double all = start;
        Walk<1> rows(last, box_, {x_.stride});
        do {
            if (!counts(rows.index())) continue;
            for (std::int64_t column = 0; column < box_[last]; column += kChunk) {
                std::int64_t const count = std::min(kChunk, box_[last] - column);
                load_row(x_, offset + rows.offset(0) + column * x_.stride[last], x_.stride[last], count, row.data());
                for (std::int64_t i = 0; i < count; ++i) all = f(all, row[static_cast<std::size_t>(i)]);
            }
        } while (rows.next());
        return all;
    }

    ReductionMode_t mode_;
    Tensor x_, y_;
    DataView lengths_;
    Extents box_{}, box_stride_{};
    std::int64_t box_volume_ = 1;
};

}  // namespace

void interpret(ir::ReductionOp const& op, Memory const& memory, double*) { ReductionRun(op, memory).run(); }

}  // namespace cudnn_frontend::cpu
