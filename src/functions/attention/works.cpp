#include "functions/attention/runs.h"

#include "calls/result_memory.h"
#include "core/data_type.h"
#include "functions/attention/rules.h"

#include <initializer_list>

namespace sdpa_graph::attention {
namespace {

using enum Argument;
namespace rows = fe::rows;

int const* integers(Call const& call, Argument argument) {
    return call.has(argument) ? static_cast<int const*>(call.at(argument)->data) : nullptr;
}

rows::Sequences sequences_of(Run const& run) {
    rows::Sequences all{};
    all.totals_q = integers(run.call, CuSeqlensQ);
    all.totals_k = integers(run.call, CuSeqlensKv);
    all.used_q = integers(run.call, SeqLenQ);
    all.used_k = integers(run.call, SeqLenKv);
    all.batches = run.sizes.batches;
    all.queries = run.sizes.queries;
    all.keys = run.sizes.keys;
    all.left = all.right = -1;
    return all;
}

rows::Offsets offsets_of(Run const& run, Argument argument) {
    RowLayout const at = run.call.rows_of(argument);
    rows::Offsets offsets{};
    offsets.result = run.scratch.starts(argument);
    offsets.by_sequence = at.by_sequence;
    offsets.by_row = at.by_row;
    offsets.by_head = run.form.has_slots_of_heads ? at.by_head : 0;
    offsets.heads_together = run.sizes.heads / at.heads;
    offsets.is_of_keys = is_of_keys(argument);
    return offsets;
}

rows::Tables tables_of(Run const& run) {
    rows::Tables tables{};
    tables.sequences = sequences_of(run);
    tables.slots = run.shapes.slots;
    tables.slots_of_sequence = run.form.has_slots_of_heads ? run.sizes.heads : 1;
    tables.lengths_q = run.scratch.lengths_q();
    tables.lengths_k = run.scratch.lengths_kv();
    for (Argument const argument : kRowTensors) {
        if (run.shapes.has_table(argument)) tables.offsets[tables.offset_count++] = offsets_of(run, argument);
    }
    return tables;
}

// A packed row is found by its number, a padded one by its sequence and its position there.
rows::Padding::PaddedTensor rows_of(Run const& run, Argument argument) {
    RowLayout const at = run.call.rows_of(argument);
    bool const is_packed = run.call.is_packed(argument), has_keys = is_of_keys(argument);
    rows::Access const access{run.call.at(argument)->data, at.by_sequence, is_packed ? at.by_row : 0,
                              is_packed ? 0 : at.by_row, at.by_head};
    int const element_bytes = static_cast<int>(fe::core::size_of(run.call.at(argument)->type));
    return {access, has_keys ? run.sizes.total_kv : run.sizes.total_q, at.heads, at.width, has_keys, element_bytes,
            false};
}

bool may_have_padding(Call const& call, Argument argument) {
    bool const has_keys = is_of_keys(argument);
    return call.is_packed(argument) || call.has(has_keys ? SeqLenKv : SeqLenQ);
}

std::initializer_list<Argument> results_of(Call const& call) {
    static constexpr std::initializer_list<Argument> forward = {O}, backward = {DQ, DK, DV};
    return call.is_backward ? backward : forward;
}

}  // namespace

fe::Result<Scratch> Scratch::make(Call const& call, Shapes const& shapes, std::int64_t workspace) {
    constexpr std::int64_t kInteger = sizeof(int), kLong = sizeof(long long);
    Scratch scratch;
    calls::ScratchPieces pieces;
    scratch.workspace_ = pieces.add({workspace});
    if (shapes.has_lengths) {
        scratch.lengths_q_ = pieces.add({shapes.slots, kInteger});
        scratch.lengths_kv_ = pieces.add({shapes.slots, kInteger});
    }
    for (Argument const argument : kRowTensors) {
        if (shapes.has_table(argument))
            scratch.starts_[static_cast<std::size_t>(argument)] = pieces.add({shapes.slots + 1, kLong});
    }
    calls::AllocationRequest const request{call.place, call.function, memory_rule()};
    SDPA_GRAPH_TRY(calls::Workspace::make(request, *call.at(Argument::Q), pieces.bytes()).move_to(scratch.memory_));
    return scratch;
}

bool needs_tables(Run const& run) {
    bool const has_both_lengths = run.call.has(SeqLenQ) && run.call.has(SeqLenKv);
    return run.form.has_slots || (run.shapes.has_lengths && !has_both_lengths);
}

rows::Work write_tables(Run const& run) {
    if (run.call.is_backward) return rows::Backward_start{{tables_of(run), {}}};
    return rows::Forward_start{{tables_of(run), {}}};
}

rows::Work clear_padding(Run const& run) {
    rows::Padding work{};
    work.sequences = sequences_of(run);
    for (Argument const argument : results_of(run.call)) {
        if (may_have_padding(run.call, argument)) work.tensors[work.tensor_count++] = rows_of(run, argument);
    }
    return work;
}

}  // namespace sdpa_graph::attention
