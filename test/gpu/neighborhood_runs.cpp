#include "gpu/neighborhood_runs.h"

#include "gpu/kernel_runs.h"
#include "support/neighborhood_kernel_cases.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sdpa_test {
namespace {

using cudnn_frontend::cuda::DeviceFacts;
using kernels::NeighborhoodForm;
using Memory = std::vector<std::vector<std::byte>>;

constexpr NeighborhoodSizes kSizes{1200, 300, 4};
constexpr int kMostFaultsPrinted = 20;

std::string problem(cudaError_t status) { return status == cudaSuccess ? "" : cudaGetErrorString(status); }

// A case's tensors on the GPU.
class DeviceTensors {
   public:
    explicit DeviceTensors(NeighborhoodCase const& made) : made_(made) {
        for (NeighborhoodData const& data : made.data) {
            memory_.push_back(std::make_unique<DeviceBytes>(data.bytes.size()));
            cudaMemcpy(memory_.back()->get(), data.bytes.data(), data.bytes.size(), cudaMemcpyHostToDevice);
        }
    }
    void* start(std::size_t number) const { return memory_[number]->get() + made_.data[number].start; }
    Memory read() const {
        Memory all;
        for (std::size_t i = 0; i < memory_.size(); ++i) {
            all.emplace_back(made_.data[i].bytes.size());
            cudaMemcpy(all.back().data(), memory_[i]->get(), all.back().size(), cudaMemcpyDeviceToHost);
        }
        return all;
    }

   private:
    NeighborhoodCase const& made_;
    std::vector<std::unique_ptr<DeviceBytes>> memory_;
};

std::string run(NeighborhoodCase const& made, NeighborhoodForm form, DeviceFacts const& device,
                DeviceTensors const& tensors) {
    for (NeighborhoodStep const& step : made.steps) {
        auto const kernel = kernels::compile_neighborhood(step.problem, form, device);
        if (kernel.is_bad()) return kernel.error().err_msg;
        std::vector<void*> pointers;
        for (std::size_t const data : step.data) pointers.push_back(tensors.start(data));
        if (auto const error = kernel.value()->launch(nullptr, pointers); error.is_bad()) return error.err_msg;
    }
    return problem(cudaDeviceSynchronize());
}

std::string fault_on_gpu(NeighborhoodCase const& made, NeighborhoodForm form, DeviceFacts const& device) {
    DeviceTensors const first(made), second(made);
    for (DeviceTensors const* const tensors : {&first, &second}) {
        if (std::string text = run(made, form, device, *tensors); !text.empty()) return text;
    }
    Memory const results = first.read();
    if (std::string text = fault_of(made, results); !text.empty()) return text;
    return second.read() == results ? "" : "another run gave other bits";
}

// What the threads share.
struct Progress {
    std::atomic<std::uint64_t> next{0}, right{0}, by_tiles{0};
    std::mutex mutex;  // of printing, and of the GPU, which one case has at a time
    int wrong = 0;
};

void check_form(NeighborhoodCase const& made, std::uint64_t seed, NeighborhoodForm form, DeviceFacts const& device,
                Progress& progress) {
    std::lock_guard const lock(progress.mutex);
    std::string const fault = fault_on_gpu(made, form, device);
    if (fault.empty()) {
        ++progress.right;
        progress.by_tiles += form == NeighborhoodForm::Tiles;
        return;
    }
    if (++progress.wrong > kMostFaultsPrinted) return;
    std::printf("case %llu by %s: %s\n  %s\n", static_cast<unsigned long long>(seed),
                form == NeighborhoodForm::Tiles ? "tiles" : "tokens", fault.c_str(), made.text().c_str());
}

void check_some(std::uint64_t cases, DeviceFacts const& device, Progress& progress) {
    cudaSetDevice(0);
    for (std::uint64_t seed = progress.next++; seed < cases; seed = progress.next++) {
        NeighborhoodCase const made = random_neighborhood_case(seed, kSizes);
        check_form(made, seed, NeighborhoodForm::Tokens, device, progress);
        if (made.allows_tiles()) check_form(made, seed, NeighborhoodForm::Tiles, device, progress);
    }
}

// The kernels that the cases need, in several threads: compiling takes seconds for each.
void compile_all(std::uint64_t cases, DeviceFacts const& device) {
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> next{0};
    auto const compile_some = [&] {
        for (std::uint64_t seed = next++; seed < cases; seed = next++) {
            NeighborhoodCase const made = random_neighborhood_case(seed, {16, kSizes.columns, 1});
            for (NeighborhoodStep const& step : made.steps) {
                static_cast<void>(kernels::compile_neighborhood(step.problem, NeighborhoodForm::Tokens, device));
                if (!made.allows_tiles()) continue;
                static_cast<void>(kernels::compile_neighborhood(step.problem, NeighborhoodForm::Tiles, device));
            }
        }
    };
    for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(compile_some);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

int check_neighborhood(std::uint64_t cases, DeviceFacts const& device) {
    compile_all(std::min<std::uint64_t>(cases, 400), device);
    Progress progress;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) {
        threads.emplace_back([&] { check_some(cases, device, progress); });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%llu random cases of neighborhood attention: %llu runs right, of which %llu by tiles; %d wrong\n",
                static_cast<unsigned long long>(cases), static_cast<unsigned long long>(progress.right.load()),
                static_cast<unsigned long long>(progress.by_tiles.load()), progress.wrong);
    return progress.wrong + (progress.by_tiles == 0);
}

}  // namespace sdpa_test
