#include "cpu/interpreter/interpreter.h"

#include "attention/philox.h"
#include "cpu/memory/indices.h"
#include "cpu/memory/view.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

void fill_chunk(attention::PhiloxMask const& mask, std::int64_t row, std::int64_t column, std::int64_t count,
                double* values) {
    static_assert(kChunk % 4 == 0, "a chunk starts at a group of four columns");
    attention::PhiloxBlock block{};
    for (std::int64_t i = 0; i < count; ++i) {
        if (i % 4 == 0) block = mask.group(row, (column + i) / 4);
        values[i] = block[static_cast<std::size_t>(i % 4)] <= mask.last_kept() ? 1.0 : 0.0;
    }
}

}  // namespace

void interpret(ir::RngOp const& op, Memory const& memory, double*) {
    Tensor const y = memory.tensor(op.y);
    std::size_t const last = y.rank - 1;
    std::int64_t const columns = y.dim[last], stride = y.stride[last];
    attention::PhiloxMask const mask(memory.integer(op.seed, 0), memory.integer(op.offset, 0), op.probability, columns);
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
    DataView const from = paged_view(memory.view(op.container), memory.view(op.table), y.dim[0], y.dim[2]);
    DataView const lengths = memory.view(op.length);
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
