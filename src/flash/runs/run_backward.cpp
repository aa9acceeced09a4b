#include "flash/runs/runs.h"
#include "flash/shapes.h"

#include <algorithm>

namespace sdpa_graph::flash {
namespace {

using enum Argument;

// Only backward itself reads softmax_d. On a GPU it costs time, so that it is written only if there is memory for it.
bool wants_softmax_d(Call const& call) { return !call.is_on_gpu() || call.has(SoftmaxD); }

error_t provide_results(Call& call, Sizes const& sizes, Backward_results& made) {
    DataType_t const type = call.at(Q)->type;
    SDPA_GRAPH_TRY(provide(call, sizes, DQ, type, made.dq));
    SDPA_GRAPH_TRY(provide(call, sizes, DK, type, made.dk));
    SDPA_GRAPH_TRY(provide(call, sizes, DV, type, made.dv));
    if (!wants_softmax_d(call)) return {};
    return provide(call, sizes, SoftmaxD, DataType_t::FLOAT, made.softmax_d);
}

void take_results(Call const& call, Backward_results& results) {
    take(call, DQ, results.dq);
    take(call, DK, results.dk);
    take(call, DV, results.dv);
    take(call, SoftmaxD, results.softmax_d);
}

error_t fill_results(Call const& call, calls::Lease const& lease) {
    for (Argument const argument : {DQ, DK, DV, SoftmaxD}) {
        if (call.has(argument)) SDPA_GRAPH_TRY(work(call, lease, calls::fill(*call.at(argument), 0.0f)));
    }
    return {};
}

struct Plans {
    Chosen of_all;
    std::shared_ptr<calls::ClassPlan<Shapes> const> of_squares;  // if the shapes have squares apart

    std::int64_t workspace_bytes() const {
        return std::max(of_all.workspace_bytes(), of_squares == nullptr ? 0 : of_squares->workspace_bytes());
    }
    error_t run(calls::Lease const& lease, calls::Pack& pack, Scratch const& scratch) const {
        SDPA_GRAPH_TRY(of_all.run(lease, pack, scratch.workspace()));
        if (of_squares == nullptr) return {};
        for (Extra const lengths : {Extra::LengthsQ, Extra::LengthsK}) pack.bind(lengths, scratch.squares());
        return of_squares->run(lease, pack, scratch.workspace());
    }
};

fe::Result<Plans> find_plans(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    Plans plans;
    SDPA_GRAPH_TRY(choose_plan(call, sizes, lease).move_to(plans.of_all));
    Shapes const& shapes = plans.of_all.shapes;
    if (shapes.has_squares_apart)
        SDPA_GRAPH_TRY(calls::ClassPlan<Shapes>::find(squares_of(shapes), lease.target).move_to(plans.of_squares));
    return plans;
}

error_t differentiate(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    auto const plans = find_plans(call, sizes, lease);
    if (plans.is_bad()) return plans.error();
    Shapes const& shapes = plans.value().of_all.shapes;
    auto const scratch = Scratch::make(call, shapes, sizes, plans.value().workspace_bytes());
    if (scratch.is_bad()) return scratch.error();
    Run const run{call, shapes, sizes, scratch.value()};
    if (shapes.is_packed) SDPA_GRAPH_TRY(work(call, lease, start_backward(run)));
    calls::Pack pack = inputs_of(run);
    pack.bind(SoftmaxLse, has_log_sums_in_place(run) ? call.at(SoftmaxLse)->data : run.scratch.log_sums());
    for (Argument const argument : {Out, DOut, DQ, DK, DV}) pack.bind(argument, call.at(argument)->data);
    SDPA_GRAPH_TRY(plans.value().run(lease, pack, run.scratch));
    if (!sees_everywhere(run)) SDPA_GRAPH_TRY(work(call, lease, end_backward(run)));
    return wants_softmax_d(call) ? work(call, lease, write_softmax_d(run)) : error_t();
}

// No key is visible to any query.
error_t see_nothing(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    SDPA_GRAPH_TRY(work(call, lease, write_gradients_of_nothing(call, sizes)));
    return call.has(SoftmaxD) ? work(call, lease, calls::fill(*call.at(SoftmaxD), 0.0f)) : error_t();
}

error_t run(Call const& call, Sizes const& sizes) {
    if (sizes.batches == 0) return {};
    auto const lease = calls::lease_target(*call.place, *call.at(Q));
    if (lease.is_bad()) return lease.error();
    if (call.zero_tensors) SDPA_GRAPH_TRY(fill_results(call, lease.value()));
    bool const is_empty = sizes.has_no_queries() || sizes.has_no_keys();
    return is_empty ? see_nothing(call, sizes.of_rows_there(), lease.value())
                    : differentiate(call, sizes, lease.value());
}

}  // namespace

error_t run_backward(Call& call, Backward_results& results) {
    Sizes const sizes = sizes_of(call);
    Backward_results made;
    SDPA_GRAPH_TRY(provide_results(call, sizes, made));
    SDPA_GRAPH_TRY(run(call, sizes));
    take_results(call, results);
    return {};
}

}  // namespace sdpa_graph::flash
