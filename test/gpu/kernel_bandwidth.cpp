#include "gpu/kernel_bandwidth.h"

#include "core/data_type.h"
#include "gpu/kernel_runs.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using core::Dims;
using kernels::DeviceFacts;
using kernels::Operand;

constexpr double kLeastShare = 0.8;
constexpr int kRounds = 7, kRunsOfRound = 20;
constexpr std::int64_t kColumns = 128, kHeads = 8;

double microseconds(std::function<void()> const& work) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    for (int i = 0; i < kRunsOfRound; ++i) work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return double{milliseconds} * 1000 / kRunsOfRound;
}

// The best rounds of both, which take turns.
std::pair<double, double> time_both(std::function<void()> const& first, std::function<void()> const& second) {
    std::pair<double, double> best{1e30, 1e30};
    for (int round = 0; round < kRounds; ++round) {
        best.first = std::min(best.first, microseconds(first));
        best.second = std::min(best.second, microseconds(second));
    }
    return best;
}

Operand packed(DataType_t type, Dims dims) {
    Dims strides = core::packed_strides(dims);
    return {type, std::move(dims), std::move(strides)};
}

std::size_t bytes_of(Operand const& operand) {
    return static_cast<std::size_t>(*core::volume(operand.dims) * core::size_of(operand.type));
}

struct Row {
    char const* what;
    std::variant<kernels::MergeProblem, kernels::SumProblem> problem;
    bool must_be_fast;
};

// `bytes` are those that the kernel reads and writes, about.
std::int64_t rows_for(std::size_t bytes, DataType_t from, DataType_t to, std::int64_t parts) {
    std::int64_t const bytes_of_row = kColumns * (parts * core::size_of(from) + core::size_of(to));
    return static_cast<std::int64_t>(bytes) / (bytes_of_row * kHeads);
}

Row merge_row(char const* what, std::size_t bytes, DataType_t from, DataType_t to, std::int64_t parts) {
    std::int64_t const rows = rows_for(bytes, from, to, parts);
    kernels::MergeProblem merge{packed(from, {parts, kHeads, rows, kColumns}),
                                packed(DataType_t::FLOAT, {parts, kHeads, rows, 1}),
                                packed(to, {kHeads, rows, kColumns}), packed(DataType_t::FLOAT, {kHeads, rows, 1})};
    merge.o.strides = {kColumns, kHeads * kColumns, 1};  // tokens, heads, columns, as most programs have it
    return {what, std::move(merge), true};
}

Row sum_row(char const* what, std::size_t bytes, DataType_t from, DataType_t to, std::int64_t parts) {
    std::int64_t const rows = rows_for(bytes, from, to, parts);
    return {what,
            kernels::SumProblem{packed(from, {parts, kHeads, rows, kColumns}), packed(to, {kHeads, rows, kColumns})},
            true};
}

// Columns apart in the sum: no vectors.
Row transposed_row(char const* what, std::size_t bytes) {
    Row row = sum_row(what, bytes, DataType_t::BFLOAT16, DataType_t::BFLOAT16, 8);
    Operand& y = std::get<kernels::SumProblem>(row.problem).y;
    y.strides = {y.dims[1] * kColumns, 1, y.dims[1]};
    row.must_be_fast = false;
    return row;
}

std::vector<Row> rows_of(std::size_t bytes) {
    constexpr auto kBfloat16 = DataType_t::BFLOAT16, kHalf = DataType_t::HALF, kFloat = DataType_t::FLOAT;
    return {merge_row("merge, 2 parts, bf16", bytes, kBfloat16, kBfloat16, 2),
            merge_row("merge, 16 parts, bf16", bytes, kBfloat16, kBfloat16, 16),
            merge_row("merge, 4 parts, fp16", bytes, kHalf, kHalf, 4),
            merge_row("merge, 4 parts, fp32 to bf16", bytes, kFloat, kBfloat16, 4),
            sum_row("sum, 2 parts, bf16", bytes, kBfloat16, kBfloat16, 2),
            sum_row("sum, 8 parts, bf16", bytes, kBfloat16, kBfloat16, 8),
            sum_row("sum, 8 parts, fp32 to bf16", bytes, kFloat, kBfloat16, 8),
            sum_row("sum, 8 parts, fp32", bytes, kFloat, kFloat, 8),
            transposed_row("sum, 8 parts, bf16, transposed", bytes)};
}

bool measure(Row const& row, DeviceFacts const& device) {
    KernelCase const made{row.problem, {}};
    auto const kernel = made.compile(device);
    if (kernel.is_bad()) return std::puts(kernel.error().err_msg.c_str()), false;
    std::vector<std::unique_ptr<DeviceBytes>> memory;
    std::vector<void*> pointers;
    std::size_t moved = 0;
    for (auto const& named : made.operands().operands) {
        std::size_t const bytes = bytes_of(*named.operand);
        moved += bytes;
        memory.push_back(std::make_unique<DeviceBytes>(bytes));
        cudaMemset(memory.back()->get(), 0, bytes);
        pointers.push_back(memory.back()->get());
    }
    DeviceBytes const from(moved / 2), to(moved / 2);  // a copy reads and writes each byte
    auto const [ours, copy] =
        time_both([&] { static_cast<void>(kernel.value()->launch(nullptr, pointers)); },
                  [&] { cudaMemcpyAsync(to.get(), from.get(), moved / 2, cudaMemcpyDeviceToDevice); });
    if (cudaError_t const status = cudaGetLastError(); status != cudaSuccess) {
        return std::puts(cudaGetErrorString(status)), false;
    }
    bool const is_fast = copy >= kLeastShare * ours;
    std::printf("%6zu MiB  %-32s %9.1f us  %5.2f TB/s  %4.0f %% of a copy%s\n", moved >> 20, row.what, ours,
                static_cast<double>(moved) / ours / 1e6, 100 * copy / ours,
                is_fast            ? ""
                : row.must_be_fast ? "  TOO SLOW"
                                   : "  (need not be fast)");
    return is_fast || !row.must_be_fast;
}

}  // namespace

int measure_kernels(DeviceFacts const& device) {
    int failures = 0;
    for (std::size_t const mebibytes : {64, 256, 1024}) {
        for (Row const& row : rows_of(mebibytes << 20)) failures += !measure(row, device);
    }
    Row const small =
        merge_row("merge of few queries, 16 parts", 1 << 20, DataType_t::BFLOAT16, DataType_t::BFLOAT16, 16);
    measure({small.what, small.problem, false}, device);
    return failures;
}

}  // namespace sdpa_test
