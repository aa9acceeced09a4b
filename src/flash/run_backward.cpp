#include "flash/pack_call.h"
#include "flash/rows.h"
#include "flash/runs.h"

namespace sdpa_graph::flash {
namespace {

using enum Argument;

bool is_on_cpu(Call const& call) { return call.at(Q)->device == Device_kind::CPU; }

error_t provide_results(Call& call, Sizes const& sizes, Backward_results& results) {
    DataType_t const type = call.at(Q)->type;
    SDPA_GRAPH_TRY(provide(call, sizes, DQ, type, results.dq));
    SDPA_GRAPH_TRY(provide(call, sizes, DK, type, results.dk));
    SDPA_GRAPH_TRY(provide(call, sizes, DV, type, results.dv));
    // Nothing but backward itself reads it, and it would take a kernel of its own on a GPU.
    return is_on_cpu(call) ? provide(call, sizes, SOFTMAX_D, DataType_t::FLOAT, results.softmax_d) : error_t();
}

void fill_results(Backward_results const& results) {
    for (Tensor_view const* const view : {&results.dq, &results.dk, &results.dv, &results.softmax_d}) fill_zeros(*view);
}

error_t differentiate(Call const& call, Sizes const& sizes, Backward_results const& results) {
    auto const lease = calls::lease_target(*call.place, *call.at(Q));
    if (lease.is_bad()) return lease.error();
    Shapes const shapes = shapes_of(call, sizes, lease.value().target);
    Scratch scratch_memory = scratch_of(call, sizes);
    Pack pack = inputs_of(call, shapes, scratch_memory);
    if (call.is_packed)
        gather_log_sums(call, *scratch_memory.lengths, *call.at(SOFTMAX_LSE), scratch_memory.log_sums.get());
    pack.bind(SOFTMAX_LSE, call.is_packed ? scratch_memory.log_sums.get() : call.at(SOFTMAX_LSE)->data);
    for (Argument const argument : {OUT, DOUT, DQ, DK, DV}) pack.bind(argument, call.at(argument)->data);
    SDPA_GRAPH_TRY(run(call, shapes, lease.value(), pack));
    if (is_on_cpu(call)) write_softmax_d(call, call.is_packed ? &*scratch_memory.lengths : nullptr, results.softmax_d);
    return {};
}

}  // namespace

error_t run_backward(Call& call, Backward_results& results) {
    Sizes const sizes = sizes_of(call);
    SDPA_GRAPH_TRY(provide_results(call, sizes, results));
    if (sizes.batches == 0) return {};
    bool const is_empty = sizes.queries == 0 || sizes.total_q == 0 || sizes.keys == 0 || sizes.total_k == 0;
    if (is_empty || call.zero_tensors) fill_results(results);
    return is_empty ? error_t() : differentiate(call, sizes, results);
}

}  // namespace sdpa_graph::flash
