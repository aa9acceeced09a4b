#include "support/kernels/sink_gradient_cases.h"

#include "core/data_type.h"
#include "support/random.h"

#include <cmath>
#include <limits>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using kernels::SinkGradientProblem;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

KernelTensor with_memory(char const* name, kernels::Operand operand, std::int64_t elements) {
    auto const bytes = static_cast<std::size_t>(elements * core::size_of(operand.type));
    return {name, std::move(operand), std::vector<std::byte>(bytes)};
}

KernelTensor packed(char const* name, DataType_t type, core::Dims const& dims) {
    return with_memory(name, {type, dims, core::packed_strides(dims)}, *core::volume(dims));
}

// Heads of a row side by side, with some elements between rows and between batch entries.
KernelTensor rows(char const* name, DataType_t type, core::Dims const& dims) {
    std::int64_t const row = dims[1] * dims[3] + 3, entry = dims[2] * row + 5;
    return with_memory(name, {type, dims, {entry, dims[3], row, 1}}, dims[0] * entry);
}

void fill_row(KernelCase& c, std::int64_t b, std::int64_t h, std::int64_t i, Random& random) {
    bool const is_past = i >= length_of(c, b), is_empty = random.chance(0.1);
    double const stats = is_empty ? -kInfinity : random.real(-1.0, 2.0);
    c.tensors[SinkTensor::Stats].set(row_of(c, SinkTensor::Stats, b, h, i), is_past ? kNan : stats);
    for (std::int64_t d = 0; d < c.tensors[SinkTensor::O].operand.dims[3]; ++d) {
        c.tensors[SinkTensor::O].set(row_of(c, SinkTensor::O, b, h, i) + d,
                                     is_past || is_empty ? kNan : random.real(-1.0, 1.0));
        c.tensors[SinkTensor::GradO].set(row_of(c, SinkTensor::GradO, b, h, i) + d,
                                         is_past ? kNan : random.real(-1.0, 1.0));
    }
}

void fill(KernelCase& c, Random& random) {
    core::Dims const& dims = c.tensors[SinkTensor::O].operand.dims;
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        std::int64_t const count = is_ragged(c) ? length_of(c, b) : dims[2];
        for (std::int64_t h = 0; h < dims[1]; ++h) {
            for (std::int64_t i = 0; i < count; ++i) fill_row(c, b, h, i, random);
        }
    }
    for (std::int64_t h = 0; h < dims[1]; ++h)
        c.tensors[SinkTensor::Sink].set(h, h == 1 ? -kInfinity : random.real(0.0, 2.0));
}

void set_lengths(KernelCase& c, Random& random) {
    core::Dims const& dims = c.tensors[SinkTensor::O].operand.dims;
    std::int64_t start = 0;
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        std::int64_t const length = random.between(0, dims[2]);
        c.tensors[SinkTensor::Lengths].set(b, static_cast<double>(length));
        c.tensors[SinkTensor::Offsets].set(b, static_cast<double>(start));
        start += length;
    }
}

// The formula, and the sum of the magnitudes of what it adds up.
struct Wanted {
    double gradient = 0.0, magnitude = 0.0;
};

Wanted wanted_of(KernelCase const& c, std::int64_t head) {
    KernelTensor const &o = c.tensors[SinkTensor::O], &d_o = c.tensors[SinkTensor::GradO];
    core::Dims const& dims = o.operand.dims;
    Wanted wanted;
    double const sink = c.tensors[SinkTensor::Sink].get(head);
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        for (std::int64_t i = 0; i < length_of(c, b); ++i) {
            double const stats = c.tensors[SinkTensor::Stats].get(row_of(c, SinkTensor::Stats, b, head, i));
            if (sink == -kInfinity || stats == -kInfinity) continue;
            for (std::int64_t d = 0; d < dims[3]; ++d) {
                double const term = std::exp(sink - stats) * o.get(row_of(c, SinkTensor::O, b, head, i) + d) *
                                    d_o.get(row_of(c, SinkTensor::GradO, b, head, i) + d);
                wanted.gradient -= term;
                wanted.magnitude += std::abs(term);
            }
        }
    }
    return wanted;
}

// The kernel's problem, with pointers to the tensors in its order.
KernelStep step_of(KernelTensors const& tensors, bool has_lengths, bool is_ragged) {
    auto const operand = [&](std::size_t tensor) { return tensors[tensor].operand; };
    SinkGradientProblem problem{{operand(SinkTensor::O)},  {operand(SinkTensor::GradO)},  {operand(SinkTensor::Stats)},
                                operand(SinkTensor::Sink), operand(SinkTensor::Gradient), {}};
    std::vector<std::size_t> pointers{SinkTensor::O, SinkTensor::GradO, SinkTensor::Stats, SinkTensor::Sink,
                                      SinkTensor::Gradient};
    if (has_lengths) {
        problem.lengths = operand(SinkTensor::Lengths);
        pointers.push_back(SinkTensor::Lengths);
    }
    if (is_ragged) {
        for (SinkGradientProblem::RowsWithOffsets* const of : {&problem.o, &problem.d_o, &problem.stats}) {
            of->offsets = {operand(SinkTensor::Offsets).type, of->operand.strides[2]};
            pointers.push_back(SinkTensor::Offsets);
        }
    }
    return {problem, pointers};
}

}  // namespace

bool is_ragged(KernelCase const& sink_case) { return sink_case.steps.front().sink_gradient().o.offsets.has_value(); }

std::int64_t length_of(KernelCase const& sink_case, std::int64_t batch) {
    bool const has_lengths = sink_case.steps.front().sink_gradient().lengths.has_value();
    return has_lengths ? static_cast<std::int64_t>(sink_case.tensors[SinkTensor::Lengths].get(batch))
                       : sink_case.tensors[SinkTensor::O].operand.dims[2];
}

std::int64_t row_of(KernelCase const& sink_case, std::size_t tensor, std::int64_t batch, std::int64_t head,
                    std::int64_t row) {
    core::Dims const& strides = sink_case.tensors[tensor].operand.strides;
    std::int64_t const start =
        is_ragged(sink_case) ? static_cast<std::int64_t>(sink_case.tensors[SinkTensor::Offsets].get(batch)) * strides[2]
                             : batch * strides[0];
    return start + head * strides[1] + row * strides[2];
}

KernelCase random_sink_case(std::uint64_t seed) {
    constexpr DataType_t kTypes[] = {DataType_t::BFLOAT16, DataType_t::HALF, DataType_t::FLOAT};
    Random random(seed);
    core::Dims const dims{random.between(1, 3), random.between(1, 3), random.pick({1, 5, 64, 131, 300}),
                          random.pick({8, 33, 64, 100})};
    core::Dims const one_column{dims[0], dims[1], dims[2], 1}, one_row{1, dims[1], 1, 1};
    bool const is_ragged = random.chance(0.4), has_lengths = is_ragged || random.chance(0.5);
    KernelCase c{"gradient of a sink", {}, {}};
    c.tensors.push_back(rows("O", random.pick(kTypes), dims));
    c.tensors.push_back(rows("dO", random.pick(kTypes), dims));
    bool const is_packed = random.chance(0.5) && !is_ragged;
    c.tensors.push_back(is_packed ? packed("Stats", DataType_t::FLOAT, one_column)
                                  : rows("Stats", DataType_t::FLOAT, one_column));
    c.tensors.push_back(packed("sink", DataType_t::FLOAT, one_row));
    c.tensors.push_back(packed("gradient", DataType_t::FLOAT, one_row));
    c.tensors.push_back(packed("lengths", DataType_t::INT32, {dims[0], 1, 1, 1}));
    DataType_t const type_of_offsets = random.pick({DataType_t::INT32, DataType_t::INT64});
    c.tensors.push_back(packed("offsets", type_of_offsets, {dims[0] + 1, 1, 1, 1}));
    c.steps.push_back(step_of(c.tensors, has_lengths, is_ragged));
    set_lengths(c, random);
    fill(c, random);
    return c;
}

std::string fault_of_sink_gradient(KernelCase const& after) {
    core::Dims const& dims = after.tensors[SinkTensor::O].operand.dims;
    // A row's columns are summed in float by 32 lanes; shares are rounded twice.
    double const roundings = static_cast<double>(dims[3]) / 32 + 16;
    for (std::int64_t head = 0; head < dims[1]; ++head) {
        Wanted const wanted = wanted_of(after, head);
        double const found = after.tensors[SinkTensor::Gradient].get(head);
        double const allowed = roundings * 0x1p-24 * wanted.magnitude + 1e-30;
        if (std::abs(found - wanted.gradient) <= allowed) continue;
        return "head " + std::to_string(head) + ": found " + std::to_string(found) + ", wanted " +
               std::to_string(wanted.gradient);
    }
    return {};
}

}  // namespace sdpa_test
