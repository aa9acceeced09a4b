#include "gpu/neighborhood_runs.h"

#include "gpu/device_mirror.h"
#include "reference/neighborhood_case.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sdpa_test {
namespace {

using cudnn_frontend::Rewrite_t;
using cudnn_frontend::RewritePolicy_t;

constexpr int kMostFaultsPrinted = 20;
// Results are computed from weights that were rounded, and rounded once more; sums of single precision are of about 1.
// Of a program two parts are rounded before they are added up, each no more than twice the sum.
constexpr NeighborhoodError kError{.absolute = 1e-6, .roundings = 3.0},
    kErrorOfPrograms{.absolute = 1e-6, .roundings = 7.0};

// Few widths, rounded up to those that kernels are compiled for: compiling takes long. Tiles take most of them.
NeighborhoodSizes const& sizes() {
    static NeighborhoodSizes const all{{1200, 35, 11},
                                       {8, 16, 40, 64, 120, 128, 8, 16, 40, 64, 120, 128, 1, 33, 136, 300}};
    return all;
}

// The fused ones more often, since they have more kernels.
constexpr std::array kFunctions = {
    NeighborhoodFunction::Forward, NeighborhoodFunction::Backward, NeighborhoodFunction::Qk,
    NeighborhoodFunction::Forward, NeighborhoodFunction::Backward, NeighborhoodFunction::QkBackward,
    NeighborhoodFunction::Forward, NeighborhoodFunction::Backward, NeighborhoodFunction::Av,
    NeighborhoodFunction::Forward, NeighborhoodFunction::Backward, NeighborhoodFunction::AvBackward};

struct Test {
    NeighborhoodFunction function;
    NeighborhoodCase made;
};

// Slots and keys grow with the square of the tokens.
void bound_slots(NeighborhoodCase& made) {
    auto const pairs = [&] {
        std::int64_t count = 1;
        for (auto const& axis : made.axes) count *= axis.length * axis.kernel;
        return count;
    };
    while (pairs() > 200'000) {
        for (auto& axis : made.axes) axis.kernel = axis.kernel / 2 | 1;
    }
}

// Who plans a case: AUTO alone would leave most to one engine.
enum class Way { Auto, Rewritten, Kernels, Tokens };
constexpr int kWays = 4;

Way way_of(std::uint64_t seed) { return static_cast<Way>(seed / kFunctions.size() % kWays); }

void choose(Way way, Graph& graph) {
    if (way == Way::Rewritten) graph.set_rewrites({Rewrite_t::NEIGHBORHOOD_BAND});
    if (way >= Way::Kernels) graph.set_rewrites(RewritePolicy_t::OFF);
    if (way == Way::Tokens) graph.deselect_engines({"neighborhood_tiles"});
}

// Which is rewritten where its type and width are cuDNN's.
void make_line(NeighborhoodCase& made) {
    made.axes.resize(1);
    made.has_bias = false;
    if (made.layout == NeighborhoodLayout::Scattered) made.layout = NeighborhoodLayout::Packed;
}

Test test_of(std::uint64_t seed) {
    Test test{kFunctions[seed % kFunctions.size()], random_neighborhood_case(seed, sizes())};
    if (way_of(seed) == Way::Rewritten) make_line(test.made);
    if (test.function <= NeighborhoodFunction::Backward) return test;
    for (auto& axis : test.made.axes) axis.kernel -= 1 - axis.kernel % 2;
    bound_slots(test.made);
    return test;
}

std::vector<std::byte> bytes_of(GraphTensors const& tensors) {
    std::vector<std::byte> bytes;
    for (auto const& [uid, tensor] : tensors.outputs) {
        bytes.insert(bytes.end(), tensor.memory->data(), tensor.memory->data() + tensor.memory->size());
    }
    return bytes;
}

std::string run_once(Graph const& graph, GraphTensors const& tensors, GpuStream const& gpu) {
    DeviceMirror mirror;
    std::map<std::int64_t, void*> pack;
    for (auto const* const list : {&tensors.inputs, &tensors.outputs}) {
        for (auto const& [uid, tensor] : *list) pack[uid] = mirror.address(tensor);
    }
    return execute_in_mirror(graph, pack, mirror, gpu).err_msg;
}

std::string run_twice(Graph& graph, GraphTensors const& tensors, GpuStream const& gpu) {
    if (auto const error = graph.build(Target::cuda(gpu.handle())); error.is_bad()) return error.err_msg;
    if (std::string text = run_once(graph, tensors, gpu); !text.empty()) return text;
    std::vector<std::byte> const first = bytes_of(tensors);
    for (auto const& [uid, tensor] : tensors.outputs) {
        std::memset(tensor.memory->data(), 0xff, static_cast<std::size_t>(tensor.memory->size()));
    }
    if (std::string text = run_once(graph, tensors, gpu); !text.empty()) return text;
    bool is_deterministic = false;
    if (auto const error = graph.get_is_deterministic(is_deterministic); error.is_bad()) return error.err_msg;
    return !is_deterministic || bytes_of(tensors) == first ? "" : "another run gave other bits";
}

// What the threads share.
struct Progress {
    std::atomic<std::uint64_t> next{0};
    std::mutex mutex;                            // of what follows, and of printing
    std::map<std::string, std::uint64_t> right;  // by plan
    int wrong = 0;
};

void check_case(std::uint64_t seed, GpuStream const& gpu, Progress& progress) {
    Test const test = test_of(seed);
    std::string plan = "no plan";
    auto const runner = [&](Graph& graph, GraphTensors const& tensors) {
        choose(way_of(seed), graph);
        std::string fault = run_twice(graph, tensors, gpu);
        static_cast<void>(graph.get_plan_name(plan));
        return fault;
    };
    NeighborhoodError const& error = way_of(seed) == Way::Rewritten ? kErrorOfPrograms : kError;
    std::string const fault = check_neighborhood(test.function, test.made, runner, error);
    std::lock_guard const lock(progress.mutex);
    if (fault.empty()) {
        ++progress.right[plan];
        return;
    }
    if (++progress.wrong > kMostFaultsPrinted) return;
    std::printf("function %d by %s: %s\n  %s\n", static_cast<int>(test.function), plan.c_str(), fault.c_str(),
                test.made.text().c_str());
}

void check_some(std::uint64_t cases, Progress& progress) {
    cudaSetDevice(0);
    GpuStream const gpu;
    for (std::uint64_t seed = progress.next++; seed < cases; seed = progress.next++) check_case(seed, gpu, progress);
}

}  // namespace

int check_neighborhoods_on_gpu(std::uint64_t cases) {
    Progress progress;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) {
        threads.emplace_back([&] { check_some(cases, progress); });
    }
    for (std::thread& thread : threads) thread.join();
    std::uint64_t right = 0;
    bool has_programs = false;
    for (auto const& [plan, count] : progress.right) {
        std::printf("%8llu cases right by %s\n", static_cast<unsigned long long>(count), plan.c_str());
        right += count;
        has_programs = has_programs || plan.starts_with("program ");
    }
    std::printf("%llu random cases of neighborhood attention: %llu right, %d wrong\n",
                static_cast<unsigned long long>(cases), static_cast<unsigned long long>(right), progress.wrong);
    bool const is_by_all =
        progress.right.contains("neighborhood_tiles") && progress.right.contains("neighborhood_tokens") && has_programs;
    return progress.wrong + !is_by_all;
}

}  // namespace sdpa_test
