#include "support/kernels/joint_cases.h"

#include "core/data_type.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using core::Dims;
using kernels::NamedOperand;
using kernels::Operand;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatRounding = 0x1p-24;
constexpr std::int64_t kMostElements = 1 << 14;  // of a result
constexpr DataType_t kTypes[] = {DataType_t::BFLOAT16, DataType_t::HALF, DataType_t::FLOAT};

// --- Problems

// Dims in random order of memory, with gaps; friendly layouts keep the order, and gaps that keep vectors aligned.
Dims random_strides(Random& random, Dims const& dims, bool is_friendly) {
    std::vector<std::size_t> order(dims.size());  // the innermost first
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    std::size_t const fixed = is_friendly ? 1 : 0;
    if (!is_friendly || random.chance(0.4)) {
        for (std::size_t i = order.size(); i > fixed + 1; --i) {
            std::swap(order[i - 1], order[static_cast<std::size_t>(random.between(static_cast<std::int64_t>(fixed),
                                                                                  static_cast<std::int64_t>(i) - 1))]);
        }
    }
    Dims strides(dims.size());
    std::int64_t next = is_friendly ? 1 : random.pick({1, 1, 2, 3});
    for (std::size_t const dim : order) {
        strides[dim] = next;
        next *= dims[dim];
        if (random.chance(0.3)) next += is_friendly ? 8 * random.between(1, 3) : random.between(1, 9);
    }
    return strides;
}

Operand random_operand(Random& random, Dims dims, DataType_t type, bool is_friendly) {
    Dims strides = random_strides(random, dims, is_friendly);
    return {type, std::move(dims), std::move(strides)};
}

Dims random_dims(Random& random, bool is_friendly) {
    Dims dims;
    std::int64_t volume = 1;
    std::int64_t const rank = random.between(1, static_cast<std::int64_t>(kernels::kMaxDims));
    for (std::int64_t i = 0; i < rank; ++i) {
        std::int64_t size = random.pick({1, 2, 3, 5, 8, 17, 40});
        if (i + 1 == rank) size = is_friendly ? random.pick({8, 16, 64, 128, 192}) : random.between(1, 70);
        if (volume * size > kMostElements) size = is_friendly && i + 1 == rank ? 8 : 1;
        volume *= size;
        dims.push_back(size);
    }
    return dims;
}

Dims with_parts(Dims dims, std::int64_t parts) {
    dims.insert(dims.begin(), parts);
    return dims;
}

kernels::MergeProblem random_merge(Random& random) {
    bool const is_friendly = random.chance(0.6);
    Dims const dims = random_dims(random, is_friendly);
    Dims of_stats = dims;
    of_stats.back() = 1;
    std::int64_t const parts = random.pick({1, 2, 3, 4, 5, 8, 16, 33});
    kernels::MergeProblem merge{random_operand(random, with_parts(dims, parts), random.pick(kTypes), is_friendly),
                                random_operand(random, with_parts(of_stats, parts), DataType_t::FLOAT, random.flip()),
                                random_operand(random, dims, random.pick(kTypes), is_friendly && random.chance(0.8))};
    if (random.chance(0.3)) {
        merge.partial_lengths = random_operand(random, with_parts(of_stats, parts), DataType_t::INT32, random.flip());
    }
    if (random.flip()) merge.stats = random_operand(random, of_stats, DataType_t::FLOAT, random.flip());
    return merge;
}

kernels::SumProblem random_sum(Random& random) {
    bool const is_friendly = random.chance(0.6);
    Dims const dims = random_dims(random, is_friendly);
    std::int64_t const parts = random.pick({1, 2, 3, 4, 5, 8, 16, 33});
    return {random_operand(random, with_parts(dims, parts), random.pick(kTypes), is_friendly),
            random_operand(random, dims, random.pick(kTypes), is_friendly && random.chance(0.8))};
}

// One length for all chunks, as in programs, or any.
kernels::SplitLengthsProblem random_split_lengths(Random& random) {
    Dims const dims{random.between(1, 70), random.pick({1, 2, 8, 33})};
    auto const lengths = [&] { return random_operand(random, dims, DataType_t::INT32, random.flip()); };
    kernels::SplitLengthsProblem split{
        lengths(), lengths(), lengths(), lengths(), random.between(1, 16), random.between(1, 300)};
    if (random.flip()) split.queries.strides[1] = split.keys.strides[1] = 0;
    if (random.flip()) {
        split.first_query = random.between(0, 100), split.most_queries = random.between(1, 300);
        split.first_key = random.between(0, 100);
    }
    return split;
}

// --- Data

// Calls visit(indices) for each element of the dims.
template <class Visit>
void for_each_index(Dims const& dims, Visit const& visit) {
    Dims index(dims.size(), 0);
    for (std::int64_t left = *core::volume(dims); left > 0; --left) {
        visit(index);
        for (std::size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
    }
}

std::int64_t offset_of(Operand const& operand, Dims const& index) {
    return std::inner_product(index.begin(), index.end(), operand.strides.begin(), std::int64_t{0});
}

// Guards are bytes of no particular number. One start in five is no multiple of 16 bytes.
KernelTensor random_tensor(Random& random, NamedOperand const& named) {
    constexpr std::size_t kGuard = 64;
    Operand const& operand = *named.operand;
    auto const element = static_cast<std::size_t>(core::size_of(operand.type));
    KernelTensor buffer{named.name, operand, {}};
    buffer.start = kGuard + (random.chance(0.2) ? element * static_cast<std::size_t>(random.between(1, 7)) : 0);
    auto const span = static_cast<std::size_t>(*core::span_of(operand.dims, operand.strides));
    buffer.bytes.resize(buffer.start + span * element + kGuard);
    for (std::byte& byte : buffer.bytes) byte = static_cast<std::byte>(random.next());
    return buffer;
}

void fill(Random& random, Operand const& operand, KernelTensor& buffer, double range, double nan_chance) {
    for_each_index(operand.dims, [&](Dims const& index) {
        double const number = random.chance(nan_chance) ? kNan : random.real(-range, range);
        core::store(operand.type, buffer.data(), offset_of(operand, index), number);
    });
}

// Statistics of rows: near each other or far apart, with parts and whole rows without visible keys.
void fill_stats(Random& random, Operand const& operand, KernelTensor& buffer) {
    double const range = random.pick({1.0, 20.0, 300.0});
    double const unseen = random.pick({0.0, 0.3, 1.0});
    double const nan_chance = random.pick({0.0, 0.0, 0.05});
    for_each_index(operand.dims, [&](Dims const& index) {
        double number = random.real(-range, range);
        if (random.chance(nan_chance)) number = random.pick({kNan, kInfinity});
        if (random.chance(unseen)) number = -kInfinity;
        core::store(operand.type, buffer.data(), offset_of(operand, index), number);
    });
}

constexpr std::size_t kPartialStats = 1;

// Fills lengths, some of them 0.
void fill_lengths(Random& random, Operand const& operand, KernelTensor& buffer) {
    for_each_index(operand.dims, [&](Dims const& index) {
        std::int64_t const length = random.chance(0.3) ? 0 : random.between(1, 9000);
        core::store(operand.type, buffer.data(), offset_of(operand, index), static_cast<double>(length));
    });
}

void fill(Random& random, NamedOperand const& named, KernelTensor& buffer, double nan_chance) {
    switch (named.holds) {
        case kernels::Holds::Elements: return fill(random, *named.operand, buffer, 4.0, nan_chance);
        case kernels::Holds::Statistics: return fill_stats(random, *named.operand, buffer);
        case kernels::Holds::Lengths: return fill_lengths(random, *named.operand, buffer);
    }
}

// A part's log-sum-exp as the input of a merge.
double stats_of_part(kernels::MergeProblem const& merge, KernelTensors const& buffers, Dims const& row) {
    bool const has_keys = !merge.partial_lengths || core::load_integer(DataType_t::INT32, buffers.back().data(),
                                                                       offset_of(*merge.partial_lengths, row)) > 0;
    if (!has_keys) return -kInfinity;
    return core::load(DataType_t::FLOAT, buffers[kPartialStats].data(), offset_of(merge.partial_stats, row));
}

// Writes NaN where no key of a part was visible to the row: a kernel's output there does not matter.
void spoil_unseen(kernels::MergeProblem const& merge, KernelTensors& buffers) {
    for_each_index(merge.partial_o.dims, [&](Dims const& index) {
        Dims row = index;
        row.back() = 0;
        if (stats_of_part(merge, buffers, row) != -kInfinity) return;
        core::store(merge.partial_o.type, buffers[0].data(), offset_of(merge.partial_o, index), kNan);
    });
}

// --- The expected results

struct Expected {
    double number, tolerance;
};

double rounding_of(DataType_t type) {
    return type == DataType_t::BFLOAT16 ? 0x1p-8 : type == DataType_t::HALF ? 0x1p-11 : kFloatRounding;
}

// A number that was computed with that error, and rounded.
Expected rounded(double number, double error, DataType_t type) {
    return {number, error + rounding_of(type) * (std::abs(number) + error) + 0x1p-24 * (type == DataType_t::HALF)};
}

class Parts {
   public:
    Parts(Operand const& operand, KernelTensor const& buffer, Dims index)
        : operand_(operand), buffer_(buffer), index_(std::move(index)) {
        index_.insert(index_.begin(), 0);
    }
    std::int64_t count() const { return operand_.dims[0]; }
    double operator[](std::int64_t part) {
        index_[0] = part;
        return core::load(operand_.type, buffer_.data(), offset_of(operand_, index_));
    }

   private:
    Operand const& operand_;
    KernelTensor const& buffer_;
    Dims index_;
};

Expected expected_sum(Parts x, DataType_t type) {
    double sum = 0, sizes = 0;
    for (std::int64_t i = 0; i < x.count(); ++i) sum += x[i], sizes += std::abs(x[i]);
    return rounded(sum, sizes * static_cast<double>(x.count()) * kFloatRounding, type);
}

// Weights and their sum have an error of some roundings, and that of the difference in the exponent.
struct Merged {
    double largest = -kInfinity, weights = 0, o = 0;
    double o_error = 0, weights_error = 0;
};

Merged merge_parts(std::vector<double> const& stats, Parts o) {
    Merged merged;
    for (double const of_part : stats) {
        if (!std::isnan(of_part)) merged.largest = std::max(merged.largest, of_part);
    }
    for (std::size_t i = 0; i < stats.size(); ++i) {
        if (stats[i] == -kInfinity) continue;
        double const difference = stats[i] - merged.largest;
        double const weight = std::exp(difference);
        double const error = (8 + static_cast<double>(stats.size()) + std::abs(difference)) * 2 * kFloatRounding;
        merged.weights += weight;
        double const of_part = o[static_cast<std::int64_t>(i)];
        merged.o += weight * of_part;
        merged.weights_error += weight * error;
        merged.o_error += weight * error * std::abs(of_part) + 0x1p-126;
    }
    return merged;
}

Expected expected_o(Merged const& merged, DataType_t type) {
    if (merged.weights == 0) return {0, 0};
    double const o = merged.o / merged.weights;
    return rounded(o, (merged.o_error + std::abs(o) * merged.weights_error) / merged.weights, type);
}

Expected expected_stats(Merged const& merged) {
    if (merged.weights == 0) return {-kInfinity, 0};
    double const error = merged.weights_error / merged.weights + 0x1p-22;
    return rounded(merged.largest + std::log(merged.weights), error + std::abs(merged.largest) * kFloatRounding,
                   DataType_t::FLOAT);
}

// --- Comparing

bool is_right(double found, Expected const& expected) {
    if (std::isnan(expected.number)) return std::isnan(found);
    return found == expected.number || std::abs(found - expected.number) <= expected.tolerance;
}

// Collects the first fault of an output, and the bytes that it may have changed.
class OutputCheck {
   public:
    OutputCheck(NamedOperand const& named, KernelTensor const& before, KernelTensor const& after)
        : named_(named), before_(before), after_(after), may_change_(before.bytes.size(), false) {}

    void expect(Dims const& index, Expected const& expected) {
        Operand const& operand = *named_.operand;
        std::int64_t const offset = offset_of(operand, index);
        auto const bytes = static_cast<std::size_t>(named_.element_bytes());
        auto const first = before_.start + static_cast<std::size_t>(offset) * bytes;
        std::fill_n(may_change_.begin() + static_cast<std::ptrdiff_t>(first), bytes, true);
        double const found = core::load(operand.type, after_.data(), offset);
        if (!fault_.empty() || is_right(found, expected)) return;
        fault_ = std::string(named_.name) + core::to_string(index) + " is " + std::to_string(found) + ", not " +
                 std::to_string(expected.number) + " +- " + std::to_string(expected.tolerance);
    }
    std::string fault() const {
        if (!fault_.empty()) return fault_;
        for (std::size_t i = 0; i < may_change_.size(); ++i) {
            if (!may_change_[i] && before_.bytes[i] != after_.bytes[i]) {
                return std::string(named_.name) + ": byte " + std::to_string(i) + " changed outside the elements";
            }
        }
        return "";
    }

   private:
    NamedOperand named_;
    KernelTensor const& before_;
    KernelTensor const& after_;
    std::vector<bool> may_change_;
    std::string fault_;
};

std::string outputs_fault(kernels::SumProblem const& sum, KernelCase const& before, KernelTensors const& after) {
    OutputCheck y(kernels::operands_of(sum).operands[1], before.tensors[1], after[1]);
    for_each_index(sum.y.dims, [&](Dims const& index) {
        y.expect(index, expected_sum({sum.x, before.tensors[0], index}, sum.y.type));
    });
    return y.fault();
}

std::string outputs_fault(kernels::MergeProblem const& merge, KernelCase const& before, KernelTensors const& after) {
    constexpr std::size_t kO = 2, kStats = 3;
    auto const operands = kernels::operands_of(merge).operands;
    std::size_t const of_stats = merge.stats ? kStats : kO;  // not checked where there is none
    OutputCheck o(operands[kO], before.tensors[kO], after[kO]);
    OutputCheck stats(operands[of_stats], before.tensors[of_stats], after[of_stats]);
    for_each_index(merge.o.dims, [&](Dims const& index) {
        Dims row = index;
        row.back() = 0;
        Dims of_part = with_parts(row, 0);
        std::vector<double> stats_of_parts;
        for (; of_part[0] < merge.partial_o.dims[0]; ++of_part[0]) {
            stats_of_parts.push_back(stats_of_part(merge, before.tensors, of_part));
        }
        Merged const merged = merge_parts(stats_of_parts, {merge.partial_o, before.tensors[0], index});
        o.expect(index, expected_o(merged, merge.o.type));
        if (merge.stats && index == row) stats.expect(row, expected_stats(merged));
    });
    std::string const fault = o.fault();
    return fault.empty() && merge.stats ? stats.fault() : fault;
}

std::string outputs_fault(kernels::SplitLengthsProblem const& split, KernelCase const& before,
                          KernelTensors const& after) {
    auto const operands = kernels::operands_of(split).operands;
    OutputCheck rows(operands[2], before.tensors[2], after[2]), part_keys(operands[3], before.tensors[3], after[3]);
    for_each_index(split.rows.dims, [&](Dims const& index) {
        auto const length = [&](kernels::Operand const& operand, std::size_t i) {
            return core::load_integer(DataType_t::INT32, before.tensors[i].data(), offset_of(operand, index));
        };
        std::int64_t const queries =
            std::clamp<std::int64_t>(length(split.queries, 0) - split.first_query, 0, split.most_queries);
        std::int64_t const keys =
            std::clamp<std::int64_t>(length(split.keys, 1) - split.first_key - index[1] * split.chunk, 0, split.chunk);
        bool const is_empty = queries == 0 || keys == 0;
        rows.expect(index, {is_empty ? 0.0 : static_cast<double>(queries * split.group), 0});
        part_keys.expect(index, {is_empty ? 0.0 : static_cast<double>(keys), 0});
    });
    return rows.fault() + part_keys.fault();
}

Result<kernels::KernelPointer> compiled(kernels::MergeProblem const& merge, kernels::DeviceFacts const& device) {
    return kernels::compile_merge(merge, device);
}
Result<kernels::KernelPointer> compiled(kernels::SumProblem const& sum, kernels::DeviceFacts const& device) {
    return kernels::compile_sum(sum, device);
}
Result<kernels::KernelPointer> compiled(kernels::SplitLengthsProblem const& split, kernels::DeviceFacts const& device) {
    return kernels::compile_split_lengths(split, device);
}

}  // namespace

kernels::Problem operands_of(JointProblem const& problem) {
    return std::visit([](auto const& kind) { return kernels::operands_of(kind); }, problem);
}

Result<kernels::KernelPointer> compile(JointProblem const& problem, kernels::DeviceFacts const& device) {
    return std::visit([&](auto const& kind) { return compiled(kind, device); }, problem);
}

static JointProblem random_problem(Random& random) {
    if (random.flip()) return random_merge(random);
    if (random.chance(0.9)) return random_sum(random);
    return random_split_lengths(random);
}

KernelCase random_joint_case(std::uint64_t seed) {
    Random random(seed);
    JointProblem const problem = random_problem(random);
    kernels::Problem const named_operands = operands_of(problem);
    KernelCase made{named_operands.kernel, {}, {{problem, {}}}};
    double const nan_chance = random.pick({0.0, 0.0, 0.01});
    for (NamedOperand const& named : named_operands.operands) {
        KernelTensor tensor = random_tensor(random, named);
        if (!named.is_output) fill(random, named, tensor, nan_chance);
        made.steps.front().tensors.push_back(made.tensors.size());
        made.tensors.push_back(std::move(tensor));
    }
    if (auto const* const merge = std::get_if<kernels::MergeProblem>(&problem)) spoil_unseen(*merge, made.tensors);
    return made;
}

std::string fault_of_joint(KernelCase const& before, KernelTensors const& after) {
    JointProblem const& problem = before.steps.front().joint();
    auto const operands = operands_of(problem).operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!operands[i].is_output && after[i].bytes != before.tensors[i].bytes) {
            return std::string(operands[i].name) + " changed, which is only read";
        }
    }
    return std::visit([&](auto const& kind) { return outputs_fault(kind, before, after); }, problem);
}

}  // namespace sdpa_test
