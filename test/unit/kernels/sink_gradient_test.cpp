// What the kernel of a sink's gradient computes, on the host, and what is refused.
#include "core/data_type.h"
#include "host_sink_gradient.h"
#include "support/catch.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace sdpa_test;
using namespace cudnn_frontend;
using kernels::Operand;
using kernels::SinkGradientProblem;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An operand in memory of its own.
struct Data {
    Operand operand;
    std::vector<std::byte> bytes;

    Data() = default;
    Data(DataType_t type, core::Dims dims, core::Dims strides, std::int64_t elements)
        : operand{type, std::move(dims), std::move(strides)},
          bytes(static_cast<std::size_t>(elements * core::size_of(type))) {}

    double get(std::int64_t at) const { return core::load(operand.type, bytes.data(), at); }
    void set(std::int64_t at, double number) { core::store(operand.type, bytes.data(), at, number); }
};

Data packed(DataType_t type, core::Dims const& dims) {
    return {type, dims, core::packed_strides(dims), *core::volume(dims)};
}

// Rows of heads side by side, with some elements between rows and between batch entries.
Data rows(DataType_t type, core::Dims const& dims) {
    std::int64_t const row = dims[1] * dims[3] + 3, entry = dims[2] * row + 5;
    return {type, dims, {entry, dims[3], row, 1}, dims[0] * entry};
}

// A problem with its data. Where it is ragged, sequences follow each other in O, dO and Stats.
struct SinkCase {
    Data o, d_o, stats, sink, gradient, lengths, offsets;
    bool has_lengths = false, is_ragged = false;

    SinkGradientProblem problem() const {
        SinkGradientProblem made{{o.operand}, {d_o.operand}, {stats.operand}, sink.operand, gradient.operand, {}};
        if (has_lengths) made.lengths = lengths.operand;
        if (!is_ragged) return made;
        auto const counted = [&](Data const& data) {
            return SinkGradientProblem::Offsets{offsets.operand.type, data.operand.strides[2]};
        };
        made.o.offsets = counted(o), made.d_o.offsets = counted(d_o), made.stats.offsets = counted(stats);
        return made;
    }

    std::vector<void*> pointers() {
        std::vector<void*> all;
        for (Data* const data : {&o, &d_o, &stats, &sink, &gradient}) all.push_back(data->bytes.data());
        if (has_lengths) all.push_back(lengths.bytes.data());
        if (is_ragged) all.insert(all.end(), 3, offsets.bytes.data());
        return all;
    }

    std::int64_t length(std::int64_t batch) const {
        return has_lengths ? static_cast<std::int64_t>(lengths.get(batch)) : o.operand.dims[2];
    }
    std::int64_t place(Data const& data, std::int64_t b, std::int64_t h, std::int64_t i) const {
        core::Dims const& strides = data.operand.strides;
        std::int64_t const start = is_ragged ? static_cast<std::int64_t>(offsets.get(b)) * strides[2] : b * strides[0];
        return start + h * strides[1] + i * strides[2];
    }
};

// Some rows say minus infinity, with NaN in O; past the lengths of padded tensors everything is NaN.
void fill(SinkCase& c, Random& random) {
    core::Dims const& dims = c.o.operand.dims;
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        for (std::int64_t h = 0; h < dims[1]; ++h) {
            for (std::int64_t i = 0; i < (c.is_ragged ? c.length(b) : dims[2]); ++i) {
                bool const is_past = i >= c.length(b), is_empty = random.chance(0.1);
                c.stats.set(c.place(c.stats, b, h, i), is_past ? kNan : is_empty ? -kInfinity : random.real(-1.0, 2.0));
                for (std::int64_t d = 0; d < dims[3]; ++d) {
                    bool const is_nan = is_past || is_empty;
                    c.o.set(c.place(c.o, b, h, i) + d, is_nan ? kNan : random.real(-1.0, 1.0));
                    c.d_o.set(c.place(c.d_o, b, h, i) + d, is_past ? kNan : random.real(-1.0, 1.0));
                }
            }
        }
    }
    for (std::int64_t h = 0; h < dims[1]; ++h) c.sink.set(h, h == 1 ? -kInfinity : random.real(0.0, 2.0));
}

SinkCase random_sink_case(std::uint64_t seed) {
    constexpr DataType_t kTypes[] = {DataType_t::BFLOAT16, DataType_t::HALF, DataType_t::FLOAT};
    Random random(seed);
    core::Dims const dims{random.between(1, 3), random.between(1, 3), random.pick({1, 5, 64, 131, 300}),
                          random.pick({8, 33, 64, 100})};
    SinkCase c;
    c.is_ragged = random.chance(0.4);
    c.has_lengths = c.is_ragged || random.chance(0.5);
    c.o = rows(random.pick(kTypes), dims);
    c.d_o = rows(random.pick(kTypes), dims);
    core::Dims const one_column{dims[0], dims[1], dims[2], 1};
    c.stats = random.chance(0.5) ? packed(DataType_t::FLOAT, one_column) : rows(DataType_t::FLOAT, one_column);
    if (c.is_ragged) c.stats = rows(DataType_t::FLOAT, one_column);
    c.sink = packed(DataType_t::FLOAT, {1, dims[1], 1, 1});
    c.gradient = packed(DataType_t::FLOAT, {1, dims[1], 1, 1});
    c.lengths = packed(DataType_t::INT32, {dims[0], 1, 1, 1});
    c.offsets = packed(random.pick({DataType_t::INT32, DataType_t::INT64}), {dims[0] + 1, 1, 1, 1});
    std::int64_t start = 0;
    for (std::int64_t b = 0; b < dims[0]; ++b) {
        std::int64_t const length = random.between(0, dims[2]);
        c.lengths.set(b, static_cast<double>(length));
        c.offsets.set(b, static_cast<double>(start));
        start += length;
    }
    fill(c, random);
    return c;
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

std::string refusal(SinkGradientProblem const& problem) {
    return kernels::compile_sink_gradient(problem, {90, 132}).error().err_msg;
}

}  // namespace

TEST_CASE("the gradient of a sink is what the formula says, and the same bits whichever warps are slower") {
    int ragged = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        SinkCase c = random_sink_case(seed);
        CAPTURE(seed, c.o.operand.dims, c.has_lengths, c.is_ragged);
        ragged += c.is_ragged;
        auto const inputs = std::vector{c.o.bytes, c.d_o.bytes, c.stats.bytes, c.sink.bytes};
        run_on_host(c.problem(), c.pointers(), 1);
        std::vector<std::byte> const first = c.gradient.bytes;
        for (std::int64_t head = 0; head < c.o.operand.dims[1]; ++head) {
            CAPTURE(head);
            Wanted const wanted = wanted_of(c, head);
            // A row's columns are summed in float by 32 lanes; shares are rounded once or twice.
            double const roundings = static_cast<double>(c.o.operand.dims[3]) / 32 + 12;
            CHECK(std::abs(c.gradient.get(head) - wanted.gradient) <= roundings * 0x1p-24 * wanted.magnitude + 1e-30);
        }
        CHECK((inputs == std::vector{c.o.bytes, c.d_o.bytes, c.stats.bytes, c.sink.bytes}));
        run_on_host(c.problem(), c.pointers(), 1000);
        CHECK(c.gradient.bytes == first);
    }
    CHECK(ragged >= 5);
}

TEST_CASE("NaN in a row that counts shows in its head's gradient alone") {
    SinkCase c = random_sink_case(3);
    REQUIRE(c.o.operand.dims[1] > 1);
    REQUIRE(c.length(0) > 0);
    c.stats.set(c.place(c.stats, 0, 0, 0), 1.0);
    c.o.set(c.place(c.o, 0, 0, 0), kNan);
    run_on_host(c.problem(), c.pointers(), 1);
    CHECK(std::isnan(c.gradient.get(0)));
    CHECK_FALSE(std::isnan(c.gradient.get(1)));
}

TEST_CASE("operands of a sink's gradient that do not fit are refused by name") {
    SinkGradientProblem const good = random_sink_case(0).problem();
    auto const changed = [&](auto const& change) {
        SinkGradientProblem problem = good;
        change(problem);
        return refusal(problem);
    };
    CHECK(changed([](auto& p) {
              p.o.operand.dims = {1, 2};
          }) == "sink_gradient: O has dims [1, 2]; needed are batches, heads, rows and columns");
    CHECK(changed([](auto& p) { p.d_o.operand.type = DataType_t::INT32; }) ==
          "sink_gradient: dO has type INT32; needed is BFLOAT16, HALF or FLOAT");
    CHECK(changed([](auto& p) { p.stats.operand.type = DataType_t::HALF; }) ==
          "sink_gradient: Stats has type HALF; needed is FLOAT");
    CHECK(changed([](auto& p) {
              p.lengths = Operand{DataType_t::INT64, {1, 1, 1, 1}, {1, 1, 1, 1}};
          }) == "sink_gradient: lengths has type INT64; needed is INT32");
    CHECK(changed([](auto& p) {
              p.sink.dims = {1, 9, 1, 1};
          }).starts_with("sink_gradient: the sink has dims [1, 9, 1, 1]; needed are [1, "));
    CHECK(changed([](auto& p) {
              p.gradient.strides.pop_back();
          }).starts_with("sink_gradient: the gradient has strides ["));
    CHECK(changed([](auto& p) {
              p.o.offsets = SinkGradientProblem::Offsets{DataType_t::FLOAT, 1};
          }) == "sink_gradient: a ragged offset has type FLOAT; needed is INT32 or INT64");
    CHECK(kernels::compile_sink_gradient(good, {75, 40})
              .error()
              .err_msg.starts_with("sink_gradient: found compute capability 7.5"));
}
