#include "core/data_type.h"
#include "flash/pack_call.h"
#include "flash/rows.h"
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

void fill_results(Call const& call, Forward_results const& results, float log_sum) {
    fill_zeros(results.out);
    fill(results.softmax_lse, log_sum);
    if (call.return_softmax) fill_zeros(results.p);
}

// Probabilities come from attention over a unit matrix, what is dropped from the mask of the first run.
error_t write_probabilities(Call const& call, Shapes shapes, Lease const& lease, Scratch& scratch_memory,
                            float const* kept, Tensor_view const& p) {
    shapes.pass = Pass::PROBABILITIES;
    shapes.dumps_dropout = false;
    shapes.of(OUT) = {shapes.heads * shapes.queries * shapes.keys, shapes.keys, shapes.queries * shapes.keys};
    auto const unit = scratch<std::uint16_t>(shapes.keys * shapes.keys);
    fill_zeros({unit.get(), {shapes.keys, shapes.keys}, {shapes.keys, 1}, shapes.type});
    for (std::int64_t j = 0; j < shapes.keys; ++j) fe::core::store(shapes.type, unit.get(), j * (shapes.keys + 1), 1.0);
    auto const probabilities = scratch<std::uint16_t>(shapes.batches * shapes.heads * shapes.queries * shapes.keys);
    Pack pack = inputs_of(call, shapes, scratch_memory);
    pack.bind(V, unit.get());
    pack.bind(OUT, probabilities.get());
    SDPA_GRAPH_TRY(run(call, shapes, lease, pack));
    write_signed(p, probabilities.get(), kept, shapes.queries, shapes.keys);
    return {};
}

error_t attend(Call const& call, Sizes const& sizes, Forward_results const& results) {
    auto const lease = calls::lease_target(*call.place, *call.at(Q));
    if (lease.is_bad()) return lease.error();
    Shapes const shapes = shapes_of(call, sizes, lease.value().target);
    Scratch scratch_memory = scratch_of(call, sizes);
    Pack pack = inputs_of(call, shapes, scratch_memory);
    pack.bind(OUT, results.out.data);
    pack.bind(SOFTMAX_LSE, call.is_packed ? scratch_memory.log_sums.get() : results.softmax_lse.data);
    std::unique_ptr<float[]> kept;
    if (call.return_softmax) {
        kept = scratch<float>(shapes.batches * shapes.heads * shapes.queries * shapes.keys);
        pack.bind(Extra::DROPPED, kept.get());
    }
    SDPA_GRAPH_TRY(run(call, shapes, lease.value(), pack));
    if (call.is_packed) {
        spread_log_sums(call, *scratch_memory.lengths, scratch_memory.log_sums.get(), results.softmax_lse);
    } else if (call.at(Q)->device == Device_kind::CPU) {
        mark_rows_without_keys(results.softmax_lse);
    }
    if (!call.return_softmax) return {};
    return write_probabilities(call, shapes, lease.value(), scratch_memory, kept.get(), results.p);
}

}  // namespace

error_t run_forward(Call& call, Forward_results& results) {
    Sizes const sizes = sizes_of(call);
    SDPA_GRAPH_TRY(provide_results(call, sizes, results));
    if (sizes.batches == 0 || sizes.queries == 0 || sizes.total_q == 0) return {};
    if (call.zero_tensors) fill_results(call, results, -kInfinity);
    if (sizes.keys == 0 || sizes.total_k == 0) {
        fill_results(call, results, kInfinity);
        return {};
    }
    return attend(call, sizes, results);
}

}  // namespace sdpa_graph::flash
