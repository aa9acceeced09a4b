#include "rewrite/rewrites/rewrites.h"

#include "rewrite/program_builder.h"
#include "rewrite/view_moves.h"

#include <algorithm>
#include <array>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using enum error_code_t;

constexpr char const* kName = "converted";
constexpr std::array kLengths = {Port::SeqLenQ, Port::SeqLenKv};

bool is_long(Attention const& a, int port) { return a.has(port) && a.tensor(port)->data_type == DataType_t::INT64; }

bool has_long_lengths(Attention const& a) {
    return a.fields().padding_mask && std::ranges::any_of(kLengths, [&](int port) { return is_long(a, port); });
}

bool has_narrow_stats(Attention const& a) {
    return !a.is_backward() && a.has(Port::Stats) && a.tensor(Port::Stats)->data_type != DataType_t::FLOAT;
}

constexpr Condition kConditions[] = {
    {"converted.c01", "lengths of INT64, or Stats of HALF or BFLOAT16 to be written", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return has_long_lengths(a) || has_narrow_stats(a); }},
    {"converted.c02", "no cumulative lengths with lengths of INT64", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         auto const is_there = [&](int port) { return a.has(port); };
         return !has_long_lengths(a) || std::ranges::all_of(kLengths, is_there);
     }},
    {"converted.c03", "Stats that are not packed by lengths, where they are of HALF or BFLOAT16", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return !has_narrow_stats(a) || a.tensor(Port::Stats)->ragged_offset == nodes::kNoTensor;
     }},
};

// Lengths fit 32 bits, which come first in memory.
View low_halves(View view) {
    if (view.type != DataType_t::INT64) return view;
    view.type = DataType_t::INT32;
    for (std::int64_t& stride : view.stride) stride *= 2;
    return view;
}

// The dims {batch, 1} are those that split_lengths() needs.
View as_one_part(View view) {
    view.dim = {view.dim[0], 1};
    view.stride = {view.stride[0], 1};
    return view;
}

View in_batch(View view) {
    view.dim = {view.dim[0], 1, 1, 1};
    view.stride = {1, 1, 1, 1};
    return view;
}

// The keys are one part, and each query is a row.
void narrow_lengths(Attention const& a, ProgramBuilder& program, AttentionDraft& draft) {
    auto const given = [&](int port) { return as_one_part(low_halves(a.view(port))); };
    View const queries = program.scratch(DataType_t::INT32, {a.batches, 1});
    View const keys = program.scratch(DataType_t::INT32, {a.batches, 1});
    program.split_lengths({given(Port::SeqLenQ), given(Port::SeqLenKv), queries, keys, 1, a.keys});
    draft.place(Port::SeqLenQ, in_batch(queries));
    draft.place(Port::SeqLenKv, in_batch(keys));
}

}  // namespace

Result<Program> converted(Attention const& attention) {
    SDPA_GRAPH_TRY(check(kName, kConditions, attention));
    ProgramBuilder program(kName);
    AttentionDraft draft = AttentionDraft::of_whole(attention);
    if (has_long_lengths(attention)) narrow_lengths(attention, program, draft);
    std::optional<View> stats;
    if (has_narrow_stats(attention)) {
        stats = program.scratch(DataType_t::FLOAT, attention.tensor(Port::Stats)->dim);
        draft.place(Port::Stats, *stats);
    }
    SDPA_GRAPH_TRY(program.attend(std::move(draft)));
    if (stats) program.copy(*stats, attention.view(Port::Stats));
    return program.take();
}

}  // namespace cudnn_frontend::rewrite
