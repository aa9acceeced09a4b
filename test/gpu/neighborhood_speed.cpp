#include "gpu/neighborhood_speed.h"

#include "core/data_type.h"
#include "gpu/kernel_runs.h"
#include "kernels/neighborhood.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using core::Dims;
using cuda::DeviceFacts;
using kernels::NeighborhoodForm;
using kernels::NeighborhoodProblem;
using kernels::NeighborhoodTensor;
using kernels::NeighborhoodWork;

constexpr int kRounds = 15;
constexpr int kKinds = kernels::kNeighborhoodTensors;

struct Shape {
    char const* name;
    std::int64_t batches, heads, columns;
    std::vector<neighborhood::Axis> axes;

    std::int64_t tokens() const {
        std::int64_t count = batches * heads;
        for (neighborhood::Axis const& axis : axes) count *= axis.length;
        return count;
    }
    // Products of a query and a key, of a row each; there are two in forward and five in backward.
    double products() const {
        double count = static_cast<double>(tokens());
        for (neighborhood::Axis const& axis : axes) count *= static_cast<double>(axis.kernel);
        return count * 2.0 * static_cast<double>(columns);
    }
};

std::vector<Shape> shapes() {
    auto const square = [](std::int64_t length, std::int64_t kernel, std::int64_t dilation = 1) {
        return std::vector<neighborhood::Axis>{{length, kernel, dilation}, {length, kernel, dilation}};
    };
    return {{"1d 16384 k=257 d=64", 2, 16, 64, {{16384, 257}}},
            {"1d 16384 k=2049 d=64", 2, 16, 64, {{16384, 2049}}},
            {"1d 16384 k=257 dilation 8 d=64", 2, 16, 64, {{16384, 257, 8}}},
            {"2d 64x64 k=7 d=64", 8, 12, 64, square(64, 7)},
            {"2d 64x64 k=31 d=64", 8, 12, 64, square(64, 31)},
            {"2d 64x64 k=7 dilation 4 d=64", 8, 12, 64, square(64, 7, 4)},
            {"2d 128x128 k=13 d=128", 2, 16, 128, square(128, 13)},
            {"3d 16x32x32 k=7 d=128", 1, 24, 128, {{16, 7}, {32, 7}, {32, 7}}},
            {"3d 16x32x32 k=15 d=128", 1, 24, 128, {{16, 15}, {32, 15}, {32, 15}}}};
}

// Heads are last in memory.
kernels::Operand rows(Shape const& shape, DataType_t type, std::int64_t columns) {
    Dims dims{shape.batches, shape.heads}, strides{0, columns};
    for (neighborhood::Axis const& axis : shape.axes) dims.push_back(axis.length);
    strides.resize(dims.size());
    std::int64_t next = shape.heads * columns;
    for (std::size_t i = dims.size(); i-- > 2;) {
        strides[i] = next;
        next *= dims[i];
    }
    strides[0] = next;
    dims.push_back(columns);
    strides.push_back(1);
    return {type, dims, strides};
}

NeighborhoodProblem problem_of(Shape const& shape, NeighborhoodWork work,
                               std::vector<NeighborhoodTensor> const& tensors) {
    NeighborhoodProblem problem;
    problem.work = work;
    problem.axes = shape.axes;
    problem.scale = 0.125f;
    for (NeighborhoodTensor const tensor : tensors) {
        bool const is_statistic = tensor == kernels::kStats || tensor == kernels::kDelta;
        problem.operands[tensor] =
            is_statistic ? rows(shape, DataType_t::FLOAT, 1) : rows(shape, DataType_t::BFLOAT16, shape.columns);
    }
    return problem;
}

// The fused functions' kernels in order, and which tensor each of their operands is.
struct Work {
    NeighborhoodProblem problem;
    std::vector<NeighborhoodTensor> tensors;
};

std::vector<Work> works_of(Shape const& shape, bool is_backward) {
    using namespace kernels;
    std::vector<std::pair<NeighborhoodWork, std::vector<NeighborhoodTensor>>> const all{
        {NeighborhoodWork::Forward, {kQueries, kKeys, kValues, kOutput, kStats}},
        {NeighborhoodWork::QueryGradients,
         {kQueries, kKeys, kValues, kOutput, kStats, kOutputGradient, kDelta, kQueryGradient}},
        {NeighborhoodWork::KeyGradients,
         {kQueries, kKeys, kValues, kStats, kOutputGradient, kDelta, kKeyGradient, kValueGradient}}};
    std::vector<Work> works;
    for (auto const& [work, tensors] : all) {
        if ((work != NeighborhoodWork::Forward) == is_backward)
            works.push_back({problem_of(shape, work, tensors), tensors});
    }
    return works;
}

// Of rounds that each run the work once.
double median_microseconds(std::function<void()> const& work) {
    std::vector<float> times;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int round = -3; round < kRounds; ++round) {
        cudaEventRecord(begin);
        work();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float milliseconds = 0;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (round >= 0) times.push_back(milliseconds);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::ranges::nth_element(times, times.begin() + kRounds / 2);
    return double{times[kRounds / 2]} * 1000;
}

bool measure(Shape const& shape, NeighborhoodForm form, bool is_backward, DeviceFacts const& device) {
    std::vector<std::unique_ptr<DeviceBytes>> memory;
    auto const bytes = static_cast<std::size_t>(shape.tokens() * shape.columns * 2);
    for (int i = 0; i < kKinds; ++i) {
        memory.push_back(std::make_unique<DeviceBytes>(bytes));
        cudaMemset(memory.back()->get(), 0x3c, bytes);  // about 0.01
    }
    std::vector<Work> const works = works_of(shape, is_backward);
    std::vector<kernels::KernelPointer> compiled;
    for (Work const& work : works) {
        auto const kernel = kernels::compile_neighborhood(work.problem, form, device);
        if (kernel.is_bad()) {
            std::printf("%s: %s\n", shape.name, kernel.error().err_msg.c_str());
            return false;
        }
        compiled.push_back(kernel.value());
    }
    std::string fault, parts;
    auto const launch = [&](std::size_t number) {
        std::vector<void*> pointers;
        for (NeighborhoodTensor const tensor : works[number].tensors) pointers.push_back(memory[tensor]->get());
        if (auto const error = compiled[number]->launch(nullptr, pointers); error.is_bad()) fault = error.err_msg;
    };
    double const all = median_microseconds([&] {
        for (std::size_t i = 0; i < works.size(); ++i) launch(i);
    });
    for (std::size_t i = 0; works.size() > 1 && i < works.size(); ++i) {
        parts += (i == 0 ? " = " : " + ") + std::to_string(std::lround(median_microseconds([&] { launch(i); })));
    }
    cudaError_t const status = cudaDeviceSynchronize();
    if (status != cudaSuccess) fault = cudaGetErrorString(status);
    double const useful = shape.products() * (is_backward ? 5 : 2);
    std::printf("%-32s %-8s by %-6s %9.0f us %7.1f useful TFLOP/s%s %s\n", shape.name,
                is_backward ? "backward" : "forward", form == NeighborhoodForm::Tiles ? "tiles" : "tokens", all,
                useful / all / 1e6, parts.c_str(), fault.c_str());
    return fault.empty();
}

}  // namespace

int measure_neighborhood(DeviceFacts const& device) {
    int failures = 0;
    for (Shape const& shape : shapes()) {
        for (bool const is_backward : {false, true}) {
            failures += !measure(shape, NeighborhoodForm::Tiles, is_backward, device);
        }
    }
    Shape const small = shapes()[3];
    for (bool const is_backward : {false, true}) {
        failures += !measure(small, NeighborhoodForm::Tokens, is_backward, device);
    }
    return failures;
}

}  // namespace sdpa_test
