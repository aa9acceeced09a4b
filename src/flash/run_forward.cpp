#include "flash/bind.h"
#include "flash/memory.h"
#include "flash/runs.h"

#include <limits>

namespace sdpa_graph::flash {
namespace {

using enum Argument;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

error_t provide_results(Call& call, Sizes const& sizes, Forward_results& results) {
    DataType_t const type = call.at(Q)->type;
    SDPA_GRAPH_TRY(provide(call, sizes, OUT, type, results.out));
    SDPA_GRAPH_TRY(provide(call, sizes, SOFTMAX_LSE, DataType_t::FLOAT, results.softmax_lse));
    if (call.return_softmax) SDPA_GRAPH_TRY(provide(call, sizes, P, type, results.p));
    if (call.has_dropout()) results.rng_state = *call.at(SEED);
    return {};
}

error_t fill_results(Call const& call, calls::Lease const& lease, Forward_results const& results, float log_sum) {
    SDPA_GRAPH_TRY(work(call, lease, fill(results.out, 0.0f)));
    SDPA_GRAPH_TRY(work(call, lease, fill(results.softmax_lse, log_sum)));
    return call.return_softmax ? work(call, lease, fill(results.p, 0.0f)) : error_t();
}

error_t attend(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    Shapes const shapes = shapes_of(call, sizes, lease.target);
    auto const plan = calls::Plan<Shapes>::find(shapes, lease.target);
    if (plan.is_bad()) return plan.error();
    auto const scratch = Scratch::make(call, shapes, sizes, plan.value()->workspace_bytes());
    if (scratch.is_bad()) return scratch.error();
    Run const run{call, shapes, sizes, scratch.value()};
    if (call.is_packed) SDPA_GRAPH_TRY(work(call, lease, start_forward(run)));
    calls::Pack pack = inputs_of(run);
    pack.bind(OUT, shapes.gathers_queries ? run.scratch.out() : call.at(OUT)->data);
    pack.bind(SOFTMAX_LSE, call.is_packed ? run.scratch.log_sums() : call.at(SOFTMAX_LSE)->data);
    if (call.return_softmax) pack.bind(Extra::DROPPED, run.scratch.kept());
    SDPA_GRAPH_TRY(plan.value()->run(pack, run.scratch.workspace()));
    if (call.is_packed || !sees_everywhere(run)) SDPA_GRAPH_TRY(work(call, lease, end_forward(run)));
    return call.return_softmax ? work(call, lease, write_probabilities(run)) : error_t();
}

}  // namespace

error_t run_forward(Call& call, Forward_results& results) {
    Sizes const sizes = sizes_of(call);
    SDPA_GRAPH_TRY(provide_results(call, sizes, results));
    if (sizes.batches == 0 || sizes.queries == 0 || sizes.total_q == 0) return {};
    auto const lease = calls::lease_target(*call.place, *call.at(Q));
    if (lease.is_bad()) return lease.error();
    if (call.zero_tensors) SDPA_GRAPH_TRY(fill_results(call, lease.value(), results, -kInfinity));
    bool const has_keys = sizes.keys > 0 && sizes.total_k > 0;
    return has_keys ? attend(call, sizes, lease.value()) : fill_results(call, lease.value(), results, kInfinity);
}

}  // namespace sdpa_graph::flash
