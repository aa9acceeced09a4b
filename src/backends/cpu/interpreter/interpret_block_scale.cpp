// Quantization and dequantization of blocks of numbers that share a scale.
#include "attention/block_scale.h"
#include "core/data_type.h"
#include "core/floats.h"
#include "cpu/interpreter/interpreter.h"

#include <cudnn_frontend/fp8.h>

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::cpu {
namespace {

// Finds the scale of a number by the number's index.
class Scales {
   public:
    Scales(Tensor const& tensor, std::int64_t axis)
        : tensor_(tensor), axis_(static_cast<std::size_t>(axis)), other_(axis == 2 ? 3 : 2) {}

    std::int64_t at(Extents const& index) const {
        Extents at = index;
        at[axis_] /= attention::kScaleBlock;
        if (tensor_.is_tiled) {
            std::int64_t const matrix = at[0] * tensor_.dim[1] + at[1];
            return matrix * tensor_.dim[2] * tensor_.dim[3] +
                   attention::index_128x4(at[other_], at[axis_], tensor_.dim[axis_]);
        }
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < tensor_.rank; ++d) offset += at[d] * tensor_.stride[d];
        return offset;
    }
    double load(Extents const& index) const { return core::load(tensor_.type, tensor_.data, at(index)); }
    void store(Extents const& index, double scale) const { store_row(tensor_, at(index), 1, 1, &scale); }

   private:
    Tensor tensor_;
    std::size_t axis_, other_;
};

double greatest_magnitude(Tensor const& x, std::int64_t offset, std::int64_t stride, std::int64_t count) {
    double greatest = 0.0;
    for (std::int64_t n = 0; n < count; ++n) {
        double const magnitude = std::abs(core::load(x.type, x.data, offset + n * stride));
        if (std::isfinite(magnitude)) greatest = std::max(greatest, magnitude);
    }
    return greatest;
}

}  // namespace

void interpret(ir::BlockDequantizeOp const& op, Memory const& memory, double*) {
    Tensor const x = memory.tensor(op.x), y = memory.tensor(op.y);
    Scales const scales(memory.tensor(op.scale), op.axis);
    Walk<2> element(y.rank, y.dim, {x.stride, y.stride});
    do {
        double const value = core::load(x.type, x.data, element.offset(0)) * scales.load(element.index());
        store_row(y, element.offset(1), 1, 1, &value);
    } while (element.next());
}

void interpret(ir::BlockQuantizeOp const& op, Memory const& memory, double*) {
    Tensor const x = memory.tensor(op.x), y = memory.tensor(op.y);
    Scales const scales(memory.tensor(op.scale), op.axis);
    auto const axis = static_cast<std::size_t>(op.axis);
    double const largest = double{fp8_largest(y.type)};
    Walk<2> element(y.rank, y.dim, {x.stride, y.stride});
    do {
        std::int64_t const first = element.index()[axis];
        if (first % attention::kScaleBlock != 0) continue;
        std::int64_t const count = std::min(attention::kScaleBlock, y.dim[axis] - first);
        double const magnitude = greatest_magnitude(x, element.offset(0), x.stride[axis], count);
        double const scale = core::e8m0_to_double(attention::block_exponent(magnitude, largest));
        scales.store(element.index(), scale);
        for (std::int64_t n = 0; n < count; ++n) {
            double const value = core::load(x.type, x.data, element.offset(0) + n * x.stride[axis]) / scale;
            store_row(y, element.offset(1) + n * y.stride[axis], 1, 1, &value);
        }
    } while (element.next());
}

}  // namespace cudnn_frontend::cpu
