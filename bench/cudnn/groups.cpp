// One attention on one GPU, and shared by all GPUs of this machine in each way of a group (docs/several-gpus.md).
//
//     bench_cudnn_groups [row or way...]                      such as: causal window gather-1 ring
//     bench_cudnn_groups --offline <device> [row or way...]   plans of all ranks of two, without a GPU
//
// Without names of rows it runs all rows, without names of ways all ways. BFLOAT16, milliseconds of forward with Stats
// and of backward, until all ranks are done: medians. Next to them the share T1 / (N x T), with the time T1 of one GPU
// and T of N GPUs, and in brackets the time for which the first GPU waited for exchanges. Ways that result in the same
// plan are measured once.
#include "gpu_attention.h"

#include <sdpa_graph/group.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using bench::Dims;
using bench::Row;
using Clock = std::chrono::steady_clock;
using sdpa_graph::Group;
using sdpa_graph::Group_way;
using sdpa_graph::Layout;

constexpr int kRounds = 3;                      // of which the median counts
constexpr double kMillisecondsOfRound = 100.0;  // at least one run
constexpr sdpa_graph::Group_limits kLimits = {30000};

// --- Rows and ways

Row row_of(char const* name, std::int64_t heads, std::int64_t key_heads, std::int64_t tokens, bool is_causal = true) {
    Row row{name, fe::Rewrite_t::BANDS, 1, heads, key_heads, tokens, tokens, 128};
    row.rows_first = true;
    row.causal = is_causal;
    return row;
}

Row in_window(Row row, std::int64_t window) {
    row.causal = false;
    row.left = window;
    row.right = 0;
    return row;
}

// The lengths of documents in 65,536 tokens; those of longer sequences are in proportion.
Row in_documents(Row row) {
    for (std::int64_t const length : {1000, 20000, 3536, 9000, 14000, 500, 6000, 11500}) {
        row.documents.push_back(length * row.s_q / 65536);
    }
    return row;
}

std::vector<Row> all_rows() {
    return {row_of("causal", 16, 16, 65536),
            row_of("full", 16, 16, 65536, false),
            row_of("gqa", 64, 8, 65536),
            row_of("gqa-long", 64, 8, 131072),
            in_window(row_of("window", 16, 16, 65536), 4096),
            in_window(row_of("window-gqa", 64, 8, 131072), 4096),
            in_documents(row_of("documents", 16, 16, 65536)),
            in_documents(row_of("documents-gqa", 64, 8, 131072)),
            row_of("odd", 16, 16, 65537)};
}

struct Way {
    char const* name;
    Group_way way;
    int stages = 0;
};

std::vector<Way> all_ways() {
    return {{"default", Group_way::AUTO},          {"gather", Group_way::GATHER},
            {"gather-1", Group_way::GATHER, 1},    {"gather-4", Group_way::GATHER, 4},
            {"all-to-all", Group_way::ALL_TO_ALL}, {"ring", Group_way::RING}};
}

bool can_run(Row const& row, Way const& way) { return way.way != Group_way::RING || row.documents.empty(); }

Layout layout_of(Row const& row, int ranks) {
    if (!row.documents.empty()) return Layout::balanced(row.documents, ranks, {}, 0);
    if (row.left) return Layout::balanced({row.s_q}, ranks, row.left, row.right);
    return row.causal ? Layout::head_tail(row.s_q, ranks) : Layout::contiguous(row.s_q, ranks);
}

// A rank's memory; documents stay those of the whole sequence.
Row part_of(Row row, Layout const& layout, int rank) {
    row.s_q = row.s_kv = layout.count_of(rank);
    return row;
}

void describe_part(Row const& part, bool is_backward, Group const& group, Layout const& layout, Way const& way,
                   fe::graph::Graph& graph) {
    sdpa_graph::Group_options options;
    options.way = way.way;
    options.stages = way.stages;
    describe_pass(part, is_backward, graph);
    graph.set_group(group, layout, options);
}

// --- Times

struct Time {
    double milliseconds = 0, exposed = 0;  // 0 where the graph cannot run
    std::string plan = {};
};

struct Times {
    Time forward, backward;
};

Times on_one_gpu(Row const& row) {
    cudaSetDevice(0);
    bench::Gpu const gpu;
    bench::Buffers const buffers(row);
    Times times;
    for (bool const is_backward : {false, true}) {
        fe::graph::Graph graph;
        describe_pass(row, is_backward, graph);
        Time& time = is_backward ? times.backward : times.forward;
        if (!bench::good(graph.build(gpu.target()), row.name)) continue;
        bench::good(graph.get_plan_name(time.plan), row.name);
        time.milliseconds = gpu.time(graph, buffers.pack(), {static_cast<float>(kMillisecondsOfRound), kRounds}) / 1e3;
    }
    return times;
}

// Where the ranks, threads of this process, wait for each other.
class Meeting {
   public:
    explicit Meeting(int ranks) : barrier_(ranks), is_good_(static_cast<std::size_t>(ranks)) {}
    void wait() { barrier_.arrive_and_wait(); }
    // Whether every rank succeeded: else the others would wait for the exchanges of the one that failed.
    bool agree(int rank, bool is_good) {
        is_good_[static_cast<std::size_t>(rank)] = is_good ? 1 : 0;
        wait();
        bool const are_good = std::ranges::find(is_good_, 0) == is_good_.end();
        wait();
        return are_good;
    }

   private:
    std::barrier<> barrier_;
    std::vector<int> is_good_;
};

// One GPU of the group.
class Rank {
   public:
    Rank(Row const& whole, Group const& group, Meeting& meeting)
        : group_(group),
          layout_(layout_of(whole, group.size())),
          part_(part_of(whole, layout_, group.rank())),
          buffers_(part_),
          meeting_(meeting) {}

    Times run(Way const& way, Times const& ideal) {
        return {time(false, way, ideal.forward.milliseconds), time(true, way, ideal.backward.milliseconds)};
    }

   private:
    Time time(bool is_backward, Way const& way, double ideal) {
        fe::graph::Graph graph;
        describe_part(part_, is_backward, group_, layout_, way, graph);
        Time result;
        bool is_good = good(graph.build(gpu_.target())) && good(graph.get_plan_name(result.plan));
        if (!meeting_.agree(group_.rank(), is_good)) return {};
        auto const known = std::ranges::find_if(known_, [&](std::pair<bool, Time> const& one) {
            return one.first == is_backward && one.second.plan == result.plan;
        });
        if (meeting_.agree(group_.rank(), known != known_.end())) return known->second;
        bench::Memory const workspace(static_cast<std::size_t>(graph.get_workspace_size()));
        is_good = run(graph, workspace, 1);
        if (!meeting_.agree(group_.rank(), is_good)) return {};
        is_good = measure_exchanges(graph, workspace, result.exposed);
        if (!meeting_.agree(group_.rank(), is_good)) return {};
        is_good = measure(graph, workspace, ideal, result.milliseconds);
        if (!meeting_.agree(group_.rank(), is_good)) return {};
        known_.emplace_back(is_backward, result);
        return result;
    }

    bool measure(fe::graph::Graph const& graph, bench::Memory const& workspace, double ideal, double& median) {
        int const runs = ideal > 0.0 ? std::clamp(static_cast<int>(kMillisecondsOfRound / ideal), 1, 50) : 1;
        std::vector<double> times;
        bool is_good = true;
        for (int round = 0; round < kRounds; ++round) {
            meeting_.wait();
            auto const begin = Clock::now();
            is_good = is_good && run(graph, workspace, runs);
            meeting_.wait();
            times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / runs);
        }
        std::ranges::sort(times);
        median = times[times.size() / 2];
        return is_good;
    }
    // The sum over the exchanges of one run.
    bool measure_exchanges(fe::graph::Graph const& graph, bench::Memory const& workspace, double& sum) const {
        std::vector<sdpa_graph::Exchange_time> times;
        bool const is_good = good(group_.measure(true)) && run(graph, workspace, 1) &&
                             good(group_.exchange_times(times)) && good(group_.measure(false));
        for (sdpa_graph::Exchange_time const& time : times) sum += time.exposed_milliseconds;
        return is_good;
    }
    bool run(fe::graph::Graph const& graph, bench::Memory const& workspace, int runs) const {
        for (int i = 0; i < runs; ++i) {
            if (!good(graph.execute(gpu_.handle(), buffers_.pack(), workspace.get()))) return false;
        }
        return good(group_.wait_for(gpu_.stream()));
    }
    bool good(fe::error_t const& error) const { return bench::good(error, part_.name); }

    Group group_;
    Layout layout_;
    Row part_;
    bench::Gpu gpu_;
    bench::Buffers buffers_;
    Meeting& meeting_;
    std::vector<std::pair<bool, Time>> known_;  // of plans that ran, of backward or not
};

// --- The table

void print_pass(Time const& time, double ideal) {
    double const share = time.milliseconds > 0 ? ideal / time.milliseconds : 0.0;
    std::printf(" %9.2f %6.3f (%6.2f)", time.milliseconds, share, time.exposed);
}

void print(char const* row, char const* way, Times const& times, Times const& ideal) {
    std::printf("%-14s %-11s", row, way);
    print_pass(times.forward, ideal.forward.milliseconds);
    print_pass(times.backward, ideal.backward.milliseconds);
    std::printf("  %s, %s\n", times.forward.plan.c_str(), times.backward.plan.c_str());
    std::fflush(stdout);
}

void print_head() {
    std::printf("%-14s %-11s %9s %6s (%6s) %9s %6s (%6s)  %s\n", "", "", "forward", "share", "waits", "backward",
                "share", "waits", "plans");
}

void share(Row const& row, int devices, std::span<Way const> ways, Times const& ideal) {
    sdpa_graph::Nccl_id id;
    if (!bench::good(Group::make_nccl_id(id), "NCCL")) return;
    Meeting meeting(devices);
    std::vector<std::jthread> threads;
    for (int device = 0; device < devices; ++device) {
        threads.emplace_back([&, device] {
            cudaSetDevice(device);
            Group group;
            if (!bench::good(Group::of_nccl(id, device, devices, kLimits, group), "NCCL")) std::exit(1);
            Rank rank(row, group, meeting);
            for (Way const& way : ways) {
                if (!can_run(row, way)) continue;
                Times const times = rank.run(way, ideal);
                if (device == 0) print(row.name, way.name, times, ideal);
            }
        });
    }
}

void compare(Row const& row, int devices, std::span<Way const> ways) {
    Times const alone = on_one_gpu(row);
    Times ideal = alone;
    ideal.forward.milliseconds /= devices;
    ideal.backward.milliseconds /= devices;
    print(row.name, "one GPU", alone, alone);
    share(row, devices, ways, ideal);
}

void plan(Row const& row, bool is_backward, char const* name, fe::Target const& target, fe::graph::Graph& graph) {
    auto const begin = Clock::now();
    std::string plan;
    std::int64_t bytes = 0;
    if (!bench::good(graph.build(target), row.name)) return;
    bench::good(graph.get_plan_name(plan), row.name), bench::good(graph.get_workspace_size(bytes), row.name);
    double const seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%-14s %-16s %-8s %8.1f MiB, planned in %4.1f s  %s\n", row.name, name,
                is_backward ? "backward" : "forward", static_cast<double>(bytes) / (1 << 20), seconds, plan.c_str());
    std::fflush(stdout);
}

void plan_offline(Row const& row, std::span<Way const> ways, fe::Target const& target) {
    constexpr int kRanks = 2;
    Layout const layout = layout_of(row, kRanks);
    for (bool const is_backward : {false, true}) {
        fe::graph::Graph whole;
        describe_pass(row, is_backward, whole);
        plan(row, is_backward, "one GPU", target, whole);
        for (Way const& way : ways) {
            for (int rank = 0; can_run(row, way) && rank < kRanks; ++rank) {
                Group member;
                if (!bench::good(Group::described(rank, kRanks, member), row.name)) return;
                fe::graph::Graph graph;
                describe_part(part_of(row, layout, rank), is_backward, member, layout, way, graph);
                plan(row, is_backward, (way.name + (" of " + std::to_string(rank))).c_str(), target, graph);
            }
        }
    }
}

// The rows or ways that have one of the names; all where none has.
template <class Named>
std::vector<Named> chosen(std::vector<Named> const& all, std::span<char* const> names) {
    std::vector<Named> found;
    for (Named const& one : all) {
        if (std::ranges::find(names, std::string_view(one.name)) != names.end()) found.push_back(one);
    }
    return found.empty() ? all : found;
}

template <class Named>
bool has_name(std::vector<Named> const& all, std::string_view name) {
    return std::ranges::find(all, name, [](Named const& one) { return std::string_view(one.name); }) != all.end();
}

bool are_known(std::span<char* const> names) {
    for (char const* const name : names) {
        if (has_name(all_rows(), name) || has_name(all_ways(), name)) continue;
        std::printf("found '%s'; expected names of rows or ways. Rows:", name);
        for (Row const& row : all_rows()) std::printf(" %s", row.name);
        std::printf("; ways:");
        for (Way const& way : all_ways()) std::printf(" %s", way.name);
        std::printf("\n");
        return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    std::span<char* const> names(argv + 1, argv + argc);
    bool const is_offline = names.size() > 1 && std::string_view(names[0]) == "--offline";
    char const* const device = is_offline ? names[1] : "";
    if (is_offline) names = names.subspan(2);
    if (!are_known(names)) return 2;
    std::vector<Row> const rows = chosen(all_rows(), names);
    std::vector<Way> const ways = chosen(all_ways(), names);
    if (is_offline) {
        for (Row const& row : rows) plan_offline(row, ways, fe::Target::offline(device));
        return 0;
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
        std::printf("there are no two GPUs here\n");
        return 77;
    }
    print_head();
    for (Row const& row : rows) compare(row, devices, ways);
    return 0;
}
