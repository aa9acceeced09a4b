#include "support/sink_gradient_cases.h"

#include "core/data_type.h"
#include "core/names.h"
#include "support/random.h"

#include <cmath>
#include <limits>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using kernels::SinkGradientProblem;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

OperandData with_memory(kernels::Operand operand, std::int64_t elements) {
    auto const bytes = static_cast<std::size_t>(elements * core::size_of(operand.type));
    return {std::move(operand), std::vector<std::byte>(bytes)};
}

OperandData packed(DataType_t type, core::Dims const& dims) {
    return with_memory({type, dims, core::packed_strides(dims)}, *core::volume(dims));
}

// Heads of a row side by side, with some elements between rows and between batch entries.
OperandData rows(DataType_t type, core::Dims const& dims) {
    std::int64_t const row = dims[1] * dims[3] + 3, entry = dims[2] * row + 5;
    return with_memory({type, dims, {entry, dims[3], row, 1}}, dims[0] * entry);
}

void fill_row(SinkCase& c, std::int64_t b, std::int64_t h, std::int64_t i, Random& random) {
    bool const is_past = i >= c.length(b), is_empty = random.chance(0.1);
    double const stats = is_empty ? -kInfinity : random.real(-1.0, 2.0);
    c.stats.set(c.place(c.stats, b, h, i), is_past ? kNan : stats);
    for (std::int64_t d = 0; d < c.o.operand.dims[3]; ++d) {
        c.o.set(c.place(c.o, b, h, i) + d, is_past || is_empty ? kNan : random.real(-1.0, 1.0));
        c.d_o.set(c.place(c.d_o, b, h, i) + d, is_past ? kNan : random.real(-1.0, 1.0));
    }
}

void fill(SinkCase& c, Random& random) {
    core::Dims const& dims = c.o.operand.dims;
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        std::int64_t const count = c.is_ragged ? c.length(b) : dims[2];
        for (std::int64_t h = 0; h < dims[1]; ++h) {
            for (std::int64_t i = 0; i < count; ++i) fill_row(c, b, h, i, random);
        }
    }
    for (std::int64_t h = 0; h < dims[1]; ++h) c.sink.set(h, h == 1 ? -kInfinity : random.real(0.0, 2.0));
}

void set_lengths(SinkCase& c, Random& random) {
    std::int64_t start = 0;
    for (std::int64_t b = 0; b < c.o.operand.dims[0]; ++b) {
        std::int64_t const length = random.between(0, c.o.operand.dims[2]);
        c.lengths.set(b, static_cast<double>(length));
        c.offsets.set(b, static_cast<double>(start));
        start += length;
    }
}

// The formula, and the sum of the magnitudes of what it adds up.
struct Wanted {
    double gradient = 0.0, magnitude = 0.0;
};

Wanted wanted_of(SinkCase const& c, std::int64_t head) {
    core::Dims const& dims = c.o.operand.dims;
    Wanted wanted;
    double const sink = c.sink.get(head);
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        for (std::int64_t i = 0; i < c.length(b); ++i) {
            double const stats = c.stats.get(c.place(c.stats, b, head, i));
            if (sink == -kInfinity || stats == -kInfinity) continue;
            for (std::int64_t d = 0; d < dims[3]; ++d) {
                double const term = std::exp(sink - stats) * c.o.get(c.place(c.o, b, head, i) + d) *
                                    c.d_o.get(c.place(c.d_o, b, head, i) + d);
                wanted.gradient -= term;
                wanted.magnitude += std::abs(term);
            }
        }
    }
    return wanted;
}

}  // namespace

double OperandData::get(std::int64_t at) const { return core::load(operand.type, bytes.data(), at); }
void OperandData::set(std::int64_t at, double number) { core::store(operand.type, bytes.data(), at, number); }

SinkGradientProblem SinkCase::problem() const {
    SinkGradientProblem made{{o.operand}, {d_o.operand}, {stats.operand}, sink.operand, gradient.operand, {}};
    if (has_lengths) made.lengths = lengths.operand;
    if (!is_ragged) return made;
    auto const counted = [&](OperandData const& of) {
        return SinkGradientProblem::Offsets{offsets.operand.type, of.operand.strides[2]};
    };
    made.o.offsets = counted(o), made.d_o.offsets = counted(d_o), made.stats.offsets = counted(stats);
    return made;
}

std::vector<OperandData*> SinkCase::data() {
    std::vector<OperandData*> all{&o, &d_o, &stats, &sink, &gradient};
    if (has_lengths) all.push_back(&lengths);
    if (is_ragged) all.insert(all.end(), 3, &offsets);
    return all;
}

std::string SinkCase::text() const {
    return "O " + core::to_string(o.operand.dims) + " " + core::name_of(o.operand.type) + ", dO " +
           core::name_of(d_o.operand.type) + (has_lengths ? ", lengths" : "") + (is_ragged ? ", ragged" : "");
}

std::int64_t SinkCase::length(std::int64_t batch) const {
    return has_lengths ? static_cast<std::int64_t>(lengths.get(batch)) : o.operand.dims[2];
}

std::int64_t SinkCase::place(OperandData const& of, std::int64_t batch, std::int64_t head, std::int64_t row) const {
    core::Dims const& strides = of.operand.strides;
    std::int64_t const start =
        is_ragged ? static_cast<std::int64_t>(offsets.get(batch)) * strides[2] : batch * strides[0];
    return start + head * strides[1] + row * strides[2];
}

SinkCase random_sink_case(std::uint64_t seed) {
    constexpr DataType_t kTypes[] = {DataType_t::BFLOAT16, DataType_t::HALF, DataType_t::FLOAT};
    Random random(seed);
    core::Dims const dims{random.between(1, 3), random.between(1, 3), random.pick({1, 5, 64, 131, 300}),
                          random.pick({8, 33, 64, 100})};
    core::Dims const one_column{dims[0], dims[1], dims[2], 1};
    SinkCase c;
    c.is_ragged = random.chance(0.4);
    c.has_lengths = c.is_ragged || random.chance(0.5);
    c.o = rows(random.pick(kTypes), dims);
    c.d_o = rows(random.pick(kTypes), dims);
    bool const is_packed = random.chance(0.5) && !c.is_ragged;
    c.stats = is_packed ? packed(DataType_t::FLOAT, one_column) : rows(DataType_t::FLOAT, one_column);
    c.sink = packed(DataType_t::FLOAT, {1, dims[1], 1, 1});
    c.gradient = packed(DataType_t::FLOAT, {1, dims[1], 1, 1});
    c.lengths = packed(DataType_t::INT32, {dims[0], 1, 1, 1});
    c.offsets = packed(random.pick({DataType_t::INT32, DataType_t::INT64}), {dims[0] + 1, 1, 1, 1});
    set_lengths(c, random);
    fill(c, random);
    return c;
}

std::string fault_of(SinkCase const& after) {
    // A row's columns are summed in float by 32 lanes; shares are rounded twice.
    double const roundings = static_cast<double>(after.o.operand.dims[3]) / 32 + 16;
    for (std::int64_t head = 0; head < after.o.operand.dims[1]; ++head) {
        Wanted const wanted = wanted_of(after, head);
        double const found = after.gradient.get(head);
        double const allowed = roundings * 0x1p-24 * wanted.magnitude + 1e-30;
        if (std::abs(found - wanted.gradient) <= allowed) continue;
        return "head " + std::to_string(head) + ": found " + std::to_string(found) + ", wanted " +
               std::to_string(wanted.gradient);
    }
    return {};
}

}  // namespace sdpa_test
