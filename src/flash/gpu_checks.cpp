// What runs on a CPU alone.
#include "flash/band.h"
#include "flash/checks.h"

namespace sdpa_graph::flash::checks {
namespace {

bool is_on_gpu(Scope const& scope) { return scope.call().at(Argument::Q)->device == Device_kind::CUDA; }

}  // namespace

void gpu_has_padded_tensors(Scope const& scope) {
    if (!is_on_gpu(scope) || !scope.call().is_packed) return;
    scope.report("packed tensors on a GPU", "padded ones",
                 "pad the sequences for mha_fwd() and mha_bwd(), or describe a graph with ragged offsets");
}

void gpu_rows_see_keys(Scope const& scope) {
    if (!is_on_gpu(scope) || scope.call().is_packed || !scope.sizes()) return;
    Sizes const& sizes = *scope.sizes();
    if (scope.call().is_backward && sizes.queries == 0 && sizes.keys > 0 && sizes.batches > 0) {
        scope.report(text("no queries, and ", sizes.keys, " keys"), "a query, since nothing zeroes dk and dv there",
                     "skip the call: the gradients are 0");
    }
    std::optional<std::int64_t> const right = band_of(scope.call(), sizes).right;
    bool const sees_none = sizes.keys == 0 || (right && sizes.queries - sizes.keys > *right);
    if (!sees_none || sizes.queries == 0 || sizes.batches == 0) return;
    scope.report(text(sizes.queries, " queries and ", sizes.keys, " keys, of which the first query sees none"),
                 "a key for each query", "leave out the first queries: their results are 0 and +inf");
}

void gpu_returns_no_softmax(Scope const& scope) {
    if (!is_on_gpu(scope) || !scope.call().return_softmax) return;
    scope.report("return_softmax on a GPU", "false", "copy the tensors to a CPU to look at probabilities");
}

}  // namespace sdpa_graph::flash::checks
