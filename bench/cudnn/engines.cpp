// Attention by cuDNN's engines next to the library's own one: forward with Stats, backward, and deterministic backward.
//
//     bench_cudnn_engines [part of a row]
//
// BFLOAT16, microseconds of a run: the plan that is picked among cuDNN's, the engine 'attention', and the ratio of the
// two; 0 where the engine cannot run the graph. Then comes how long the calling thread waits for a plan of the engine:
// the first of its kind compiles. For deterministic backward, the last two numbers are the time of each as a multiple
// of the same engine's time for backward.
#include "gpu_attention.h"

#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using bench::Row;
using Clock = std::chrono::steady_clock;

// Rows have memory for both passes.
Row plain(char const* name, std::int64_t b, std::int64_t h_q, std::int64_t h_k, std::int64_t s, std::int64_t d) {
    return {name, fe::Rewrite_t::BANDS, b, h_q, h_k, s, s, d};
}

Row causal(Row row) {
    row.causal = true;
    return row;
}

Row with_values(Row row, std::int64_t d_v) {
    row.d_v = d_v;
    return row;
}

Row window(Row row, std::int64_t left) {
    row.left = left;
    row.right = 0;
    return row;
}

Row with_lengths(Row row) {
    row.lengths = true;
    return row;
}

Row with_bias(Row row, bool has_gradient) {
    row.bias = true;
    row.bias_gradient = has_gradient;
    return row;
}

Row modified(Row row, bench::Modifier modifier) {
    row.modifier = modifier;
    return row;
}

// Documents of those lengths in one sequence.
Row packed(char const* name, std::int64_t h_q, std::int64_t h_k, std::int64_t d, bench::Dims const& documents) {
    Row row = plain(name, 1, h_q, h_k, std::reduce(documents.begin(), documents.end()), d);
    row.documents = documents;
    return row;
}

std::vector<Row> rows() {
    Row const wide = plain("b2 h16 s8192 d128", 2, 16, 16, 8192, 128);
    Row const narrow = plain("b2 h32 s8192 d64", 2, 32, 32, 8192, 64);
    Row const short_row = plain("b4 h16 s2048 d128", 4, 16, 16, 2048, 128);
    Row const of_256 = packed("32 documents of 256 h16 d128", 16, 16, 128, bench::Dims(32, 256));
    Row const uneven =
        packed("11 documents h16 d128", 16, 16, 128, {2048, 100, 900, 64, 1500, 300, 20, 1024, 700, 40, 1496});
    Row const split = with_values(plain("b4 h16 s2048 d192/128", 4, 16, 16, 2048, 192), 128);
    return {wide,
            causal(wide),
            narrow,
            causal(narrow),
            plain("b1 h64/8 s8192 d128", 1, 64, 8, 8192, 128),
            causal(plain("b1 h64/8 s8192 d128", 1, 64, 8, 8192, 128)),
            short_row,
            causal(short_row),
            with_lengths(short_row),
            window(short_row, 256),
            with_bias(short_row, false),
            with_bias(short_row, true),
            modified(short_row, bench::Modifier::Softcap),
            modified(short_row, bench::Modifier::Documents),
            modified(short_row, bench::Modifier::Prefix),
            of_256,
            causal(of_256),
            packed("32 documents of 256 h16 d64", 16, 16, 64, bench::Dims(32, 256)),
            packed("64 documents of 128 h32/8 d128", 32, 8, 128, bench::Dims(64, 128)),
            uneven,
            causal(uneven),
            split,
            causal(split),
            causal(with_values(plain("b1 h16 s4096 d192/128", 1, 16, 16, 4096, 192), 128)),
            plain("b4 h8 s2048 d256", 4, 8, 8, 2048, 256),
            causal(plain("b4 h8 s2048 d256", 4, 8, 8, 2048, 256)),
            causal(plain("b1 h16/8 s8192 d256", 1, 16, 8, 8192, 256)),
            plain("b4 h16 s2048 d96", 4, 16, 16, 2048, 96),
            causal(plain("b8 h12 s1024 d64", 8, 12, 12, 1024, 64)),
            plain("b32 h12 s512 d64", 32, 12, 12, 512, 64),
            causal(plain("b8 h16 s1024 d128", 8, 16, 16, 1024, 128)),
            causal(plain("b4 h16 s2048 d64", 4, 16, 16, 2048, 64)),
            causal(plain("b3 h20 s3000 d64", 3, 20, 20, 3000, 64)),
            plain("b8 h16 s2048 d64", 8, 16, 16, 2048, 64),
            causal(plain("b1 h16 s2048 d128", 1, 16, 16, 2048, 128)),
            causal(plain("b2 h32 s4096 d128", 2, 32, 32, 4096, 128)),
            causal(plain("b2 h32/8 s4096 d128", 2, 32, 8, 4096, 128)),
            causal(plain("b4 h32/8 s4096 d128", 4, 32, 8, 4096, 128)),
            causal(plain("b4 h32/8 s2048 d128", 4, 32, 8, 2048, 128)),
            causal(with_values(plain("b1 h128 s4096 d192/128", 1, 128, 128, 4096, 192), 128))};
}

std::string text_of(Row const& row) {
    std::string text = row.name;
    if (row.causal) text += " causal";
    if (row.left > 0) text += " window of " + std::to_string(row.left);
    if (row.lengths) text += " with lengths";
    if (row.bias) text += row.bias_gradient ? " bias with dBias" : " bias";
    constexpr char const* kModifiers[] = {"", " softcap", " 8 documents", " prefix of 512"};
    text += kModifiers[static_cast<int>(row.modifier)];
    return text;
}

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

bool build_by_cudnn(fe::graph::Graph& graph, bench::Gpu const& gpu) {
    graph.deselect_engines({"attention"});
    return bench::good(graph.build(gpu.target()), "cuDNN");
}

fe::error_t build_by_own_engine(fe::graph::Graph& graph, bench::Gpu const& gpu) {
    graph.set_shape_policy(fe::ShapePolicy_t::CLASSES);  // with which the engine runs all graphs that it can
    if (auto const error = graph.build_operation_graph(gpu.target()); error.is_bad()) return error;
    if (auto const error = graph.create_execution_plans({fe::HeurMode_t::OPENSOURCE}); error.is_bad()) return error;
    return graph.build_plans();
}

struct Times {
    double of_cudnn = 0.0, own = 0.0;
    double plan = 0.0;
};

Times measure(Row const& row, bool is_backward, bench::Buffers const& buffers, bench::Gpu const& gpu) {
    fe::graph::Graph of_cudnn, own;
    for (fe::graph::Graph* const graph : {&of_cudnn, &own}) {
        graph->set_rewrites(fe::RewritePolicy_t::OFF).set_shape_policy(fe::ShapePolicy_t::EXACT);
        bench::describe_pass(row, is_backward, *graph);
    }
    Times times;
    if (build_by_cudnn(of_cudnn, gpu)) times.of_cudnn = gpu.time(of_cudnn, buffers.pack());
    auto const begin = Clock::now();
    auto const refusal = build_by_own_engine(own, gpu);
    times.plan = milliseconds_since(begin);
    if (refusal.is_good()) times.own = gpu.time(own, buffers.pack());
    return times;
}

double ratio(double time, double other) { return other > 0.0 ? time / other : 0.0; }

void print(Row const& row, char const* pass, Times const& times) {
    std::printf("%-32s %-13s %9.1f %9.1f %7.2f %9.3f ms", text_of(row).c_str(), pass, times.of_cudnn, times.own,
                ratio(times.own, times.of_cudnn), times.plan);
}

void measure_passes(Row row, bench::Buffers const& buffers, bench::Gpu const& gpu) {
    print(row, "forward", measure(row, false, buffers, gpu));
    std::puts("");
    Times const in_any_order = measure(row, true, buffers, gpu);
    print(row, "backward", in_any_order);
    std::puts("");
    row.deterministic = true;
    Times const in_order = measure(row, true, buffers, gpu);
    print(row, "deterministic", in_order);
    std::printf(" %7.2f %7.2f\n", ratio(in_order.of_cudnn, in_any_order.of_cudnn),
                ratio(in_order.own, in_any_order.own));
    std::fflush(stdout);
}

}  // namespace

// Runs the rows whose text has the argument, or all.
int main(int argc, char** argv) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::puts("there is no GPU");
        return 77;
    }
    bench::Gpu const gpu;
    std::printf("%-32s %-13s %9s %9s %7s %12s %15s\n", "", "", "cuDNN", "attention", "ratio", "plan", "of backward");
    for (Row const& row : rows()) {
        if (argc > 1 && text_of(row).find(argv[1]) == std::string::npos) continue;
        bench::Buffers const buffers(row);
        if (!gpu.prepare_backward(row, buffers.pack())) continue;
        measure_passes(row, buffers, gpu);
    }
    return 0;
}
