// Compares graphs as they are given with the same graphs rewritten as programs: the GPU's time of each, and how far
// their results differ.
//   bench_cudnn_rewrites [part of a row's name]
//   bench_cudnn_rewrites --offline <device>   plans only, without a GPU
//   bench_cudnn_rewrites --auto <count> [first]   random shapes: as given, as AUTO chooses, and the best of all
//   programs
//   bench_cudnn_rewrites --auto-neighborhoods <count> [first]   the same for neighborhood attention along a line
//   bench_cudnn_rewrites --replay [part of a row's name]   replays as CUDA graphs compared with their kernels, and
//   calls on the CPU, step by step
// The two take turns; medians. Times include merges, sums and borders.
#include "gpu_attention.h"
#include "replays.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace {

using namespace bench;
using fe::Rewrite_t;

std::vector<Row> rows() {
    constexpr Rewrite_t kFew = Rewrite_t::FEW_QUERIES, kBands = Rewrite_t::BANDS, kSlices = Rewrite_t::SLICES;
    std::int64_t const gib = std::int64_t{1} << 30;
    Dims const line{2, 16, 16384, 64};
    return {{"few 2 x 64k", kFew, 1, 64, 8, 2, 65536, 128},
            {"few 8 x 64k", kFew, 1, 64, 8, 8, 65536, 128},
            {"few 16 x 64k", kFew, 1, 64, 8, 16, 65536, 128},
            {"few 8 x 64k, rows first", kFew, 1, 64, 8, 8, 65536, 128, true},
            {"few 8 x 64k, causal", kFew, 1, 64, 8, 8, 65536, 128, false, true},
            {"few 512 x 32k", kFew, 1, 8, 8, 512, 32768, 128},
            {"few 4 x 4k, b=64", kFew, 64, 32, 8, 4, 4096, 128},
            {"few 4 x 4k, b=64, rows first", kFew, 64, 32, 8, 4, 4096, 128, true},
            {"few 4 x 8k, b=16", kFew, 16, 32, 8, 4, 8192, 128},
            {"few 4 x 8k, b=16, lengths", kFew, 16, 32, 8, 4, 8192, 128, false, false, 0, -1, 0, true},
            {"few 4 x 16k, b=4, lengths", kFew, 4, 64, 8, 4, 16384, 128, true, false, 0, -1, 0, true},
            {"few 2 x 8k, b=8, 128/1", kFew, 8, 128, 1, 2, 8192, 128},
            {"few 1 x 4k, b=128, 128/1", kFew, 128, 128, 1, 1, 4096, 128},
            {"band 64, b=16, 8k", kBands, 16, 12, 12, 8192, 8192, 64, false, false, 65, 64},
            {"band 128, b=2, 16k", kBands, 2, 16, 16, 16384, 16384, 64, false, false, 129, 128},
            {"band 512, 32k", kBands, 1, 32, 8, 32768, 32768, 128, false, false, 513, 512},
            neighborhood_row("neighborhood 7, forward", true, line, 7),
            neighborhood_row("neighborhood 7, backward", false, line, 7),
            neighborhood_row("neighborhood 65, forward", true, line, 65),
            neighborhood_row("neighborhood 65, backward", false, line, 65),
            neighborhood_row("neighborhood 257, forward", true, line, 257),
            neighborhood_row("neighborhood 257, backward", false, line, 257),
            neighborhood_row("neighborhood 2049, forward", true, line, 2049),
            neighborhood_row("neighborhood 2049, backward", false, line, 2049),
            neighborhood_row("neighborhood 257 by 8, forward", true, line, 257, 8),
            neighborhood_row("neighborhood 257 by 8, backward", false, line, 257, 8),
            {"slices 8k, 2.1 GiB", kSlices, 1, 64, 8, 8192, 8192, 128, false, true, 0, -1, 21 * gib / 10},
            {"slices 32k, 4.5 GiB", kSlices, 1, 64, 8, 32768, 32768, 128, false, true, 0, -1, 45 * gib / 10}};
}

void set(Row const& row, bool is_rewritten, fe::graph::Graph& graph) {
    if (!is_rewritten) graph.set_rewrites(fe::RewritePolicy_t::OFF);
    else if (row.workspace > 0) graph.set_workspace_limit(row.workspace);
    else graph.set_rewrites({row.rewrite});
}

float number_at(std::vector<std::uint16_t> const& numbers, std::size_t index) {
    std::uint32_t const bits = static_cast<std::uint32_t>(numbers[index]) << 16;
    float value = 0.0f;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::vector<std::uint16_t> download(void const* memory, std::size_t bytes) {
    std::vector<std::uint16_t> numbers(std::min<std::size_t>(bytes, std::size_t{1} << 28) / 2);
    good(cudaMemcpy(numbers.data(), memory, numbers.size() * 2, cudaMemcpyDeviceToHost));
    return numbers;
}

using Results = std::vector<std::vector<std::uint16_t>>;

Results results_of(Row const& row, Pack const& pack) {
    Results results;
    for (Uid const uid : row.is_forward() ? std::vector{Uid::O} : std::vector{Uid::DQ, Uid::DK, Uid::DV}) {
        results.push_back(download(pack.at(uid), bytes_of(row, uid)));
    }
    return results;
}

// The norm of the difference over that of the result, the worst of all results.
double difference(Results const& a, Results const& b) {
    double worst = 0.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        double error = 0.0, norm = 0.0;
        for (std::size_t n = 0; n < a[i].size(); ++n) {
            double const x = number_at(a[i], n), y = number_at(b[i], n);
            error += (x - y) * (x - y), norm += x * x;
        }
        double const ratio = std::sqrt(error / norm);
        if (!(ratio <= worst)) worst = ratio;
    }
    return worst;
}

bool build(Row const& row, bool is_rewritten, fe::Target const& target, fe::graph::Graph& graph) {
    describe(row, graph);
    set(row, is_rewritten, graph);
    return good(graph.build(target), row.name);
}

bool fits(Row const& row, fe::graph::Graph const& graph) {
    std::int64_t bytes = 0;
    std::size_t free = 0, total = 0;
    good(graph.get_workspace_size(bytes), "workspace"), good(cudaMemGetInfo(&free, &total));
    if (static_cast<std::size_t>(bytes) < free) return true;
    std::printf("  %s: %.1f GiB of workspace do not fit\n", row.name, static_cast<double>(bytes) / (1 << 30));
    return false;
}

void report(Row const& row, fe::graph::Graph const& graph, double given, double rewritten, double distance) {
    std::string name;
    std::int64_t bytes = 0;
    good(graph.get_plan_name(name), "name"), good(graph.get_workspace_size(bytes), "workspace");
    std::printf("%-30s %10.1f %10.1f us  %6.2f x  differ by %.5f  %8.1f MiB  %s\n", row.name, given, rewritten,
                given / rewritten, distance, static_cast<double>(bytes) / (1 << 20), name.c_str());
    std::fflush(stdout);
}

void compare(Gpu const& gpu, Row const& row) {
    Buffers const buffers(row);
    if (!row.is_forward() && !gpu.prepare_backward(row, buffers.pack())) return;
    fe::graph::Graph graphs[2];
    double times[2] = {0.0, 0.0};
    Results results[2];
    bool runs[2];
    for (int i : {0, 1}) runs[i] = build(row, i == 1, gpu.target(), graphs[i]) && fits(row, graphs[i]);
    for (int i : {0, 1, 0, 1}) {
        if (!runs[i]) continue;
        double const time = gpu.time(graphs[i], buffers.pack());
        times[i] = times[i] == 0.0 ? time : std::min(times[i], time);
        results[i] = results_of(row, buffers.pack());
    }
    if (runs[1]) report(row, graphs[1], times[0], times[1], difference(results[0], results[1]));
}

// Whether replays and calls of programs are as fast as required; the last lines say so.
bool compare_replays(Gpu const& gpu, char const* part) {
    print_replay_heading();
    std::vector<Replay> replays;
    bool are_fast = true;
    for (Row const& row : rows()) {
        if (std::strstr(row.name, part) == nullptr) continue;
        fe::graph::Graph given, program;
        if (!build(row, false, gpu.target(), given) || !build(row, true, gpu.target(), program)) continue;
        if (!fits(row, given)) continue;
        auto const replay = measure_replay(gpu, row, given, program);
        if (replay) replays.push_back(*replay);
        are_fast = are_fast && replay && replay->is_fast() && replay->is_called_fast();
    }
    for (Replay const& replay : replays) print_verdict(replay);
    return are_fast;
}

// Microseconds.
struct Choice {
    double given = 0.0, chosen = 0.0, best = 0.0;
    std::string name, best_name = "as given or chosen";
};

// The first programs of the list, which are the best by cost.
void time_programs(Gpu const& gpu, Row const& row, Pack const& pack, Care const& care, Choice& choice) {
    fe::graph::Graph graph;
    describe(row, graph);
    graph.set_rewrites({row.rewrite});
    if (graph.build_operation_graph(gpu.target()).is_bad()) return;
    if (graph.create_execution_plans({fe::HeurMode_t::A}).is_bad()) return;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(4, graph.get_execution_plan_count()); ++i) {
        std::string name;
        if (graph.get_plan_name_at_index(i, name).is_bad() || !name.starts_with("program ")) return;
        if (graph.build_plan_at_index(i).is_bad()) continue;
        double const time = gpu.time(graph, pack, care);
        if (time < choice.best) choice.best = time, choice.best_name = name;
    }
}

// Times the graph as given, as AUTO chooses, and the best of the programs; returns whether they could be timed.
bool time_choice(Gpu const& gpu, Row const& row, Choice& choice) {
    constexpr Care kQuick{1.0f, 6};
    Buffers const buffers(row);
    if (!row.is_forward() && !gpu.prepare_backward(row, buffers.pack())) return false;
    fe::graph::Graph given, chosen;
    describe(row, chosen);
    if (!build(row, false, gpu.target(), given) || !good(chosen.build(gpu.target()), "auto")) return false;
    good(chosen.get_plan_name(choice.name), "name");
    choice.given = choice.chosen = 1e30;
    for (int i = 0; i < 2; ++i) {
        choice.given = std::min(choice.given, gpu.time(given, buffers.pack(), kQuick));
        choice.chosen = std::min(choice.chosen, gpu.time(chosen, buffers.pack(), kQuick));
    }
    choice.best = std::min(choice.given, choice.chosen);
    time_programs(gpu, row, buffers.pack(), kQuick, choice);
    return true;
}

template <class T, std::size_t count>
T pick(T const (&values)[count], std::mt19937& random) {
    return values[random() % count];
}

Row random_few(std::mt19937& random) {
    Row row{"few", Rewrite_t::FEW_QUERIES, 1, 1, 1, 1, 1, 1};
    std::int64_t const batches[] = {1, 2, 4, 8, 16, 32, 64}, heads[] = {1, 2, 4, 8, 16},
                       groups[] = {1, 2, 4, 8, 16, 64};
    std::int64_t const queries[] = {1, 2, 3, 4, 8, 16, 32, 64, 256, 1024};
    do {
        row.b = pick(batches, random), row.h_k = pick(heads, random), row.h_q = row.h_k * pick(groups, random);
        row.s_q = pick(queries, random), row.d = random() % 2 == 0 ? 64 : 128;
        row.s_kv = std::int64_t{1024} << random() % 7;
        if (random() % 4 == 0) row.s_kv += 8 * static_cast<std::int64_t>(random() % 64);
        row.rows_first = random() % 2 == 0;
        row.causal = random() % 3 == 0;
        row.lengths = !row.causal && random() % 3 == 0;
    } while (row.b * row.h_k * row.s_kv * row.d > std::int64_t{1} << 29 ||
             row.b * row.h_q * row.s_q * row.s_kv * row.d > std::int64_t{1} << 40 ||
             row.b * row.h_q * row.s_q * row.d > std::int64_t{1} << 28);
    return row;
}

Row random_band(std::mt19937& random) {
    Row row{"band", Rewrite_t::BANDS, 1, 1, 1, 1, 1, 1};
    std::int64_t const batches[] = {1, 2, 4, 8, 16}, heads[] = {1, 4, 8, 12, 32};
    std::int64_t const widths[] = {16, 64, 128, 256, 512, 1024};
    do {
        row.b = pick(batches, random), row.h_k = pick(heads, random), row.h_q = row.h_k * (random() % 3 == 0 ? 4 : 1);
        row.s_q = row.s_kv = std::int64_t{512} << random() % 6;
        row.d = random() % 2 == 0 ? 64 : 128;
        row.left = 1 + pick(widths, random), row.right = pick(widths, random);
        row.rows_first = random() % 2 == 0;
    } while (row.right >= row.s_kv || row.b * row.h_q * row.s_q * row.s_kv * row.d > std::int64_t{1} << 40);
    return row;
}

Row random_neighborhood(std::mt19937& random, unsigned) {
    std::int64_t const batches[] = {1, 2, 4, 8}, heads[] = {1, 4, 8, 16, 32}, dilations[] = {1, 1, 2, 7, 8};
    std::int64_t const kernels[] = {3, 7, 33, 65, 128, 129, 257, 513, 1025, 2049};
    std::int64_t b = 0, h = 0, n = 0, kernel = 0, dilation = 0;
    do {
        b = pick(batches, random), h = pick(heads, random), n = std::int64_t{512} << random() % 7;
        kernel = pick(kernels, random), dilation = pick(dilations, random);
    } while (kernel * dilation > n || b * h * n > std::int64_t{1} << 21);
    bool const is_forward = random() % 2 == 0;
    return neighborhood_row(is_forward ? "neighborhood" : "neighborhood backward", is_forward,
                            {b, h, n, random() % 2 == 0 ? 64 : 128}, kernel, dilation);
}

// Two thirds of the rows have few queries.
Row random_attention(std::mt19937& random, unsigned index) {
    return index % 3 == 2 ? random_band(random) : random_few(random);
}

// Compares AUTO's choices with the best ones on random shapes.
void compare_choices(Gpu const& gpu, int count, unsigned first, Row (*make)(std::mt19937&, unsigned)) {
    int worse = 0, far = 0, faster = 0, timed = 0;
    for (unsigned index = first; index < first + static_cast<unsigned>(count); ++index) {
        std::mt19937 random(index);
        Row const row = make(random, index);
        Choice choice;
        if (!time_choice(gpu, row, choice)) continue;
        bool const is_worse = choice.chosen > 1.05 * choice.given, is_far = choice.chosen > 1.15 * choice.best;
        ++timed, worse += is_worse, far += is_far, faster += choice.chosen < 0.95 * choice.given;
        if (!is_worse && !is_far && index % 10 != 0) continue;
        std::printf(
            "%4u %s b=%ld h=%ld/%ld q=%ld k=%ld d=%ld%s%s band %ld %ld kernel %ld by %ld: %.1f, auto %.1f, best %.1f "
            "us%s%s; %s; %s\n",
            index, row.name, row.b, row.h_q, row.h_k, row.s_q, row.s_kv, row.d, row.rows_first ? " bshd" : "",
            row.causal    ? " causal"
            : row.lengths ? " lengths"
                          : "",
            row.left, row.right, row.kernel, row.dilation, choice.given, choice.chosen, choice.best,
            is_worse ? " WORSE" : "", is_far ? " FAR" : "", choice.name.c_str(), choice.best_name.c_str());
        std::fflush(stdout);
    }
    std::printf(
        "%d shapes: AUTO was faster in %d, above 1.05 of the graph as given in %d, above 1.15 of the best in %d\n",
        timed, faster, worse, far);
}

void plan_offline(Row const& row, char const* device) {
    fe::graph::Graph graph;
    if (!build(row, true, fe::Target::offline(device), graph)) return;
    std::string name;
    std::int64_t bytes = 0;
    good(graph.get_plan_name(name), "name"), good(graph.get_workspace_size(bytes), "workspace");
    std::printf("%-30s %8.1f MiB  %s\n", row.name, static_cast<double>(bytes) / (1 << 20), name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--offline") == 0) {
        for (Row const& row : rows()) plan_offline(row, argv[2]);
        return 0;
    }
    Gpu const gpu;
    if (argc >= 3 && std::strncmp(argv[1], "--auto", 6) == 0) {
        bool const has_neighborhoods = std::strcmp(argv[1], "--auto-neighborhoods") == 0;
        compare_choices(gpu, std::atoi(argv[2]), argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 0,
                        has_neighborhoods ? random_neighborhood : random_attention);
        return 0;
    }
    if (argc >= 2 && std::strcmp(argv[1], "--replay") == 0) {
        return compare_replays(gpu, argc > 2 ? argv[2] : "") ? 0 : 1;
    }
    std::printf("%-30s %10s %10s\n", "", "as given", "rewritten");
    for (Row const& row : rows()) {
        if (argc < 2 || std::strstr(row.name, argv[1]) != nullptr) compare(gpu, row);
    }
}
