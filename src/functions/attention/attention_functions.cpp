#include <sdpa_graph/attention.h>

#include "calls/row_work.h"
#include "calls/view_properties.h"
#include "core/dims.h"
#include "core/guard.h"
#include "functions/attention/rules.h"
#include "functions/attention/runs.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sdpa_graph::attention {
namespace {

using enum Argument;

void set_inputs(Call& call, Inputs const& inputs) {
    call.set(Q, inputs.q);
    call.set(K, inputs.k);
    call.set(V, inputs.v);
    call.set(Bias, inputs.bias);
    call.set(Sink, inputs.sink);
    call.set(SeqLenQ, inputs.seq_len_q);
    call.set(SeqLenKv, inputs.seq_len_kv);
    call.set(CuSeqlensQ, inputs.cu_seqlens_q);
    call.set(CuSeqlensKv, inputs.cu_seqlens_kv);
    call.set(PageTable, inputs.page_table);
    call.set(Seed, inputs.seed);
}

// A view without memory whose dims but the last lie in memory in the order of the other's, without gaps.
Tensor_view view_like(Tensor_view const& like, Few_dims const& dim, DataType_t type) {
    Tensor_view view = calls::view_on_device_of(like, {dim.begin(), dim.size()}, type);
    std::vector<std::size_t> order(dim.size() - 1);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return like.stride[i]; });
    std::int64_t step = view.dim.back();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
        view.stride[*at] = step;
        step = fe::core::saturating_multiply(step, std::max<std::int64_t>(view.dim[*at], 1));
    }
    return view;
}

// Memory for a result that the caller did not pass.
error_t provide(Call& call, Sizes const& sizes, Argument argument, Argument like, Tensor_view& made) {
    if (call.has(argument)) return {};
    DataType_t const type = argument == Stats ? DataType_t::FLOAT : call.at(Q)->type;
    made = view_like(*call.at(like), wanted_dims(call, sizes, argument), type);
    SDPA_GRAPH_TRY(calls::allocate({call.place, call.function, memory_rule()}, name_of(argument), made));
    call.set(argument, made);
    return {};
}

void take(Call const& call, Argument argument, Tensor_view& result) {
    if (call.has(argument) && call.at(argument) != &result) result = *call.at(argument);
}

calls::Pack pack_of(Run const& run) {
    calls::Pack pack;
    for (std::size_t i = 0; i < static_cast<std::size_t>(SeqLenQ); ++i) {
        auto const argument = static_cast<Argument>(i);
        if (run.call.has(argument)) pack.bind(argument, run.call.at(argument)->data);
        if (run.shapes.has_table(argument))
            pack.bind(static_cast<std::size_t>(Extra::FirstStarts) + i, run.scratch.starts(argument));
    }
    if (run.shapes.has_lengths) {
        bool const are_made = needs_tables(run);
        pack.bind(Extra::LengthsQ, are_made ? run.scratch.lengths_q() : run.call.at(SeqLenQ)->data);
        pack.bind(Extra::LengthsKv, are_made ? run.scratch.lengths_kv() : run.call.at(SeqLenKv)->data);
    }
    if (run.call.has_pages()) pack.bind(PageTable, run.call.at(PageTable)->data);
    if (run.call.has_dropout()) {
        auto* const seed = static_cast<std::int64_t*>(run.call.at(Seed)->data);
        pack.bind(Seed, seed);
        pack.bind(static_cast<std::size_t>(Extra::FirstStarts) + static_cast<std::size_t>(Seed), seed + 1);
    }
    return pack;
}

error_t attend(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    auto const chosen = choose_plan(call, sizes, lease);
    if (chosen.is_bad()) return chosen.error();
    Chosen const& choice = chosen.value();
    auto const scratch = Scratch::make(call, choice.shapes, choice.workspace_bytes());
    if (scratch.is_bad()) return scratch.error();
    Run const run{call, sizes, choice.form, choice.shapes, scratch.value()};
    calls::Site const site{call.place, lease, *call.at(Q)};
    if (needs_tables(run)) SDPA_GRAPH_TRY(calls::work_on_rows(site, write_tables(run)));
    SDPA_GRAPH_TRY(choice.run(lease, pack_of(run), run.scratch.workspace()));
    return choice.form.has_slots ? calls::work_on_rows(site, clear_padding(run)) : error_t();
}

// No key is visible to any query.
error_t see_nothing(Call const& call, calls::Lease const& lease) {
    calls::Site const site{call.place, lease, *call.at(Q)};
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (Argument const argument : {O, Stats, DQ, DK, DV, DBias, DSink}) {
        bool const is_result = call.is_backward == (argument != O && argument != Stats);
        if (!is_result || !call.has(argument)) continue;
        float const value = argument == Stats ? -kInfinity : 0.0f;
        SDPA_GRAPH_TRY(calls::work_on_rows(site, calls::fill(*call.at(argument), value)));
    }
    return {};
}

error_t run(Call const& call, Sizes const& sizes) {
    auto const lease = calls::lease_target(call.place, *call.at(Q));
    if (lease.is_bad()) return lease.error();
    bool const is_empty = sizes.batches == 0 || calls::is_empty(*call.at(Q)) || calls::is_empty(*call.at(K));
    return is_empty ? see_nothing(call, lease.value()) : attend(call, sizes, lease.value());
}

}  // namespace

error_t forward(Inputs const& inputs, Options const& options, bool wants_stats, Place const& place,
                Forward_results& results) noexcept {
    return fe::core::guarded([&]() -> error_t {
        Call call{.function = "attention::forward",
                  .is_backward = false,
                  .wants_stats = wants_stats,
                  .options = options,
                  .place = place};
        set_inputs(call, inputs);
        call.set_if_given(O, results.o);
        if (wants_stats) call.set_if_given(Stats, results.stats);
        SDPA_GRAPH_TRY(check(call));
        Sizes const sizes = sizes_of(call);
        Forward_results made;
        SDPA_GRAPH_TRY(provide(call, sizes, O, Q, made.o));
        if (wants_stats) SDPA_GRAPH_TRY(provide(call, sizes, Stats, Q, made.stats));
        SDPA_GRAPH_TRY(run(call, sizes));
        take(call, O, results.o);
        take(call, Stats, results.stats);
        return {};
    });
}

error_t backward(Tensor_view const& grad_o, Inputs const& inputs, Tensor_view const& o, Tensor_view const& stats,
                 Options const& options, Place const& place, Backward_results& results) noexcept {
    return fe::core::guarded([&]() -> error_t {
        Call call{.function = "attention::backward",
                  .is_backward = true,
                  .wants_stats = true,
                  .options = options,
                  .place = place};
        set_inputs(call, inputs);
        call.set(GradO, grad_o);
        call.set(O, o);
        call.set(Stats, stats);
        call.set_if_given(DQ, results.dq);
        call.set_if_given(DK, results.dk);
        call.set_if_given(DV, results.dv);
        call.set_if_given(DBias, results.dbias);
        call.set_if_given(DSink, results.dsink);
        SDPA_GRAPH_TRY(check(call));
        Sizes const sizes = sizes_of(call);
        Backward_results made;
        SDPA_GRAPH_TRY(provide(call, sizes, DQ, Q, made.dq));
        SDPA_GRAPH_TRY(provide(call, sizes, DK, K, made.dk));
        SDPA_GRAPH_TRY(provide(call, sizes, DV, V, made.dv));
        SDPA_GRAPH_TRY(run(call, sizes));
        take(call, DQ, results.dq);
        take(call, DK, results.dk);
        take(call, DV, results.dv);
        return {};
    });
}

}  // namespace sdpa_graph::attention
