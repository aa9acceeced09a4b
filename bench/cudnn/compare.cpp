// Compares this library with the existing frontend and the bare backend, in one run on one GPU:
//   bench_cudnn_compare <folder of the side_*.so modules>
//   bench_cudnn_compare <folder> options [part]               the second table alone, or its rows whose names have that
//                                                             part; fails where an option is slower
// Costs on the CPU are medians in microseconds; the two sides take turns, so that drift hits both.
#include "side.h"

#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr Shape kShapes[] = {
    {{1, 8, 8, 8, 128, 128, 64, 64}, "forward  b1 h8/8 s128 d64", false, Option::None},
    {{4, 16, 16, 16, 1024, 1024, 64, 64}, "forward  b4 h16/16 s1024 d64 causal", false, Option::Causal},
    {{2, 32, 8, 8, 2048, 2048, 128, 128}, "forward  b2 h32/8 s2048 d128 causal", false, Option::Causal},
    {{1, 64, 8, 8, 8192, 8192, 128, 128}, "forward  b1 h64/8 s8192 d128", false, Option::None},
    {{8, 32, 8, 8, 1, 4096, 128, 128}, "forward  b8 h32/8 s1/4096 d128", false, Option::None},
    {{4, 16, 16, 16, 1024, 1024, 64, 64}, "backward b4 h16/16 s1024 d64 causal", true, Option::Causal},
    {{2, 32, 8, 8, 2048, 2048, 128, 128}, "backward b2 h32/8 s2048 d128 causal", true, Option::Causal},
    {{1, 64, 8, 8, 8192, 8192, 128, 128}, "backward b1 h64/8 s8192 d128", true, Option::None},
};

constexpr Sizes kOptionSizes{4, 16, 16, 16, 2048, 2048, 128, 128};

constexpr Sizes kBoundedSizes{kBatches, 16, 4, 4, 2048, 2048, 128, 128};

struct NamedOption {
    char const* name;
    Option option;
    bool is_in_forward, is_in_backward;
    Sizes sizes = kOptionSizes;
    Io io = Io::Bfloat16;
};
constexpr NamedOption kOptions[] = {
    {"none", Option::None, true, true},
    {"causal", Option::Causal, true, true},
    {"causal, bottom right", Option::BottomRight, true, true},
    {"the same, 1024 queries", Option::BottomRight, true, true, {4, 16, 16, 16, 1024, 2048, 128, 128}},
    {"causal, 1024 keys", Option::Causal, true, true, {4, 16, 16, 16, 2048, 1024, 128, 128}},
    {"2047 keys", Option::None, true, true, {4, 16, 16, 16, 2048, 2047, 128, 128}},
    {"causal, window of 256", Option::Window, true, true},
    {"bias", Option::Bias, true, true},
    {"bias and dBias", Option::BiasGradient, false, true},
    {"alibi, causal", Option::Alibi, true, true},
    {"padding", Option::Padding, true, true},
    {"packed sequences", Option::Ragged, true, true},
    {"packed, rows bounded", Option::BoundedRagged, false, true, kBoundedSizes},
    {"pages of 64", Option::Paged, true, false},
    {"dropout", Option::Dropout, true, true},
    {"sink", Option::Sink, true, true},
    {"sink and dSink", Option::SinkGradient, false, true},
    {"softcap", Option::Softcap, true, true},
    {"distance by a modifier", Option::Distance, true, true},
    {"documents by a modifier", Option::Documents, true, false},  // the existing frontend's gradients are wrong
    {"prefix by a modifier", Option::Prefix, true, true},
    {"dilated window by MOD", Option::Grid, true, true},
    {"dilated_window()", Option::GridReadyMade, true, true},
    {"max and sum", Option::SumExp, true, false},
    {"deterministic", Option::Deterministic, false, true},
    {"dropout mask", Option::DropoutMask, true, true},
    {"dropout mask, 2047 keys", Option::DropoutMask, true, true, {4, 16, 16, 16, 2048, 2047, 128, 128}},
    {"head dims of 192 and 128", Option::None, true, true, {4, 16, 16, 16, 2048, 2048, 192, 128}},
    {"head dim of 256", Option::None, true, true, {4, 8, 8, 8, 2048, 2048, 256, 256}},
    {"GQA, 16/4", Option::None, true, true, {4, 16, 4, 4, 2048, 2048, 128, 128}},
    {"heads of K and V, 4/8", Option::None, true, true, {4, 16, 4, 8, 2048, 2048, 128, 128}},
    {"dynamic shapes", Option::DynamicShapes, true, false},
    {"decode", Option::None, true, false, {4, 16, 16, 16, 1, 2048, 128, 128}},
    {"decode, alibi, causal", Option::Alibi, true, false, {4, 16, 16, 16, 1, 2048, 128, 128}},
    {"decode, pages of 64", Option::Paged, true, false, {4, 16, 16, 16, 1, 2048, 128, 128}},
    {"FP8", Option::None, true, true, kOptionSizes, Io::Fp8},
    {"FP8, causal", Option::Causal, true, true, kOptionSizes, Io::Fp8},
    {"FP8, window of 256", Option::Window, true, true, kOptionSizes, Io::Fp8},
    {"FP8, padding", Option::Padding, true, true, kOptionSizes, Io::Fp8},
    {"FP8, pages of 64", Option::Paged, true, false, kOptionSizes, Io::Fp8},
};
constexpr std::size_t kTensorBytes = std::size_t{256} << 20, kWorkspaceBytes = std::size_t{4} << 30;

double now() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

Side load(std::string const& path) {
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) std::printf("%s\n", dlerror());
    using Entry = Side (*)();
    auto const entry = module == nullptr ? nullptr : reinterpret_cast<Entry>(dlsym(module, "bench_side"));
    return entry == nullptr ? Side{} : entry();
}

struct Samples {
    std::vector<double> lower, heuristics, build, execute, gpu;
    std::vector<double> lower_again, all_again, describe_again, plan_again;  // for a known graph
    std::int64_t workspace = 0;
};

// CPU time of a call while the GPU's queue is neither empty nor full.
bool time_execute(Side const& side, cudnnHandle_t handle, Memory const& memory, Samples& samples) {
    for (int i = 0; i < 20; ++i) {
        double const start = now();
        if (!side.execute(handle, memory)) return false;
        samples.execute.push_back(now() - start);
    }
    return cudaDeviceSynchronize() == cudaSuccess;
}

bool time_gpu(Side const& side, cudnnHandle_t handle, Memory const& memory, Samples& samples) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    bool is_good = true;
    for (int i = 0; i < 10; ++i) is_good &= side.execute(handle, memory);
    cudaEventRecord(end);
    is_good &= cudaEventSynchronize(end) == cudaSuccess;
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    samples.gpu.push_back(double{milliseconds} * 100.0);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return is_good;
}

// Known graphs build faster, unless none are kept; the other figures are for first builds.
void keep_graphs(std::vector<Side> const& sides, bool are_kept) {
    for (Side const& side : sides) side.keep_graphs(are_kept);
}

void sample_again(std::vector<Side> const& sides, cudnnHandle_t handle, Shape const& shape,
                  std::vector<Samples>& samples) {
    keep_graphs(sides, true);
    for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < sides.size(); ++i) {
            Cost cost{};
            if (!sides[i].plan(handle, shape, cost) || round == 0) continue;
            samples[i].describe_again.push_back(cost.describe);
            samples[i].lower_again.push_back(cost.describe + cost.lower);
            samples[i].plan_again.push_back(cost.lower + cost.heuristics + cost.build);
            samples[i].all_again.push_back(samples[i].describe_again.back() + samples[i].plan_again.back());
        }
    }
    keep_graphs(sides, false);
}

// Empty if a side refuses the shape, which it has reported, or fails to run it.
std::vector<Samples> sample(std::vector<Side> const& sides, cudnnHandle_t handle, Memory const& memory,
                            Shape const& shape, std::size_t rounds) {
    std::vector<Samples> samples(sides.size());
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t turn = 0; turn < sides.size(); ++turn) {
            std::size_t const i = (turn + round) % sides.size();  // the first side has the coldest caches
            Cost cost{};
            if (!sides[i].plan(handle, shape, cost)) return {};
            if (round == 0) continue;  // loads libraries
            samples[i].lower.push_back(cost.describe + cost.lower);
            samples[i].heuristics.push_back(cost.heuristics);
            samples[i].build.push_back(cost.build);
            samples[i].workspace = cost.workspace;
        }
        for (int turn = 0; turn < 10; ++turn) {
            for (std::size_t i = 0; i < sides.size(); ++i)
                if (!time_execute(sides[i], handle, memory, samples[i])) return {};
            for (std::size_t i = 0; i < sides.size(); ++i)
                if (!time_gpu(sides[i], handle, memory, samples[i])) return {};
        }
    }
    return samples;
}

void measure(std::vector<Side> const& sides, cudnnHandle_t handle, Memory const& memory, Shape const& shape) {
    std::vector<Samples> samples = sample(sides, handle, memory, shape, 10);
    if (samples.empty()) return;
    sample_again(sides, handle, shape, samples);
    auto const print = [&](char const* what, auto member) {
        std::printf("  %-24s", what);
        double const ours = median(samples[0].*member);
        for (Samples const& side : samples) {
            double const value = median(side.*member);
            std::printf(" %10.1f", value);
            if (&side != &samples[0] && value > 0) std::printf(" (%.2f)", ours / value);
        }
        std::printf("\n");
    };
    std::printf("%s\n", shape.name);
    print("describe, validate, lower", &Samples::lower);
    print("the same, built before", &Samples::lower_again);
    print("heuristics", &Samples::heuristics);
    print("build the plan", &Samples::build);
    print("all four, built before", &Samples::all_again);
    print("of these, describe", &Samples::describe_again);
    print("of these, all the others", &Samples::plan_again);
    print("execute, on the CPU", &Samples::execute);
    print("execute, on the GPU", &Samples::gpu);
}

// A larger share of the existing frontend's time is more than noise.
constexpr double kMostOfTheirs = 1.05;

// Compares GPU time and workspace of the first side and the last. False if one of them refuses the option, or this
// library is slower.
bool measure_option(std::vector<Side> const& sides, cudnnHandle_t handle, Memory const& memory, NamedOption const& of) {
    bool is_as_fast = true;
    for (bool const is_backward : {false, true}) {
        if (!(is_backward ? of.is_in_backward : of.is_in_forward)) continue;
        Shape const shape{of.sizes, of.name, is_backward, of.option, of.io};
        std::vector<Samples> const samples = sample({sides.front(), sides.back()}, handle, memory, shape, 4);
        if (samples.empty()) {
            std::printf("  %-24s%-9s FAILED\n", of.name, is_backward ? "backward" : "forward");
            is_as_fast = false;
            continue;
        }
        double const ours = median(samples.front().gpu), theirs = median(samples.back().gpu);
        auto const megabytes = [](Samples const& side) { return static_cast<double>(side.workspace) / (1 << 20); };
        std::printf("  %-24s%-9s %10.1f %10.1f (%.2f) %8.1f %8.1f MiB\n", of.name, is_backward ? "backward" : "forward",
                    ours, theirs, ours / theirs, megabytes(samples.front()), megabytes(samples.back()));
        is_as_fast &= ours <= kMostOfTheirs * theirs;
    }
    return is_as_fast;
}

template <class T>
void fill(void* at, std::vector<T> const& values) {
    cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
}

// The integers that options need; everything else holds small numbers.
void fill_integers(Memory const& memory) {
    std::vector<std::int32_t> lengths, starts, key_starts, row_starts, pages, documents;
    auto const push = [](std::vector<std::int32_t>& to, std::int64_t value) {
        to.push_back(static_cast<std::int32_t>(value));
    };
    for (std::int64_t b = 0; b < kBatches; ++b) push(lengths, length_of(b));
    for (std::int64_t b = 0; b <= kBatches; ++b) push(starts, start_of(b) * kOptionSizes.h_q * kOptionSizes.d_qk);
    for (std::int64_t const start : starts) {
        push(key_starts, start / (kBoundedSizes.h_q / kBoundedSizes.h_k));
        push(row_starts, start / kBoundedSizes.d_qk);
    }
    for (std::int64_t i = 0; i < kOptionSizes.b * kOptionSizes.s_q / kPageSize; ++i) push(pages, i);
    for (std::int64_t i = 0; i < kOptionSizes.b * kOptionSizes.s_q; ++i) push(documents, i / kDocumentSize);
    for (Uid const of : {Uid::DocumentsOfQueries, Uid::DocumentsOfKeys}) fill(memory.tensors[of], documents);
    fill(memory.tensors[Uid::Lengths], lengths);
    fill(memory.tensors[Uid::Starts], starts);
    fill(memory.tensors[Uid::KeyStarts], key_starts);
    fill(memory.tensors[Uid::RowStarts], row_starts);
    fill(memory.tensors[Uid::Ones], std::vector<std::int32_t>(kOptionSizes.b, 1));
    fill(memory.tensors[Uid::Pages], pages);
    fill(memory.tensors[Uid::Seed], std::vector<std::int64_t>{1});
    fill(memory.tensors[Uid::Position], std::vector<std::int64_t>{0});
    for (Uid const factor : {Uid::Factor, Uid::MaskScale, Uid::MaskScaleInverse})
        fill(memory.tensors[factor], std::vector<float>{1});
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    std::string const folder = argc > 1 ? argv[1] : ".";
    cudnnHandle_t handle = nullptr;
    if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    std::vector<Side> sides;
    for (char const* name : {"/side_ours.so", "/side_bare.so", "/side_theirs.so"}) {
        Side const side = load(folder + name);
        if (side.plan != nullptr) sides.push_back(side);
    }
    if (sides.empty()) return 1;
    Memory memory{};
    for (void*& tensor : memory.tensors) {
        cudaMalloc(&tensor, kTensorBytes);
        cudaMemset(tensor, 0x3c, kTensorBytes);  // small numbers, not zeros
    }
    cudaMalloc(&memory.workspace, kWorkspaceBytes);
    std::printf("cuDNN %zu; microseconds: ours, bare backend, existing frontend; in brackets ours over it\n",
                cudnnGetVersion());
    fill_integers(memory);
    keep_graphs(sides, false);
    bool const wants_shapes = argc < 3;
    if (wants_shapes) {
        for (Shape const& shape : kShapes) measure(sides, handle, memory, shape);
    }
    if (sides.size() < 3) return wants_shapes ? 0 : 1;
    std::puts(
        "options, mostly at b4 h16/16 s2048 d128, execute on the GPU: ours, the existing frontend's; then the "
        "workspaces");
    int measured = 0;
    bool is_as_fast = true;
    for (NamedOption const& option : kOptions) {
        if (argc > 3 && std::string(option.name).find(argv[3]) == std::string::npos) continue;
        is_as_fast &= measure_option(sides, handle, memory, option);
        ++measured;
    }
    return is_as_fast && measured > 0 ? 0 : 1;
}
