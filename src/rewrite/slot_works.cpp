#include "rewrite/program.h"

#include "attention/philox.h"
#include "core/data_type.h"
#include "rows/documents.h"
#include "rows/dropout_mask.h"
#include "rows/padding.h"
#include "rows/tables.h"

namespace cudnn_frontend::rewrite {
namespace {

// The pointers of a joint, one after the other.
class SlotOperands {
   public:
    explicit SlotOperands(std::span<void* const> pointers) : pointers_(pointers) {}

    template <class Element>
    Element* next() {
        return static_cast<Element*>(pointers_[at_++]);
    }
    template <class Element>
    Element* next_if(bool is_there) {
        return is_there ? next<Element>() : nullptr;
    }

   private:
    std::span<void* const> pointers_;
    std::size_t at_ = 0;
};

rows::Sequences sequences_of(SlotSequences const& sequences, SlotOperands& operands) {
    rows::Sequences all{};
    all.used_q = operands.next_if<int const>(sequences.given_queries.has_value());
    all.used_k = operands.next_if<int const>(sequences.given_keys.has_value());
    all.totals_q = operands.next_if<int const>(sequences.totals_queries.has_value());
    all.totals_k = operands.next_if<int const>(sequences.totals_keys.has_value());
    all.batches = sequences.batches;
    all.queries = sequences.queries;
    all.keys = sequences.keys;
    all.left = all.right = -1;
    return all;
}

rows::Offsets offsets_of(SlotTables::Starts const& starts, SlotOperands& operands) {
    rows::Offsets offsets{};
    offsets.result = operands.next<long long>();
    offsets.by_sequence = starts.by_sequence;
    offsets.by_head = starts.by_head;
    offsets.heads_together = starts.heads_together;
    offsets.is_of_keys = starts.is_of_keys;
    offsets.given = operands.next_if<void const>(starts.given.has_value());
    offsets.unit = starts.unit;
    offsets.is_given_in_64_bits = starts.given && starts.given->type == DataType_t::INT64;
    return offsets;
}

rows::Padding::PaddedTensor rows_of(ClearPadding::Rows const& rows, bool is_packed, SlotOperands& operands) {
    View const& view = rows.tensor;
    auto* const start = operands.next<void>();
    auto const access = is_packed ? rows::Access{start, 0, view.stride[2], 0, view.stride[1]}
                                  : rows::Access{start, view.stride[0], 0, view.stride[2], view.stride[1]};
    int const element_bytes = static_cast<int>(core::size_of(view.type));
    return {access,        view.dim[0] * view.dim[2], view.dim[1], view.dim[3], rows.is_of_keys,
            element_bytes, rows.is_log_sums};
}

rows::Documents::Side side_of(DocumentTables::Side const& side, SlotOperands& operands) {
    rows::Documents::Side work{};
    work.starts = operands.next<void const>();
    work.has_64_bits = side.starts.type == DataType_t::INT64;
    work.unit = side.unit;
    work.row = side.row;
    work.lengths = operands.next<int const>();
    work.first = side.first;
    work.end = side.end;
    work.used = operands.next<int>();
    work.totals = operands.next<int>();
    work.before = operands.next_if<int>(side.before.has_value());
    return work;
}

rows::Dropout_mask::Integer integer_of(View const& view, SlotOperands& operands) {
    return {operands.next<void const>(), view.type == DataType_t::INT64};
}

unsigned bits_of_one(DataType_t type) {
    switch (type) {
        case DataType_t::HALF: return 0x3c00u;
        case DataType_t::BFLOAT16: return 0x3f80u;
        default: return 0x3f800000u;
    }
}

}  // namespace

rows::Tables work_of(SlotTables const& tables, std::span<void* const> pointers) {
    SlotOperands operands(pointers);
    rows::Tables work{};
    work.sequences = sequences_of(tables.sequences, operands);
    work.slots = tables.queries.dim[0];
    work.slots_of_sequence = tables.slots_of_sequence;
    work.lengths_q = operands.next<int>();
    work.lengths_k = operands.next<int>();
    for (SlotTables::Starts const& starts : tables.starts) {
        work.offsets[work.offset_count++] = offsets_of(starts, operands);
    }
    return work;
}

rows::Padding work_of(ClearPadding const& padding, std::span<void* const> pointers) {
    SlotOperands operands(pointers);
    rows::Padding work{};
    work.sequences = sequences_of(padding.sequences, operands);
    for (ClearPadding::Rows const& rows : padding.tensors) {
        auto const& totals = rows.is_of_keys ? padding.sequences.totals_keys : padding.sequences.totals_queries;
        work.tensors[work.tensor_count++] = rows_of(rows, totals.has_value(), operands);
    }
    work.sink = operands.next_if<unsigned const>(padding.sink.has_value());
    return work;
}

rows::Documents work_of(DocumentTables const& tables, std::span<void* const> pointers) {
    SlotOperands operands(pointers);
    rows::Documents work{};
    work.queries = side_of(tables.queries, operands);
    work.keys = side_of(tables.keys, operands);
    work.batches = tables.batches;
    for (DocumentTables::Starts const& starts : tables.starts) {
        work.starts[work.start_count++] = {operands.next<long long>(), starts.by_row, starts.is_of_keys};
    }
    return work;
}

rows::Dropout_mask work_of(DropoutMask const& mask, std::span<void* const> pointers) {
    SlotOperands operands(pointers);
    double const kept = 1.0 - mask.probability;
    rows::Dropout_mask work{};
    work.seed = integer_of(mask.seed, operands);
    work.offset = integer_of(mask.offset, operands);
    work.last_kept = attention::last_kept_word(kept);
    work.all_heads = mask.heads;
    work.all_queries = mask.queries;
    work.all_groups = (mask.keys + 3) / 4;
    work.batches = mask.mask.dim[0];
    work.heads = mask.mask.dim[1];
    work.queries = mask.mask.dim[2];
    work.keys = mask.mask.dim[3];
    work.first_head = mask.first_head;
    work.first_query = mask.first_query;
    work.first_key = mask.first_key;
    work.mask = operands.next<void>();
    work.one = bits_of_one(mask.mask.type);
    work.has_four_bytes = mask.mask.type == DataType_t::FLOAT;
    work.scale = operands.next<float>();
    work.inverse = operands.next_if<float>(mask.inverse.has_value());
    work.queries_before = operands.next_if<int const>(mask.queries_before.has_value());
    work.keys_before = operands.next_if<int const>(mask.keys_before.has_value());
    work.scale_number = static_cast<float>(1.0 / kept);
    work.inverse_number = static_cast<float>(kept);
    return work;
}

}  // namespace cudnn_frontend::rewrite
