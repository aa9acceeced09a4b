#include "flash/runs/runs.h"
#include "flash/shapes.h"

#include <limits>

namespace sdpa_graph::flash {
namespace {

using enum Argument;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

error_t provide_results(Call& call, Sizes const& sizes, Forward_results& made) {
    DataType_t const type = call.at(Q)->type;
    SDPA_GRAPH_TRY(provide(call, sizes, Out, type, made.out));
    SDPA_GRAPH_TRY(provide(call, sizes, SoftmaxLse, DataType_t::FLOAT, made.softmax_lse));
    return call.return_softmax ? provide(call, sizes, P, type, made.p) : error_t();
}

void take_results(Call const& call, Forward_results& results) {
    take(call, Out, results.out);
    take(call, SoftmaxLse, results.softmax_lse);
    take(call, P, results.p);
    results.rng_state = call.has_dropout() ? *call.at(Seed) : Tensor_view();
}

error_t fill_probabilities(Call const& call, calls::Lease const& lease) {
    return call.return_softmax ? work(call, lease, calls::fill(*call.at(P), 0.0f)) : error_t();
}

error_t fill_results(Call const& call, calls::Lease const& lease) {
    SDPA_GRAPH_TRY(work(call, lease, calls::fill(*call.at(Out), 0.0f)));
    SDPA_GRAPH_TRY(work(call, lease, calls::fill(*call.at(SoftmaxLse), -kInfinity)));
    return fill_probabilities(call, lease);
}

// No key is visible to any query.
error_t see_nothing(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    SDPA_GRAPH_TRY(work(call, lease, write_unseeing_rows(call, sizes)));
    return fill_probabilities(call, lease);
}

error_t attend(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    auto const chosen = choose_plan(call, sizes, lease);
    if (chosen.is_bad()) return chosen.error();
    Shapes const& shapes = chosen.value().shapes;
    auto const scratch = Scratch::make(call, shapes, sizes, chosen.value().workspace_bytes());
    if (scratch.is_bad()) return scratch.error();
    Run const run{call, shapes, sizes, scratch.value()};
    if (shapes.is_packed) SDPA_GRAPH_TRY(work(call, lease, start_forward(run)));
    calls::Pack pack = inputs_of(run);
    pack.bind(Out, shapes.gathers_queries ? run.scratch.out() : call.at(Out)->data);
    bool const is_in_place = has_log_sums_in_place(run);
    pack.bind(SoftmaxLse, is_in_place ? call.at(SoftmaxLse)->data : run.scratch.log_sums());
    if (call.return_softmax) pack.bind(Extra::Dropped, run.scratch.kept());
    SDPA_GRAPH_TRY(chosen.value().run(lease, pack, run.scratch.workspace()));
    if (!is_in_place || !sees_everywhere(run)) SDPA_GRAPH_TRY(work(call, lease, end_forward(run)));
    return call.return_softmax ? work(call, lease, write_probabilities(run)) : error_t();
}

error_t run(Call const& call, Sizes const& sizes) {
    if (sizes.batches == 0) return {};
    auto const lease = calls::lease_target(*call.place, *call.at(Q));
    if (lease.is_bad()) return lease.error();
    if (call.zero_tensors) SDPA_GRAPH_TRY(fill_results(call, lease.value()));
    bool const is_empty = sizes.has_no_queries() || sizes.has_no_keys();
    return is_empty ? see_nothing(call, sizes.of_rows_there(), lease.value()) : attend(call, sizes, lease.value());
}

}  // namespace

error_t run_forward(Call& call, Forward_results& results) {
    Sizes const sizes = sizes_of(call);
    Forward_results made;
    SDPA_GRAPH_TRY(provide_results(call, sizes, made));
    SDPA_GRAPH_TRY(run(call, sizes));
    take_results(call, results);
    return {};
}

}  // namespace sdpa_graph::flash
