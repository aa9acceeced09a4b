// Graph::set_batch_invariant() by the kernels of attention, on the host.
#include "support/batch_invariance.h"
#include "host_attention.h"
#include "support/catch.h"

// Whether the host has code of these options, and they are none or several: GPUs run each alone.
static bool runs_on_host(std::int64_t columns, sdpa_test::InvariantOptions const& options) {
    bool const has_several = options.has_sink && options.window;
    if (has_several) return options.has_softcap ? columns == 64 : columns == 128;
    return !options.bias && !options.has_sink && !options.has_softcap && !options.window;
}

TEST_CASE("rows of forward by warpgroups have the same bits in every batch") {
    auto const run = [](cudnn_frontend::graph::Graph& graph, sdpa_test::TensorBytes const& memory) {
        return sdpa_test::run_on_host(graph, cudnn_frontend::kernels::AttentionOffer::InAnyBatch,
                                      [&](std::int64_t uid) { return memory.at(uid).data(); });
    };
    for (std::int64_t const columns : {64, 128}) {
        for (sdpa_test::InvariantOptions const& options : sdpa_test::all_invariant_options()) {
            if (runs_on_host(columns, options))
                CHECK(sdpa_test::faults_of_batch_invariance(columns, options, run) == "");
        }
    }
}
