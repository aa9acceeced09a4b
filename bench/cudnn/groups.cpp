// One attention on one GPU, and shared by all GPUs of this machine in each way of a group (docs/several-gpus.md).
//
//     bench_cudnn_groups [tokens]
//
// BFLOAT16, milliseconds of forward with Stats and of backward, until all ranks are done; and the share of the ideal
// time, that of one GPU divided by their number. In brackets the time for which exchanges held the first GPU up.
#include "gpu_attention.h"

#include <sdpa_graph/group.h>

#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using bench::Row;
using Clock = std::chrono::steady_clock;
using sdpa_graph::Group;
using sdpa_graph::Group_way;
using sdpa_graph::Layout;

constexpr int kRuns = 5;

Row row_of(char const* name, std::int64_t heads, std::int64_t key_heads, std::int64_t tokens, bool is_causal) {
    Row row{name, fe::Rewrite_t::BANDS, 1, heads, key_heads, tokens, tokens, 128};
    row.rows_first = true;
    row.causal = is_causal;
    return row;
}

struct Way {
    char const* name;
    Group_way way;
    int stages = 0;
};

struct Times {
    double forward = 0, backward = 0;  // milliseconds; 0 where the graph cannot run
    double exposed_forward = 0, exposed_backward = 0;
};

Times on_one_gpu(Row const& row) {
    cudaSetDevice(0);
    bench::Gpu const gpu;
    bench::Buffers const buffers(row);
    Times times;
    for (bool const is_backward : {false, true}) {
        fe::graph::Graph graph;
        describe_pass(row, is_backward, graph);
        if (!bench::good(graph.build(gpu.target()), row.name)) return {};
        (is_backward ? times.backward : times.forward) = gpu.time(graph, buffers.pack(), {200.0f, 3}) / 1e3;
    }
    return times;
}

// One GPU of the group.
class Rank {
   public:
    Rank(Row const& whole, Group const& group, Way const& way, std::barrier<>& together)
        : group_(group),
          layout_(layout_of(whole, group.size())),
          part_(part_of(whole)),
          buffers_(part_),
          together_(together) {
        options_.way = way.way;
        options_.stages = way.stages;
    }

    Times run() {
        Times times;
        times.forward = time(false, times.exposed_forward);
        times.backward = time(true, times.exposed_backward);
        return times;
    }

   private:
    static Layout layout_of(Row const& row, int ranks) {
        return row.causal ? Layout::head_tail(row.s_q, ranks) : Layout::contiguous(row.s_q, ranks);
    }
    Row part_of(Row row) const {
        row.s_q = row.s_kv = layout_.count_of(group_.rank());
        return row;
    }

    double time(bool is_backward, double& exposed) {
        fe::graph::Graph graph;
        describe_pass(part_, is_backward, graph);
        graph.set_group(group_, layout_, options_);
        bool const is_built = bench::good(graph.build(gpu_.target()), part_.name);
        bench::Memory const workspace(is_built ? static_cast<std::size_t>(graph.get_workspace_size()) : 0);
        together_.arrive_and_wait();
        if (!is_built) return 0;
        run(graph, workspace, 2);
        together_.arrive_and_wait();
        auto const begin = Clock::now();
        run(graph, workspace, kRuns);
        together_.arrive_and_wait();
        double const milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / kRuns;
        exposed = exposed_time(graph, workspace);
        return milliseconds;
    }
    // The sum over the exchanges of one more run.
    double exposed_time(fe::graph::Graph const& graph, bench::Memory const& workspace) const {
        bench::good(group_.measure(true), part_.name);
        together_.arrive_and_wait();
        run(graph, workspace, 1);
        std::vector<sdpa_graph::Exchange_time> times;
        bench::good(group_.exchange_times(times), part_.name);
        bench::good(group_.measure(false), part_.name);
        double sum = 0;
        for (sdpa_graph::Exchange_time const& time : times) sum += time.exposed_milliseconds;
        return sum;
    }
    void run(fe::graph::Graph const& graph, bench::Memory const& workspace, int runs) const {
        for (int i = 0; i < runs; ++i)
            bench::good(graph.execute(gpu_.handle(), buffers_.pack(), workspace.get()), part_.name);
        bench::good(group_.wait_for(gpu_.stream()), part_.name);
    }

    Group group_;
    Layout layout_;
    Row part_;
    bench::Gpu gpu_;
    bench::Buffers buffers_;
    std::barrier<>& together_;
    sdpa_graph::Group_options options_;
};

Times on_all_gpus(Row const& row, int devices, Way const& way) {
    sdpa_graph::Nccl_id id;
    if (!bench::good(Group::make_nccl_id(id), "NCCL")) return {};
    std::barrier<> together(devices);
    std::vector<Times> times(static_cast<std::size_t>(devices));
    std::vector<std::jthread> threads;
    for (int device = 0; device < devices; ++device) {
        threads.emplace_back([&, device] {
            cudaSetDevice(device);
            Group group;
            if (!bench::good(Group::of_nccl(id, device, devices, {}, group), "NCCL")) std::exit(1);
            times[static_cast<std::size_t>(device)] = Rank(row, group, way, together).run();
        });
    }
    threads.clear();
    return times.front();
}

void print(char const* row, char const* way, Times const& times, Times const& ideal) {
    auto const share = [](double time, double best) { return time > 0 ? best / time : 0.0; };
    std::printf("%-32s %-22s %9.2f %6.3f (%5.2f) %9.2f %6.3f (%5.2f)\n", row, way, times.forward,
                share(times.forward, ideal.forward), times.exposed_forward, times.backward,
                share(times.backward, ideal.backward), times.exposed_backward);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
        std::printf("there are no two GPUs here\n");
        return 77;
    }
    std::int64_t const tokens = argc > 1 ? std::atoll(argv[1]) : 65536;
    Way const ways[] = {{"the default", Group_way::AUTO},
                        {"gather", Group_way::GATHER},
                        {"gather in 1 stage", Group_way::GATHER, 1},
                        {"gather in 4 stages", Group_way::GATHER, 4},
                        {"all-to-all", Group_way::ALL_TO_ALL},
                        {"ring", Group_way::RING}};
    std::printf("%-32s %-22s %9s %6s (%5s) %9s %6s (%5s)\n", "", "", "forward", "share", "waits", "backward", "share",
                "waits");
    for (Row const& row : {row_of("h16, causal", 16, 16, tokens, true), row_of("h16", 16, 16, tokens, false),
                           row_of("h64/8, causal", 64, 8, tokens, true)}) {
        Times const alone = on_one_gpu(row);
        Times const ideal{alone.forward / devices, alone.backward / devices};
        print(row.name, "one GPU", alone, alone);
        for (Way const& way : ways) print(row.name, way.name, on_all_gpus(row, devices, way), ideal);
    }
    return 0;
}
