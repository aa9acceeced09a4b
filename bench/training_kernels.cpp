// The kernels of the library's own that a training program with several kinds of layers compiles, and the time of
// NVRTC, or of reading them from a plan store. Planned for an H200, which need not be there:
//
//     bench_training_kernels <folder of a plan store>
//
// The first run on an empty folder compiles and fills it, the next one reads. Times are processor time in milliseconds,
// since other work on the machine lengthens all others.
#include "core/process/plan_store.h"
#include "process.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/score_modifiers.h>
#include <sdpa_graph/plan_store.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t kBatches = 1, kTokens = 4096, kColumns = 128;

struct Layer {
    char const* name;
    std::int64_t heads = 16, key_heads = 16;
    bool is_causal = false;
    int window = 0;  // keys up to the query's own one; 0: all
    bool has_bias = false, is_capped = false;
};

constexpr Layer kLayers[] = {
    {.name = "plain"},
    {.name = "causal", .is_causal = true},
    {.name = "causal, 64 heads share 8", .heads = 64, .key_heads = 8, .is_causal = true},
    {.name = "window of 1,024", .is_causal = true, .window = 1024},
    {.name = "bias with its gradient", .has_bias = true},
    {.name = "softcap", .is_capped = true},
};

void require(fe::error_t const& status) {
    if (status.is_good()) return;
    std::fprintf(stderr, "%s\n", status.get_message().c_str());
    std::exit(1);
}

Tensor input(Graph& graph, std::vector<std::int64_t> const& dims) {
    return graph.tensor(fe::graph::Tensor_attributes().set_dim(dims).set_stride(
        {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1}));
}
Tensor rows_of(Graph& graph, std::int64_t heads) { return input(graph, {kBatches, heads, kTokens, kColumns}); }

std::vector<std::int64_t> bias_dims(Layer const& layer) { return {1, layer.heads, kTokens, kTokens}; }

// Sets what both passes have in common. Returns the soft cap, whose two functions belong together.
template <class Options>
fe::graph::attn::score_modifiers::Capped set_options(Layer const& layer, Graph& graph, Options& options) {
    options.set_attn_scale(0.09f).set_causal_mask(layer.is_causal);
    if (layer.window > 0) options.set_diagonal_band_left_bound(layer.window);
    if (layer.has_bias) options.set_bias(input(graph, bias_dims(layer)));
    auto cap = fe::graph::attn::score_modifiers::softcap(30.0f);
    if (layer.is_capped) options.set_score_mod(cap.forward);
    return cap;
}

void describe_forward(Layer const& layer, Graph& graph) {
    auto options = fe::graph::SDPA_attributes().set_generate_stats(true);
    set_options(layer, graph, options);
    auto const [o, stats] = graph.sdpa(rows_of(graph, layer.heads), rows_of(graph, layer.key_heads),
                                       rows_of(graph, layer.key_heads), options);
    o->set_output(true);
    stats->set_output(true).set_data_type(fe::DataType_t::FLOAT);
}

void describe_backward(Layer const& layer, Graph& graph) {
    fe::graph::SDPA_backward_attributes options;
    auto const cap = set_options(layer, graph, options);
    if (layer.is_capped) options.set_score_mod_bprop(cap.backward);
    if (layer.has_bias) {
        Tensor const gradient = input(graph, bias_dims(layer));
        gradient->set_output(true);
        options.set_dbias(gradient);
    }
    Tensor const stats = input(graph, {kBatches, layer.heads, kTokens, 1});
    stats->set_data_type(fe::DataType_t::FLOAT);
    auto const q = rows_of(graph, layer.heads), k = rows_of(graph, layer.key_heads),
               v = rows_of(graph, layer.key_heads);
    for (auto const& result :
         graph.sdpa_backward(q, k, v, rows_of(graph, layer.heads), rows_of(graph, layer.heads), stats, options)) {
        result->set_output(true);
    }
}

double milliseconds() { return 1e3 * bench::processor_seconds(); }

// Plans a pass. What it compiles or reads, it does in build_plans().
void plan(Layer const& layer, bool is_backward) {
    Graph graph;
    graph.set_io_data_type(fe::DataType_t::BFLOAT16).set_intermediate_data_type(fe::DataType_t::FLOAT);
    graph.set_compute_data_type(fe::DataType_t::FLOAT);
    if (is_backward) describe_backward(layer, graph);
    else describe_forward(layer, graph);
    auto& counts = fe::core::process::engine_counts_of_thread();
    auto const before = counts;
    double const begin = milliseconds();
    require(graph.build_operation_graph(fe::Target::offline("h200")));
    require(graph.create_execution_plans({fe::HeurMode_t::OPENSOURCE}));
    double const proposed = milliseconds();
    require(graph.build_plans());
    std::printf("| %s | %s | %lld | %lld | %.1f | %.1f |\n", layer.name, is_backward ? "backward" : "forward",
                static_cast<long long>(counts.compiled_kernels - before.compiled_kernels),
                static_cast<long long>(counts.loaded_kernels - before.loaded_kernels), proposed - begin,
                milliseconds() - proposed);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return std::fputs("bench_training_kernels: expected the folder of a plan store\n", stderr), 2;
    sdpa_graph::set_plan_store({arguments[1]});
    std::puts("| layer | pass | compiled | read | proposing, ms | building, ms |\n|---|---|---|---|---|---|");
    for (Layer const& layer : kLayers) {
        for (bool const is_backward : {false, true}) plan(layer, is_backward);
    }
    auto const& counts = fe::core::process::engine_counts_of_thread();
    std::printf("\n%lld kernels compiled, %lld read, %.0f ms in all\n", static_cast<long long>(counts.compiled_kernels),
                static_cast<long long>(counts.loaded_kernels), milliseconds());
    return 0;
}
