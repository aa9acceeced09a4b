#include "cpu/memory/workspace.h"

#include "core/data_type.h"

#include <algorithm>
#include <cstring>

namespace cudnn_frontend::cpu {
namespace {

// Calls visit(value id, its sequences) for each tensor of the role that has a copy.
template <class Visit>
void for_each_copy(ir::OpGraph const& graph, Memory const& memory, ir::Role role,
                   std::vector<PackedSequences> const& sequences, Visit const& visit) {
    for (std::size_t i = 0; i < graph.bindings().size(); ++i) {
        ir::ValueId const id = graph.bindings()[i].value;
        if (graph.value(id).role == role && memory.has_copy(id)) visit(id, sequences[i]);
    }
}

// Calls visit(offset in the caller's tensor, offset in the copy) for each row of the tensor.
template <class Visit>
void for_each_row(Tensor const& copy, PackedSequences const& sequences, Visit const& visit) {
    if (sequences.empty()) {
        Walk<1> rows(copy.rank - 1, copy.dim, {copy.stride});
        do {
            visit(rows.offset(0), rows.offset(0));
        } while (rows.next());
        return;
    }
    for (std::size_t b = 0; b < sequences.size(); ++b) {
        for (std::int64_t h = 0; h < copy.dim[1]; ++h) {
            for (std::int64_t i = 0; i < sequences[b].rows; ++i) {
                std::int64_t const in_entry = h * copy.stride[1] + i * copy.stride[2];
                visit(sequences[b].start + in_entry, static_cast<std::int64_t>(b) * copy.stride[0] + in_entry);
            }
        }
    }
}

// Both have the same rows.
void copy_row(Tensor const& from, std::int64_t from_offset, Tensor const& to, std::int64_t to_offset) {
    std::int64_t const columns = from.dim[from.rank - 1], stride = from.stride[from.rank - 1];
    std::array<double, kChunk> numbers;
    for (std::int64_t column = 0; column < columns; column += kChunk) {
        std::int64_t const count = std::min(kChunk, columns - column), at = column * stride;
        load_row(from, from_offset + at, stride, count, numbers.data());
        store_row(to, to_offset + at, stride, count, numbers.data());
    }
}

}  // namespace

void fill_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences) {
    for_each_copy(graph, memory, ir::Role::Input, sequences, [&](ir::ValueId id, PackedSequences const& of_tensor) {
        Tensor const from = memory.callers_tensor(id), copy = memory.tensor(id);
        std::memset(copy.data, 0, static_cast<std::size_t>(copy.dim[0] * copy.stride[0] * core::size_of(copy.type)));
        for_each_row(copy, of_tensor,
                     [&](std::int64_t at, std::int64_t at_copy) { copy_row(from, at, copy, at_copy); });
    });
}

void store_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences) {
    for_each_copy(graph, memory, ir::Role::Output, sequences, [&](ir::ValueId id, PackedSequences const& of_tensor) {
        Tensor const to = memory.callers_tensor(id), copy = memory.tensor(id);
        for_each_row(copy, of_tensor, [&](std::int64_t at, std::int64_t at_copy) { copy_row(copy, at_copy, to, at); });
    });
}

}  // namespace cudnn_frontend::cpu
