// Attention by the library's own engine on the GPU, against the oracle:
//   gpu_attention [random cases]   the groups of the suite and random cases, forward, by this engine alone; those that
//                                  it refuses are counted. Half of them run as replays of recorded launches.
//   gpu_attention refusals [...]   prints a refusal of each kind as well
#include "gpu/cases/random_gpu_case.h"
#include "gpu/device_mirror.h"
#include "gpu/this_gpu.h"
#include "reference/check_case.h"

#include <cudnn_frontend/process.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sdpa_test;
using cudnn_frontend::HeurMode_t;
using cudnn_frontend::RewritePolicy_t;
using cudnn_frontend::ShapePolicy_t;

constexpr int kMostFaultsPrinted = 20, kHopper = 90;

struct Counts {
    int right = 0, refused = 0, wrong = 0;
};

struct Progress {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;  // for the following members, and for printing
    std::map<std::string, Counts> groups;
    std::map<std::string, std::string> refusals;  // a case of each
    int wrong = 0;
};

struct Test {
    std::string group;
    AttentionCase made;
};

std::vector<Test> all_tests(CaseRange const& random) {
    std::vector<Test> tests;
    auto const add = [&](std::vector<CaseGroup> const& groups) {
        for (CaseGroup const& group : groups) {
            for (AttentionCase const& c : group.cases) tests.push_back({group.name, c});
        }
    };
    add(gpu_case_groups());
    add(random_gpu_groups(random));
    return tests;
}

// Plans the session's graph with this engine alone.
cudnn_frontend::error_t build(Graph& graph, GpuStream const& gpu) {
    graph.set_rewrites(RewritePolicy_t::OFF).set_shape_policy(ShapePolicy_t::EXACT);
    for (auto const& stage : {graph.build_operation_graph(Target::cuda(gpu.handle())),
                              graph.create_execution_plans({HeurMode_t::OPENSOURCE}), graph.build_plans()}) {
        if (stage.is_bad()) return stage;
    }
    return {};
}

// Checks forward. The session's own graph is one of the CPU target, whose backward pass does not count here.
struct ForwardRun {
    std::string refusal, faults;
};

ForwardRun run(AttentionCase const& c, GpuStream const& gpu) {
    constexpr char const* kRefusal = "the engine 'attention' cannot run this graph: ";
    ForwardRun result;
    bool is_forward = true;
    Rig rig(Target::cpu());
    rig.rounds_factors = true;
    rig.execute = [&](Session const& session) -> cudnn_frontend::error_t {
        if (!std::exchange(is_forward, false)) return session.execute();
        Graph graph = session.graph();
        auto const failure = build(graph, gpu);
        std::size_t const at = failure.err_msg.find(kRefusal);
        if (at != std::string::npos) result.refusal = failure.err_msg.substr(at);
        return failure.is_bad() ? failure : execute_graph_on_gpu(graph, session, gpu);
    };
    result.faults = check_case(c, rig).forward.faults;
    return result;
}

void check(Test const& test, GpuStream const& gpu, Progress& progress) {
    ForwardRun const result = run(test.made, gpu);
    std::lock_guard const lock(progress.mutex);
    Counts& counts = progress.groups[test.group];
    if (!result.refusal.empty()) {
        ++counts.refused;
        progress.refusals.emplace(result.refusal, describe(test.made));
        return;
    }
    if (result.faults.empty()) {
        ++counts.right;
        return;
    }
    ++counts.wrong;
    if (++progress.wrong > kMostFaultsPrinted) return;
    std::printf("[%s] %s\n  %s\n", test.group.c_str(), describe(test.made).c_str(), result.faults.c_str());
}

// Checks every second test, from the first one on.
void check_half(std::vector<Test> const& tests, std::size_t first, Progress& progress) {
    progress.next = first;
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) {
        threads.emplace_back([&] {
            cudaSetDevice(0);
            GpuStream const gpu;
            for (std::size_t at = progress.next.fetch_add(2); at < tests.size(); at = progress.next.fetch_add(2)) {
                check(tests[at], gpu, progress);
            }
        });
    }
}

int report(Progress const& progress, bool has_refusals) {
    Counts all;
    for (auto const& [name, counts] : progress.groups) {
        all.right += counts.right, all.refused += counts.refused, all.wrong += counts.wrong;
        if (counts.right + counts.wrong == 0) continue;
        std::printf("%-44s %5d right %5d refused %5d wrong\n", name.c_str(), counts.right, counts.refused,
                    counts.wrong);
    }
    if (has_refusals) {
        for (auto const& [refusal, example] : progress.refusals)
            std::printf("%s\n  %s\n", refusal.c_str(), example.c_str());
    }
    std::printf("attention by the library's own engine: %d forward passes right, %d refused, %d wrong\n", all.right,
                all.refused, all.wrong);
    bool const is_run = all.right > 0 || compute_capability() != kHopper;
    return all.wrong == 0 && is_run ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (gpu_count() == 0) {
        std::puts("there is no GPU");
        return 77;
    }
    std::vector<std::string> arguments(argv + 1, argv + argc);
    bool const has_refusals = !arguments.empty() && arguments.front() == "refusals";
    if (has_refusals) arguments.erase(arguments.begin());
    auto const random = case_range(arguments.empty() ? "300" : arguments.front());
    if (!random) {
        std::fputs("gpu_attention: expected a number of random cases, or a range such as 1000-2000\n", stderr);
        return 2;
    }
    std::puts(describe_gpu().c_str());
    std::vector<Test> const tests = all_tests(*random);
    Progress progress;
    for (std::size_t const half : {0, 1}) {
        cudnn_frontend::runtime::set_replay_after(half == 0 ? -1 : 0);
        check_half(tests, half, progress);
    }
    return report(progress, has_refusals);
}
