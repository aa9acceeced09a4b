#include "gpu/neighborhood/neighborhood_runs.h"

#include "gpu/device_mirror.h"
#include "gpu/neighborhood/neighborhood_engines.h"
#include "gpu/this_gpu.h"
#include "reference/cases/neighborhood_case.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
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
// In a program two parts are rounded before they are added up, each no more than twice the sum.
constexpr NeighborhoodError kError{.absolute = 1e-6, .roundings = 3.0},
    kErrorOfPrograms{.absolute = 1e-6, .roundings = 7.0};

bool has_one_key(NeighborhoodCase const& made) {
    return std::ranges::all_of(made.axes, [](neighborhood_formula::Axis const& axis) { return axis.kernel == 1; });
}

// The error of gradients that are 0 where each window has one key: they are differences of two equal sums over the
// width, which a bias adds up over tokens.
double error_of_equal_sums(NeighborhoodCase const& made) {
    auto tokens = static_cast<double>(made.batches);
    for (neighborhood_formula::Axis const& axis : made.axes) tokens *= static_cast<double>(axis.length);
    return 0x1p-24 * static_cast<double>(made.width) * std::sqrt(tokens);
}

// Few widths, rounded up to those that kernels are compiled for: compiling takes long. Tiles support most of them.
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

// The engines that run a case: AUTO alone would leave most to one.
enum class Way { Auto, Rewritten, Kernels };
constexpr int kWays = 3;

Way way_of(std::uint64_t seed) { return static_cast<Way>(seed / kFunctions.size() % kWays); }

void choose(Way way, std::vector<std::string> const& barred, Graph& graph) {
    if (way == Way::Rewritten) graph.set_rewrites({Rewrite_t::NEIGHBORHOOD_BAND});
    if (way == Way::Kernels) graph.set_rewrites(RewritePolicy_t::OFF);
    graph.deselect_engines(barred);
}

// Makes a line, which is rewritten where its type and width are cuDNN's.
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

// The state that the threads share.
struct Progress {
    std::atomic<std::uint64_t> next{0};
    std::mutex mutex;                            // for the following members, and for printing
    std::map<std::string, std::uint64_t> right;  // by plan
    int wrong = 0;
};

constexpr char const* kNoPlan = "no plan";

// Checks the first engine that is not barred, and returns it.
std::string check_plan(Test const& test, Way way, std::vector<std::string> const& barred, GpuStream const& gpu,
                       Progress& progress) {
    std::string plan = kNoPlan;
    auto const runner = [&](Graph& graph, GraphTensors const& tensors) {
        choose(way, barred, graph);
        std::string fault = run_twice(graph, tensors, gpu);
        static_cast<void>(graph.get_plan_name(plan));
        return fault;
    };
    NeighborhoodError error = way == Way::Rewritten ? kErrorOfPrograms : kError;
    if (has_one_key(test.made)) error.absolute = error_of_equal_sums(test.made);
    std::string const fault = check_neighborhood(test.function, test.made, runner, error);
    std::lock_guard const lock(progress.mutex);
    if (fault.empty()) {
        ++progress.right[plan];
        return plan;
    }
    if (++progress.wrong > kMostFaultsPrinted) return plan;
    std::printf("function %d by %s: %s\n  %s\n", static_cast<int>(test.function), plan.c_str(), fault.c_str(),
                test.made.text().c_str());
    return plan;
}

// Checks all engines of kernels, one after the other, where these are to run it.
void check_case(std::uint64_t seed, GpuStream const& gpu, Progress& progress) {
    Test const test = test_of(seed);
    std::vector<std::string> barred;
    std::string plan;
    do {
        plan = check_plan(test, way_of(seed), barred, gpu, progress);
        barred.push_back(plan);
    } while (way_of(seed) == Way::Kernels && plan != kNeighborhoodEngines.back() && plan != kNoPlan);
}

void check_some(std::uint64_t cases, Progress& progress) {
    cudaSetDevice(0);
    GpuStream const gpu;
    for (std::uint64_t seed = progress.next++; seed < cases; seed = progress.next++) check_case(seed, gpu, progress);
}

// The content of results in memory, by uid.
using Results = std::map<std::int64_t, std::vector<double>>;

Results results_of(GraphTensors const& tensors) {
    Results results;
    for (auto const& [uid, tensor] : tensors.outputs) {
        std::int64_t const count = tensor.memory->size() / element_size(tensor.type);
        for (std::int64_t n = 0; n < count; ++n) results[uid].push_back(tensor.get({0, 0, 0, n}));
    }
    return results;
}

// Prints where a result is wrong. The gaps of both have equal contents.
void print_differences(Results const& found, Results const& wanted) {
    constexpr double kClear = 0.02;
    for (auto const& [uid, numbers] : wanted) {
        std::size_t wrong = 0, nan = 0, first = 0, last = 0;
        for (std::size_t n = 0; n < numbers.size(); ++n) {
            double const at = found.at(uid)[n];
            bool const is_nan = std::isnan(at) && !std::isnan(numbers[n]);
            if (!is_nan && !(std::abs(at - numbers[n]) > kClear)) continue;
            if (wrong++ == 0) first = n;
            last = n, nan += is_nan;
        }
        if (wrong == 0) continue;
        std::printf("    result %lld: %zu of %zu numbers differ, of which %zu are NaN, from number %zu to %zu\n",
                    static_cast<long long>(uid), wrong, numbers.size(), nan, first, last);
    }
}

// Runs it as a program, and by the kernels by tokens.
bool print_variant(char const* name, Test const& test, GpuStream const& gpu) {
    std::map<Way, Results> results;
    std::map<Way, std::string> faults, plans;
    for (Way const way : {Way::Rewritten, Way::Kernels}) {
        auto const barred = neighborhood_engines_but(kNeighborhoodEngines.back());
        auto const runner = [&](Graph& graph, GraphTensors const& tensors) {
            choose(way, barred, graph);
            std::string text = graph.build(Target::cuda(gpu.handle())).err_msg;
            if (text.empty()) text = run_once(graph, tensors, gpu);
            static_cast<void>(graph.get_plan_name(plans[way]));
            results[way] = results_of(tensors);
            return text;
        };
        faults[way] = check_neighborhood(test.function, test.made, runner, kErrorOfPrograms);
    }
    std::string const& fault = faults[Way::Rewritten];
    std::printf("  %s, %s: %s\n", name, plans[Way::Rewritten].c_str(), fault.empty() ? "right" : fault.c_str());
    print_differences(results[Way::Rewritten], results[Way::Kernels]);
    return fault.empty();
}

// A property of a case from which a fault may come.
struct Variant {
    char const* name;
    void (*change)(NeighborhoodCase& made);
};
constexpr Variant kVariants[] = {
    {"as it is", [](NeighborhoodCase&) {}},
    {"packed", [](NeighborhoodCase& made) { made.layout = NeighborhoodLayout::Packed; }},
    {"with the default scale", [](NeighborhoodCase& made) { made.scale.reset(); }},
    {"with the scale negated", [](NeighborhoodCase& made) { made.scale = -made.scale.value_or(0.1f); }},
    {"with 128 columns", [](NeighborhoodCase& made) { made.width = 128; }},
    {"with whole tiles of keys",
     [](NeighborhoodCase& made) {
         made.axes[0].kernel = std::max<std::int64_t>(128, made.axes[0].kernel / 128 * 128);
     }},
};

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
    std::printf("%llu random cases of neighborhood attention: %llu runs right, %d wrong\n",
                static_cast<unsigned long long>(cases), static_cast<unsigned long long>(right), progress.wrong);
    bool const is_by_all = has_programs && std::ranges::all_of(kNeighborhoodEngines, [&](std::string const& engine) {
                               bool const is_here = engine != kOfHopper || compute_capability() == 90;
                               return !is_here || progress.right.contains(engine);
                           });
    return progress.wrong + !is_by_all;
}

int check_neighborhood_variants(std::uint64_t seed) {
    GpuStream const gpu;
    int wrong = 0;
    for (Variant const& variant : kVariants) {
        Test test = test_of(seed);
        make_line(test.made);
        variant.change(test.made);
        auto const& axis = test.made.axes.front();
        if (axis.kernel * axis.dilation > axis.length) continue;
        if (&variant == kVariants) std::printf("%s\n", test.made.text().c_str());
        wrong += print_variant(variant.name, test, gpu) ? 0 : 1;
    }
    return wrong;
}

}  // namespace sdpa_test
