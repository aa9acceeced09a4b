#include "gpu/kernels/kernel_bandwidth.h"

#include "core/data_type.h"
#include "gpu/kernels/kernel_runs.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using core::Dims;
using kernels::DeviceFacts;
using kernels::Operand;

constexpr double kLeastShare = 0.8;
constexpr int kRounds = 7, kRunsOfRound = 20;
constexpr std::size_t kCacheLeft = std::size_t{512} << 20;  // several times the largest cache
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

// The best rounds of both, which run in turn.
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
    JointProblem problem;
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

// Columns that are not adjacent in the sum: no vectors.
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
            merge_row("merge, 4 parts, bf16", bytes, kBfloat16, kBfloat16, 4),
            merge_row("merge, 8 parts, bf16", bytes, kBfloat16, kBfloat16, 8),
            merge_row("merge, 16 parts, bf16", bytes, kBfloat16, kBfloat16, 16),
            merge_row("merge, 4 parts, fp16", bytes, kHalf, kHalf, 4),
            merge_row("merge, 4 parts, fp32 to bf16", bytes, kFloat, kBfloat16, 4),
            sum_row("sum, 2 parts, bf16", bytes, kBfloat16, kBfloat16, 2),
            sum_row("sum, 4 parts, bf16", bytes, kBfloat16, kBfloat16, 4),
            sum_row("sum, 8 parts, bf16", bytes, kBfloat16, kBfloat16, 8),
            sum_row("sum, 8 parts, fp32 to bf16", bytes, kFloat, kBfloat16, 8),
            sum_row("sum, 8 parts, fp32", bytes, kFloat, kFloat, 8),
            transposed_row("sum, 8 parts, bf16, transposed", bytes)};
}

// Memory for an operand, once for each run of a cycle: the GPU's cache after one run must not help the next.
class TurningMemory {
   public:
    TurningMemory(std::size_t bytes, std::size_t turns)
        : step_((bytes + kAlignment - 1) / kAlignment * kAlignment), memory_(step_ * turns) {
        cudaMemset(memory_.get(), 0, step_ * turns);
    }
    std::byte* at(std::size_t turn) const { return memory_.get() + turn * step_; }

   private:
    static constexpr std::size_t kAlignment = 256;
    std::size_t step_;
    DeviceBytes memory_;
};

struct Times {
    double ours, copy;
    std::size_t bytes;  // read and written
    std::string fault;  // of a launch
};

Times time_row(JointProblem const& problem, kernels::Kernel const& kernel) {
    std::size_t bytes = 0;
    for (auto const& named : operands_of(problem).operands) bytes += bytes_of(*named.operand);
    std::size_t const turns = std::max<std::size_t>(1, kCacheLeft / bytes);
    std::vector<std::unique_ptr<TurningMemory>> memory;
    for (auto const& named : operands_of(problem).operands) {
        memory.push_back(std::make_unique<TurningMemory>(bytes_of(*named.operand), turns));
    }
    TurningMemory const from(bytes / 2, turns), to(bytes / 2, turns);  // a copy reads and writes each byte
    std::size_t turn = 0;
    std::string fault;
    auto const launch = [&] {
        std::vector<void*> pointers;
        pointers.reserve(memory.size());
        for (auto const& operand : memory) pointers.push_back(operand->at(turn));
        turn = (turn + 1) % turns;
        if (auto const error = kernel.launch(nullptr, pointers); error.is_bad()) fault = error.err_msg;
    };
    auto const copy = [&] {
        cudaMemcpyAsync(to.at(turn), from.at(turn), bytes / 2, cudaMemcpyDeviceToDevice);
        turn = (turn + 1) % turns;
    };
    auto const [ours, of_copy] = time_both(launch, copy);
    return {ours, of_copy, bytes, fault};
}

bool measure(Row const& row, DeviceFacts const& device) {
    auto const kernel = compile(row.problem, device);
    if (kernel.is_bad()) {
        std::puts(kernel.error().err_msg.c_str());
        return false;
    }
    Times const times = time_row(row.problem, *kernel.value());
    cudaError_t const status = cudaDeviceSynchronize();
    if (!times.fault.empty() || status != cudaSuccess) {
        std::printf("%s: %s%s\n", row.what, times.fault.c_str(), cudaGetErrorString(status));
        return false;
    }
    char const* const slow = row.must_be_fast ? "  TOO SLOW" : "  (need not be fast)";
    bool const is_fast = times.copy >= kLeastShare * times.ours;
    std::printf("%6zu MiB  %-32s %9.1f us  %5.2f TB/s  %4.0f %% of a copy%s\n", times.bytes >> 20, row.what, times.ours,
                static_cast<double>(times.bytes) / times.ours / 1e6, 100 * times.copy / times.ours,
                is_fast ? "" : slow);
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
    failures += !measure({small.what, small.problem, false}, device);
    return failures;
}

}  // namespace sdpa_test
