// Attention by the library's own engine on the GPU, against the oracle:
//   gpu_attention [random cases [part of a name]]
//                                  the groups of the suite with such a name, and random cases, by this engine alone;
//                                  refused passes are counted. Half of the cases run as replays of recorded launches.
//                                  Then batch invariance, deterministic gradients, and the named modifiers and
//                                  distance modifiers of support/modifiers, if these names have that part.
//   gpu_attention refusals [...]   prints a refusal of each kind as well
#include "gpu/attention/deterministic_runs.h"
#include "gpu/attention/modifier_runs.h"
#include "gpu/attention/own_engine.h"
#include "gpu/cases/random_gpu_case.h"
#include "gpu/device_mirror.h"
#include "gpu/this_gpu.h"
#include "reference/checks/check_case.h"
#include "support/batch_invariance.h"

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

constexpr int kMostFaultsPrinted = 20, kHopper = 90;

struct Counts {
    int right = 0, refused = 0, wrong = 0;

    Counts& operator+=(Counts const& more) {
        right += more.right, refused += more.refused, wrong += more.wrong;
        return *this;
    }
    bool has_run() const { return right + wrong > 0; }
};

// The counts of forward and backward passes.
struct GroupCounts {
    Counts forward, backward;
};

struct Progress {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;  // for the following members, and for printing
    std::map<std::string, GroupCounts> groups;
    std::map<std::string, std::string> refusals;  // a case of each
    int wrong = 0;
};

struct Test {
    std::string group;
    AttentionCase made;
};

// Whether to run what has this name, for the part of a name that is asked for.
bool is_wanted(std::string const& name, std::string const& part) { return name.find(part) != std::string::npos; }

std::vector<Test> all_tests(CaseRange const& random, std::string const& part_of_name) {
    std::vector<Test> tests;
    auto const add = [&](std::vector<CaseGroup> const& groups) {
        for (CaseGroup const& group : groups) {
            if (!is_wanted(group.name, part_of_name)) continue;
            for (AttentionCase const& c : group.cases) tests.push_back({group.name, c});
        }
    };
    add(gpu_case_groups());
    add(block_mask_groups());
    add(random_gpu_groups(random));
    return tests;
}

// The refusal by the engine, or by rules of cuDNN's engines where none runs the graph; empty for other errors.
std::string refusal_of(cudnn_frontend::error_t const& error) {
    for (char const* const start : {"the engine 'attention' cannot run this graph:",
                                    "HeurMode_t::OPENSOURCE asks for engines", "a stream as target runs graphs"}) {
        std::size_t const at = error.err_msg.find(start);
        if (at != std::string::npos) return error.err_msg.substr(at);
    }
    bool const names_rule = error.err_msg.find("[cudnn.s") != std::string::npos;
    return names_rule && error.code == cudnn_frontend::error_code_t::GRAPH_NOT_SUPPORTED ? error.err_msg : "";
}

// The session's own graph is one of the CPU target, from which a copy for the GPU has the uids.
struct CaseRun {
    std::vector<std::string> refusals;  // of each pass that was built, empty where it ran
    Outcome outcome;
};

CaseRun run(AttentionCase const& c, GpuStream const& gpu) {
    CaseRun result;
    Rig rig(Target::cpu());
    rig.rounds_factors = true;
    rig.execute = [&](Session const& session) -> cudnn_frontend::error_t {
        Graph graph = session.graph();
        auto const failure = build_by_own_engine(graph, gpu, queue_of(c));
        result.refusals.push_back(refusal_of(failure));
        return failure.is_bad() ? failure : execute_graph_on_gpu(graph, session, gpu, queue_of(c));
    };
    result.outcome = check_case(c, rig);
    return result;
}

void add(Test const& test, PassOutcome const& pass, std::string const& refusal, Counts& counts, Progress& progress) {
    if (!refusal.empty()) {
        ++counts.refused;
        progress.refusals.emplace(refusal, describe(test.made));
        return;
    }
    if (pass.ran && pass.faults.empty()) {
        ++counts.right;
        return;
    }
    ++counts.wrong;
    if (++progress.wrong > kMostFaultsPrinted) return;
    std::printf("[%s] %s\n  %s%s\n", test.group.c_str(), describe(test.made).c_str(), pass.refusal.c_str(),
                pass.faults.c_str());
}

// A case that its own target refuses has no passes.
void check(Test const& test, GpuStream const& gpu, Progress& progress) {
    CaseRun const result = run(test.made, gpu);
    std::lock_guard const lock(progress.mutex);
    GroupCounts& counts = progress.groups[test.group];
    auto const& refusals = result.refusals;
    if (!refusals.empty()) add(test, result.outcome.forward, refusals[0], counts.forward, progress);
    if (refusals.size() > 1) add(test, result.outcome.backward, refusals[1], counts.backward, progress);
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
    GroupCounts all;
    std::printf("%-44s %26s %26s\n", "", "forward right/refused/wrong", "backward right/refused/wrong");
    for (auto const& [name, counts] : progress.groups) {
        auto const& [forward, backward] = counts;
        all.forward += forward, all.backward += backward;
        if (!forward.has_run() && !backward.has_run()) continue;
        std::printf("%-44s %12d %7d %5d %13d %7d %5d\n", name.c_str(), forward.right, forward.refused, forward.wrong,
                    backward.right, backward.refused, backward.wrong);
    }
    if (has_refusals) {
        for (auto const& [refusal, example] : progress.refusals)
            std::printf("%s\n  %s\n", refusal.c_str(), example.c_str());
    }
    Counts sum = all.forward;
    sum += all.backward;
    std::printf(
        "attention by the library's own engine: %d forward and %d backward passes right, %d refused, %d wrong\n",
        all.forward.right, all.backward.right, sum.refused, sum.wrong);
    bool const is_run = all.forward.right > 0 || compute_capability() != kHopper;
    return sum.wrong == 0 && is_run ? 0 : 1;
}

// The faults of batch invariance, in rows of each number of columns.
std::string faults_of_batches() {
    GpuStream const gpu;
    auto const run = [&](Graph& graph, TensorBytes const& memory) -> cudnn_frontend::error_t {
        auto const failure = graph.build(Target::cuda(gpu.handle()));
        if (failure.is_bad()) return failure;
        DeviceMirror mirror;
        std::map<std::int64_t, void*> pack;
        for (auto const& [uid, bytes] : memory) pack[uid] = mirror.address(bytes);
        return execute_in_mirror(graph, pack, mirror, gpu, RunOn::Handle);
    };
    std::string faults;
    for (std::int64_t const columns : {64, 96, 128, 256}) {
        for (InvariantOptions const& options : all_invariant_options()) {
            std::string const found = faults_of_batch_invariance(columns, options, run);
            if (!found.empty()) faults += std::to_string(columns) + " columns:\n" + found;
        }
    }
    return faults;
}

// Whether the GPU keeps batch invariance, where it can.
bool check_batches() {
    if (compute_capability() != kHopper) return true;
    std::string const faults = faults_of_batches();
    std::printf("batch invariance: %s\n", faults.empty() ? "right" : faults.c_str());
    return faults.empty();
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
    std::string const part_of_name = arguments.size() > 1 ? arguments[1] : "";
    std::vector<Test> const tests = all_tests(*random, part_of_name);
    Progress progress;
    for (std::size_t const half : {0, 1}) {
        cudnn_frontend::runtime::set_replay_after(half == 0 ? -1 : 0);
        check_half(tests, half, progress);
    }
    bool const has_invariance = !is_wanted("batch invariance", part_of_name) || check_batches();
    bool const is_deterministic = !is_wanted("deterministic gradients", part_of_name) ||
                                  compute_capability() != kHopper || check_deterministic_gradients();
    bool const has_modifiers =
        !is_wanted("named modifiers", part_of_name) || check_named_modifiers(compute_capability() == kHopper);
    bool const has_distances =
        !is_wanted("distance modifiers", part_of_name) || compute_capability() != kHopper || check_distance_modifiers();
    int const code = report(progress, has_refusals);
    return has_invariance && is_deterministic && has_modifiers && has_distances ? code : 1;
}
