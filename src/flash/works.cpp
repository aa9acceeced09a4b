#include "flash/works.h"

#include "calls/views.h"
#include "flash/band.h"
#include "flash/lengths.h"

#include <algorithm>
#include <bit>

namespace sdpa_graph::flash {
namespace {

using enum Argument;
namespace rows = fe::rows;
using rows::Access;

int const* integers(Call const& call, Argument argument) {
    return call.has(argument) ? static_cast<int const*>(call.at(argument)->data) : nullptr;
}

// Of a tensor with rows.
Access rows_of(Call const& call, Argument argument) {
    Tensor_view const& view = *call.at(argument);
    if (call.is_packed) return {view.data, 0, view.stride[0], 0, view.stride[1]};
    return {view.data, view.stride[0], 0, view.stride[1], view.stride[2]};
}

// Of a result with one number for each row and head, contiguous, of so many columns.
Access numbers_of(Call const& call, Argument argument, std::int64_t gap) {
    Tensor_view const& view = *call.at(argument);
    std::int64_t const columns = view.dim.back();
    if (call.is_packed) return {view.data, gap, 1, 0, columns};
    return {view.data, view.dim[1] * columns, 0, 1, columns};
}

Access log_sums_of(Call const& call) { return numbers_of(call, SOFTMAX_LSE, 0); }

// As the graph has them: a row holds all heads.
Access log_sums_of_graph(Run const& run) {
    if (!run.call.is_packed) return {};
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
    Pages const pages = pages_of(run.call);
    Tensor_view const& table = *run.call.at(BLOCK_TABLE);
    return {integers(run.call, BLOCK_TABLE), table.stride[0], pages.rows, pages.parts, pages.step, run.scratch.table(),
            run.shapes.page_columns()};
}

}  // namespace

rows::Sequences sequences_of(Run const& run) {
    Call const& call = run.call;
    Band const band = band_of(call, run.sizes);
    rows::Sequences all{};
    if (call.is_packed) {
        all.totals_q = integers(call, CU_SEQLENS_Q);
        all.totals_k = integers(call, CU_SEQLENS_K);
        all.lengths_q = run.scratch.lengths_q();
        all.lengths_k = run.scratch.lengths_k();
    }
    all.batches = run.sizes.batches;
    all.queries = run.sizes.queries;
    all.keys = run.sizes.keys;
    all.left = bound_of(band.left);
    all.right = bound_of(band.right);
    return all;
}

bool sees_keys_everywhere(Call const& call, Sizes const& sizes) {
    Band const band = band_of(call, sizes);
    return !band.right || sizes.queries - sizes.keys <= *band.right;
}

rows::Work make_tables(Run const& run) {
    rows::Tables tables{};
    tables.totals_q = integers(run.call, CU_SEQLENS_Q);
    tables.totals_k = integers(run.call, CU_SEQLENS_K);
    tables.used_k = integers(run.call, SEQUSED_K);
    tables.batches = run.sizes.batches;
    tables.queries = run.sizes.queries;
    tables.keys = std::min(run.sizes.keys, run.shapes.keys);
    tables.lengths_q = run.scratch.lengths_q();
    tables.lengths_k = run.scratch.lengths_k();
    for (Starts const& starts : starts_of(run.shapes)) {
        auto const number = static_cast<std::size_t>(tables.offset_count++);
        tables.offsets[number] = {run.scratch.starts(number), starts.row, starts.is_of_keys};
    }
    tables.pages = pages_of(run);
    return tables;
}

rows::Work gather_queries(Run const& run) {
    return rows::Copy{sequences_of(run),     run.sizes.total_q,    run.shapes.heads,
                      chunks_of(run.shapes), rows_of(run.call, Q), gathered(run, run.scratch.q())};
}

rows::Work spread_outputs(Run const& run) {
    return rows::Copy{sequences_of(run),
                      run.sizes.total_q,
                      run.shapes.heads,
                      chunks_of(run.shapes),
                      gathered(run, run.scratch.out()),
                      rows_of(run.call, OUT)};
}

rows::Work end_forward(Run const& run) {
    return rows::Forward_end{sequences_of(run),      run.sizes.total_q,     run.shapes.heads,      run.shapes.width,
                             log_sums_of_graph(run), log_sums_of(run.call), rows_of(run.call, OUT)};
}

rows::Work write_probabilities(Run const& run) {
    Call const& call = run.call;
    rows::Probabilities work{};
    work.sequences = sequences_of(run);
    work.heads = run.shapes.heads;
    work.heads_of_key = run.shapes.heads / run.shapes.key_heads;
    work.width = run.shapes.width;
    work.scale = run.shapes.scale;
    if (call.has(ALIBI_SLOPES)) work.slopes = static_cast<float const*>(call.at(ALIBI_SLOPES)->data);
    work.slopes_of_batch = run.shapes.slope_stride;
    work.is_sloped_by_key = run.shapes.alibi == Alibi::BY_KEY;
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
    return rows::Backward_start{sequences_of(run), run.sizes.total_q, run.shapes.heads, log_sums_of(run.call),
                                log_sums_of_graph(run)};
}

rows::Work clear_unseeing_queries(Run const& run) {
    return rows::Unseen{sequences_of(run),     false, run.sizes.total_q, run.shapes.heads, run.shapes.width,
                        rows_of(run.call, DQ), {}};
}

rows::Work clear_unseen_keys(Run const& run) {
    return rows::Unseen{
        sequences_of(run),    true, run.sizes.total_k, run.shapes.key_heads, run.shapes.width, rows_of(run.call, DK),
        rows_of(run.call, DV)};
}

rows::Work write_softmax_d(Run const& run) {
    constexpr std::int64_t kPaddingOfSequence = 128;
    return rows::Softmax_d{sequences_of(run),
                           run.sizes.total_q,
                           run.shapes.heads,
                           run.shapes.width,
                           rows_of(run.call, DOUT),
                           rows_of(run.call, OUT),
                           numbers_of(run.call, SOFTMAX_D, kPaddingOfSequence),
                           1.0f - run.call.p_dropout};
}

rows::Work fill(Tensor_view const& view, float value) {
    rows::Fill work{};
    work.start = view.data;
    work.count = calls::elements_of(view);
    std::fill(std::begin(work.sizes), std::end(work.sizes), 1);
    for (std::size_t dim = 0; dim < view.dim.size(); ++dim) {
        work.sizes[dim] = view.dim[view.dim.size() - 1 - dim];
        work.strides[dim] = view.stride[view.dim.size() - 1 - dim];
    }
    work.bits = std::bit_cast<unsigned>(value);
    work.has_four_bytes = view.type == DataType_t::FLOAT;
    return work;
}

}  // namespace sdpa_graph::flash
