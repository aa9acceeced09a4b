#include "gpu/kernels/large_kernels.h"

#include "core/floats.h"
#include "gpu/kernels/kernel_runs.h"

#include <cstdint>
#include <cstdio>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using kernels::DeviceFacts;

constexpr std::int64_t kLimit = std::int64_t{1} << 31;

void put(DeviceBytes const& memory, std::int64_t element, float number) {
    std::uint16_t const bits = core::float_to_bfloat16(number);
    cudaMemcpy(memory.get() + element * 2, &bits, sizeof bits, cudaMemcpyHostToDevice);
}

float get(DeviceBytes const& memory, std::int64_t element) {
    std::uint16_t bits = 0;
    cudaMemcpy(&bits, memory.get() + element * 2, sizeof bits, cudaMemcpyDeviceToHost);
    return core::bfloat16_to_float(bits);
}

std::string run(kernels::SumProblem const& sum, DeviceFacts const& device, void* x, void* y) {
    auto const kernel = kernels::compile_sum(sum, device);
    if (kernel.is_bad()) return kernel.error().err_msg;
    void* const pointers[] = {x, y};
    if (auto const error = kernel.value()->launch(nullptr, pointers); error.is_bad()) return error.err_msg;
    cudaError_t const status = cudaDeviceSynchronize();
    return status == cudaSuccess ? "" : cudaGetErrorString(status);
}

// Two parts and two rows, each further than 2^31 elements from the other.
std::string far_parts(DeviceFacts const& device) {
    constexpr std::int64_t kColumns = 64, kRow = kLimit + kColumns, kPart = 2 * kLimit;
    DeviceBytes const x(static_cast<std::size_t>(2 * (kPart + kRow + kColumns))), y(std::size_t{4} * kColumns);
    if (x.get() == nullptr || y.get() == nullptr) return "too little memory";
    for (std::int64_t column = 0; column < kColumns; ++column) {
        put(x, column, 1), put(x, kRow + column, 2), put(x, kPart + column, 4), put(x, kPart + kRow + column, 8);
    }
    kernels::SumProblem const sum{{DataType_t::BFLOAT16, {2, 2, kColumns}, {kPart, kRow, 1}},
                                  {DataType_t::BFLOAT16, {2, kColumns}, {kColumns, 1}}};
    if (std::string text = run(sum, device, x.get(), y.get()); !text.empty()) return text;
    for (std::int64_t column = 0; column < kColumns; ++column) {
        if (get(y, column) != 5 || get(y, kColumns + column) != 10) return "wrong sums";
    }
    return "";
}

// More threads than 32 bits count: one for each element, since the memory is not aligned for vectors.
std::string many_threads(DeviceFacts const& device) {
    constexpr std::int64_t kCount = 2 * kLimit + 1000;
    constexpr std::int64_t kPlaces[] = {0, kLimit - 1, kLimit, 2 * kLimit - 1, 2 * kLimit, kCount - 1};
    auto const bytes = static_cast<std::size_t>(2 * (kCount + 1));
    DeviceBytes const x(bytes), y(bytes);
    if (x.get() == nullptr || y.get() == nullptr) return "too little memory";
    cudaMemset(x.get(), 0, bytes);
    cudaMemset(y.get(), 0xff, bytes);  // NaN
    float number = 1;
    for (std::int64_t const place : kPlaces) put(x, place + 1, number++);
    kernels::SumProblem const sum{{DataType_t::BFLOAT16, {1, kCount}, {kCount, 1}},
                                  {DataType_t::BFLOAT16, {kCount}, {1}}};
    if (std::string text = run(sum, device, x.get() + 2, y.get() + 2); !text.empty()) return text;
    number = 1;
    for (std::int64_t const place : kPlaces) {
        if (get(y, place + 1) != number++) return "wrong number at element " + std::to_string(place);
    }
    return get(y, kLimit / 2) == 0 ? "" : "an element that no thread wrote";
}

}  // namespace

int check_large_kernels(DeviceFacts const& device) {
    int failures = 0;
    auto const report = [&](char const* what, std::string const& fault) {
        failures += !fault.empty();
        std::printf("%s: %s\n", what, fault.empty() ? "right" : fault.c_str());
    };
    report("strides past 2^31", far_parts(device));
    report("threads past 2^32", many_threads(device));
    return failures;
}

}  // namespace sdpa_test
