#include "flash/runs/runs.h"

#include "flash/lengths.h"

#include <algorithm>

namespace sdpa_graph::flash {
namespace {

using enum Argument;
namespace rows = fe::rows;
using rows::Access;

int const* integers(Call const& call, Argument argument) {
    return call.has(argument) ? static_cast<int const*>(call.at(argument)->data) : nullptr;
}

// The rows of a tensor.
Access rows_of(Call const& call, Argument argument) {
    Tensor_view const& view = *call.at(argument);
    if (call.is_packed) return {view.data, 0, view.stride[0], 0, view.stride[1]};
    return {view.data, view.stride[0], 0, view.stride[1], view.stride[2]};
}

// A result with one number for each row and head, contiguous, with that many columns.
Access numbers_of(Call const& call, Argument argument, std::int64_t gap) {
    Tensor_view const& view = *call.at(argument);
    std::int64_t const columns = view.dim.back();
    if (call.is_packed) return {view.data, gap, 1, 0, columns};
    return {view.data, view.dim[1] * columns, 0, 1, columns};
}

Access log_sums_of(Call const& call) {
    Tensor_view const& view = *call.at(SoftmaxLse);
    if (!call.is_packed) return {view.data, view.stride[0], 0, view.stride[2], view.stride[1]};
    return {view.data, 0, view.stride[1], 0, view.stride[0]};
}

// The log-sum-exps in the order of the graph: a row holds all heads. Empty if the caller's are in that order.
Access log_sums_of_graph(Run const& run) {
    if (has_log_sums_in_place(run)) return {};
    std::int64_t const heads = run.shapes.heads;
    bool const is_gathered = run.shapes.gathers_queries;
    return {run.scratch.log_sums(), is_gathered ? heads : 0, is_gathered ? 0 : heads, 0, 1};
}

Access gathered(Run const& run, void* memory) {
    return {memory, run.shapes.heads * run.shapes.width, 0, 0, run.shapes.width};
}

std::int64_t chunks_of(Shapes const& shapes) {
    constexpr std::int64_t kElements = 8;
    return shapes.width / kElements;
}

long long bound_of(std::optional<std::int64_t> const& window) { return window.value_or(-1); }

rows::Pages pages_of(Run const& run) {
    if (!run.call.has_pages()) return {};
    PageParts const pages = pages_of(run.call);
    Tensor_view const& table = *run.call.at(BlockTable);
    return {integers(run.call, BlockTable), table.stride[0], pages.rows, pages.parts, pages.step, run.scratch.table(),
            run.shapes.page_columns()};
}

// The sequences without a window.
rows::Sequences sequences_of(Call const& call, Sizes const& sizes) {
    rows::Sequences all{};
    if (call.is_packed) {
        all.totals_q = integers(call, CuSeqlensQ);
        all.totals_k = integers(call, CuSeqlensK);
        all.used_k = integers(call, SequsedK);
    }
    all.batches = sizes.batches;
    all.queries = sizes.queries;
    all.keys = sizes.keys;
    all.left = all.right = bound_of(std::nullopt);
    return all;
}

rows::Sequences sequences_of(Run const& run) {
    rows::Sequences all = sequences_of(run.call, run.sizes);
    all.keys = std::min(run.sizes.keys, run.shapes.keys);
    all.left = bound_of(run.shapes.band.left);
    all.right = bound_of(run.shapes.band.right);
    return all;
}

// The log-sum-exps of the graph have their rows one after the other.
rows::Offsets offsets_of(Run const& run, StartTable const& starts, long long* result) {
    bool const is_of_log_sums = starts.argument == SoftmaxLse;
    long long const by_sequence = is_of_log_sums        ? run.sizes.queries * run.shapes.heads
                                  : !run.call.is_packed ? run.call.at(starts.argument)->stride[0]
                                                        : 0;
    return {result, by_sequence, starts.row, 0, 1, starts.is_of_keys};
}

rows::Tables tables_of(Run const& run) {
    rows::Tables tables{};
    tables.sequences = sequences_of(run);
    tables.slots = run.shapes.slots;
    tables.slots_of_sequence = 1;
    tables.lengths_q = run.scratch.lengths_q();
    tables.lengths_k = run.scratch.lengths_k();
    if (run.shapes.has_squares_apart) tables.squares = run.scratch.squares();
    for (StartTable const& starts : starts_of(run.shapes)) {
        auto const number = static_cast<std::size_t>(tables.offset_count++);
        tables.offsets[number] = offsets_of(run, starts, run.scratch.starts(number));
    }
    tables.pages = pages_of(run);
    return tables;
}

rows::Copy copy(Run const& run, Access const& from, Access const& to) {
    return {sequences_of(run), run.sizes.total_q, run.shapes.heads, chunks_of(run.shapes), from, to};
}

}  // namespace

bool has_log_sums_in_place(Run const& run) {
    return !run.shapes.is_packed || (run.call.has_log_sums_by_row() && !run.shapes.gathers_queries);
}

bool sees_everywhere(Run const& run) {
    auto const& right = run.shapes.band.right;
    if (run.call.is_packed) return run.shapes.is_square;  // a query sees the key at its own position
    return !right || run.sizes.queries - run.sizes.keys <= *right;
}

rows::Work start_forward(Run const& run) {
    rows::Forward_start work{{tables_of(run), {}}};
    if (run.shapes.gathers_queries) work.second = copy(run, rows_of(run.call, Q), gathered(run, run.scratch.q()));
    return work;
}

rows::Work end_forward(Run const& run) {
    bool const is_gathered = run.shapes.gathers_queries;
    Access const out = rows_of(run.call, Out);
    rows::Forward_end work{{{sequences_of(run), run.sizes.total_q, run.shapes.heads, run.shapes.width,
                             log_sums_of_graph(run), log_sums_of(run.call), is_gathered ? Access{} : out},
                            {}}};
    if (is_gathered) work.second = copy(run, gathered(run, run.scratch.out()), out);
    return work;
}

rows::Work write_probabilities(Run const& run) {
    Call const& call = run.call;
    rows::Probabilities work{};
    work.sequences = sequences_of(run);
    work.heads = run.shapes.heads;
    work.heads_of_key = run.shapes.heads / run.shapes.key_heads;
    work.width = run.shapes.width;
    work.scale = run.shapes.scale;
    if (call.has(AlibiSlopes)) work.slopes = static_cast<float const*>(call.at(AlibiSlopes)->data);
    work.slopes_of_batch = run.shapes.slope_stride;
    work.is_sloped_by_key = run.shapes.alibi == Alibi::ByKey;
    work.q = rows_of(call, Q);
    work.k = rows_of(call, K);
    work.log_sums = log_sums_of(call);
    work.kept = run.scratch.kept();
    work.kept_queries = run.shapes.queries;
    work.kept_keys = run.shapes.keys;
    Tensor_view const& p = *call.at(P);
    work.result = p.data;
    work.queries = p.dim[2];
    work.keys = p.dim[3];
    return work;
}

rows::Work start_backward(Run const& run) {
    rows::Backward_start work{{tables_of(run), {}}};
    if (!has_log_sums_in_place(run))
        work.second = {sequences_of(run), run.sizes.total_q, run.shapes.heads, log_sums_of(run.call),
                       log_sums_of_graph(run)};
    return work;
}

// The graph itself writes zeros for padded keys that are visible to no query.
rows::Work end_backward(Run const& run) {
    rows::Backward_end work{
        {{sequences_of(run), run.sizes.total_q, run.shapes.heads, run.shapes.width, rows_of(run.call, DQ)}, {}}};
    if (run.shapes.is_packed)
        work.second = {sequences_of(run), run.sizes.total_k,     run.shapes.key_heads,
                       run.shapes.width,  rows_of(run.call, DK), rows_of(run.call, DV)};
    return work;
}

rows::Work write_softmax_d(Run const& run) {
    constexpr std::int64_t kPaddingOfSequence = 128;
    return rows::Softmax_d{sequences_of(run),
                           run.sizes.total_q,
                           run.shapes.heads,
                           run.shapes.width,
                           rows_of(run.call, DOut),
                           rows_of(run.call, Out),
                           numbers_of(run.call, SoftmaxD, kPaddingOfSequence),
                           1.0f - run.call.p_dropout};
}

rows::Work write_unseeing_rows(Call const& call, Sizes const& sizes) {
    return rows::Forward_end{{{sequences_of(call, sizes), sizes.total_q, sizes.heads, sizes.width, Access{},
                               log_sums_of(call), rows_of(call, Out)},
                              {}}};
}

rows::Work write_gradients_of_nothing(Call const& call, Sizes const& sizes) {
    rows::Sequences const sequences = sequences_of(call, sizes);
    return rows::Backward_end{
        {{sequences, sizes.total_q, sizes.heads, sizes.width, rows_of(call, DQ)},
         {sequences, sizes.total_k, sizes.key_heads, sizes.width, rows_of(call, DK), rows_of(call, DV)}}};
}

error_t work(Call const& call, calls::Lease const& lease, rows::Work const& work) {
    if (call.worker != nullptr) return call.worker->run(work);
    return calls::work_on_rows({*call.place, lease, *call.at(Q)}, work);
}

}  // namespace sdpa_graph::flash
