#include "neighborhood_data.h"

#include "support/random.h"

#include "core/data_type.h"

#include <algorithm>

namespace neighborhood_test {

using fe::DataType_t;
using fe::neighborhood::Port;
using sdpa_test::Random;
using enum Function;

namespace {

constexpr std::byte kUnwritten{0xA5};

std::array<std::int64_t, 3> three(std::vector<std::int64_t> const& list) {
    std::array<std::int64_t, 3> result{1, 1, 1};
    std::copy(list.begin(), list.end(), result.end() - static_cast<std::ptrdiff_t>(list.size()));
    return result;
}

template <class Value>
std::array<std::int64_t, 3> of_axes(NeighborhoodCase const& test, Value value) {
    std::vector<std::int64_t> list;
    for (auto const& axis : test.axes) list.push_back(value(axis));
    return three(list);
}

std::int64_t product(std::array<std::int64_t, 3> const& list) { return list[0] * list[1] * list[2]; }

Tensor make_tensor(NeighborhoodCase const& test, std::array<std::int64_t, 3> const& lengths, std::int64_t columns,
                   DataType_t type) {
    Tensor tensor;
    tensor.lengths = lengths;
    tensor.columns = columns;
    bool const has_gaps = test.layout == NeighborhoodLayout::Scattered;
    std::int64_t const step = has_gaps ? 2 : 1, gap = has_gaps ? 3 : 0;
    bool const is_heads_last = test.layout == NeighborhoodLayout::Packed;
    std::int64_t const row = columns * step + gap, head = is_heads_last ? row : row * product(lengths) + gap;
    std::int64_t const token = is_heads_last ? row * test.heads : row;
    std::int64_t const batch = row * product(lengths) * test.heads + gap * test.heads;
    tensor.memory.assign(static_cast<std::size_t>(batch * test.batches * fe::core::size_of(type)), kUnwritten);
    tensor.view = {
        tensor.memory.data(), type, batch, head, {lengths[1] * lengths[2] * token, lengths[2] * token, token}, step};
    return tensor;
}

std::int64_t offset_of(Tensor const& tensor, std::int64_t b, std::int64_t h, std::int64_t token, std::int64_t column) {
    auto const& lengths = tensor.lengths;
    auto const& axes = tensor.view.axes;
    return b * tensor.view.batch + h * tensor.view.head + token / (lengths[1] * lengths[2]) * axes[0] +
           token / lengths[2] % lengths[1] * axes[1] + token % lengths[2] * axes[2] + column * tensor.view.last;
}

template <class Visit>
void for_each_head(NeighborhoodCase const& test, Visit visit) {
    for (std::int64_t b = 0; b < test.batches; ++b)
        for (std::int64_t h = 0; h < test.heads; ++h) visit(b, h);
}

void fill(NeighborhoodCase const& test, Random& random, Tensor& tensor) {
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        Numbers numbers(static_cast<std::size_t>(product(tensor.lengths) * tensor.columns));
        for (double& number : numbers) number = random.real(-1.5, 1.5);
        tensor.set_rows(b, h, numbers);
    });
}

neighborhood_formula::Head head_of(NeighborhoodCase const& test, Data const& data, std::int64_t b, std::int64_t h) {
    neighborhood_formula::Head head{test.axes, test.width, double{*test.scale}, {}, {}, {}, {}};
    head.q = data.q.rows(b, h);
    head.k = data.k.rows(b, h);
    head.v = data.v.rows(b, h);
    if (test.has_bias) head.bias = data.bias.rows(0, h);
    return head;
}

// The gradient of one batch entry is added to those of the entries before.
void set_bias_gradient(Data& data, std::int64_t h, Numbers& sums, Numbers const& terms) {
    std::transform(sums.begin(), sums.end(), terms.begin(), sums.begin(), [](double a, double b) { return a + b; });
    data.d_bias.set_rows(0, h, sums);
}

void expect_head(NeighborhoodCase const& test, Data& data, std::int64_t b, std::int64_t h, Numbers& bias_sums) {
    auto const head = head_of(test, data, b, h);
    switch (data.function) {
        case Forward: {
            auto const forward = fused_forward(head);
            data.o.set_rows(b, h, forward.o);
            if (test.generates_stats) data.stats.set_rows(b, h, forward.stats);
            return;
        }
        case Backward: {
            auto const found = fused_backward(head, data.o.rows(b, h), data.stats.rows(b, h), data.d_o.rows(b, h));
            data.d_q.set_rows(b, h, found.q);
            data.d_k.set_rows(b, h, found.k);
            if (test.has_bias) set_bias_gradient(data, h, bias_sums, found.bias);
            return data.d_v.set_rows(b, h, found.v);
        }
        case Qk: return data.attn.set_rows(b, h, qk_forward(head));
        case QkBackward: {
            auto const found = qk_backward(head, data.d_attn.rows(b, h));
            data.d_q.set_rows(b, h, found.q);
            data.d_k.set_rows(b, h, found.k);
            if (test.has_bias) set_bias_gradient(data, h, bias_sums, found.bias);
            return;
        }
        case Av: return data.o.set_rows(b, h, av_forward(head, data.attn.rows(b, h)));
        case AvBackward: {
            auto const found = av_backward(head, data.attn.rows(b, h), data.d_o.rows(b, h));
            data.d_attn.set_rows(b, h, found.attn);
            return data.d_v.set_rows(b, h, found.v);
        }
    }
}

}  // namespace

Numbers Tensor::rows(std::int64_t b, std::int64_t h) const {
    Numbers numbers;
    for (std::int64_t token = 0; token < product(lengths); ++token)
        for (std::int64_t column = 0; column < columns; ++column)
            numbers.push_back(fe::core::load(view.type, view.data, offset_of(*this, b, h, token, column)));
    return numbers;
}

void Tensor::set_rows(std::int64_t b, std::int64_t h, Numbers const& numbers) {
    std::size_t next = 0;
    for (std::int64_t token = 0; token < product(lengths); ++token)
        for (std::int64_t column = 0; column < columns; ++column)
            fe::core::store(view.type, view.data, offset_of(*this, b, h, token, column), numbers[next++]);
}

bool Tensor::has_intact_gaps(NeighborhoodCase const& test) const {
    std::vector<std::byte> others = memory;
    auto const bytes = fe::core::size_of(view.type);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        for (std::int64_t token = 0; token < product(lengths); ++token)
            for (std::int64_t column = 0; column < columns; ++column)
                std::fill_n(others.begin() + offset_of(*this, b, h, token, column) * bytes, bytes, kUnwritten);
    });
    return std::all_of(others.begin(), others.end(), [](std::byte byte) { return byte == kUnwritten; });
}

fe::cpu::NeighborhoodProblem Data::problem(NeighborhoodCase const& test) {
    fe::cpu::NeighborhoodProblem problem;
    problem.function = function;
    for (std::size_t a = 0; a < test.axes.size(); ++a) {
        auto const& axis = test.axes[a];
        problem.axes[3 - test.axes.size() + a] = {axis.length, axis.kernel, axis.dilation, axis.is_causal};
    }
    problem.batches = test.batches;
    problem.heads = test.heads;
    problem.width = test.width;
    problem.scale = *test.scale;
    problem[Port::Q] = q.view, problem[Port::K] = k.view, problem[Port::V] = v.view, problem[Port::O] = o.view,
    problem[Port::Attn] = attn.view;
    problem[Port::DO] = d_o.view, problem[Port::DQ] = d_q.view, problem[Port::DK] = d_k.view,
    problem[Port::DV] = d_v.view;
    problem[Port::DAttn] = d_attn.view;
    if (test.generates_stats || function == Backward) problem[Port::Stats] = stats.view;
    if (test.has_bias) problem[Port::RelPosBias] = bias.view, problem[Port::DRelPosBias] = d_bias.view;
    return problem;
}

std::vector<Tensor*> Data::results(NeighborhoodCase const& test) {
    switch (function) {
        case Forward: return test.generates_stats ? std::vector{&o, &stats} : std::vector{&o};
        case Backward: return test.has_bias ? std::vector{&d_q, &d_k, &d_v, &d_bias} : std::vector{&d_q, &d_k, &d_v};
        case Qk: return {&attn};
        case QkBackward: return test.has_bias ? std::vector{&d_q, &d_k, &d_bias} : std::vector{&d_q, &d_k};
        case Av: return {&o};
        default: return {&d_attn, &d_v};
    }
}

Data make_data(Function function, NeighborhoodCase const& test) {
    auto const lengths = of_axes(test, [](auto const& axis) { return axis.length; });
    auto const distances = of_axes(test, [](auto const& axis) { return 2 * axis.kernel - 1; });
    std::int64_t const slots = product(of_axes(test, [](auto const& axis) { return axis.kernel; }));
    Random random(test.seed);
    Data data;
    data.function = function;
    for (Tensor* const tensor : {&data.q, &data.k, &data.v, &data.o, &data.d_o, &data.d_q, &data.d_k, &data.d_v})
        *tensor = make_tensor(test, lengths, test.width, test.type);
    for (Tensor* const tensor : {&data.attn, &data.d_attn}) *tensor = make_tensor(test, lengths, slots, test.type);
    for (Tensor* const tensor : {&data.bias, &data.d_bias}) *tensor = make_tensor(test, distances, 1, test.type);
    data.stats = make_tensor(test, lengths, 1, DataType_t::FLOAT);
    for (Tensor* const tensor : {&data.q, &data.k, &data.v, &data.bias}) fill(test, random, *tensor);
    if (function == Av || function == AvBackward) fill(test, random, data.attn);
    if (function == QkBackward) fill(test, random, data.d_attn);
    if (function == Backward || function == AvBackward) fill(test, random, data.d_o);
    if (function == Backward) {
        for_each_head(test, [&](std::int64_t b, std::int64_t h) {
            auto const forward = fused_forward(head_of(test, data, b, h));
            data.o.set_rows(b, h, forward.o);
            data.stats.set_rows(b, h, forward.stats);
        });
    }
    return data;
}

void expect(NeighborhoodCase const& test, Data& data) {
    for (std::int64_t h = 0; h < test.heads; ++h) {
        auto const entries = head_of(test, data, 0, h).bias_entries();
        Numbers bias_sums(static_cast<std::size_t>(entries), 0.0);
        for (std::int64_t b = 0; b < test.batches; ++b) expect_head(test, data, b, h, bias_sums);
    }
}

NeighborhoodCase case_of(std::vector<neighborhood_formula::Axis> const& axes) {
    NeighborhoodCase test;
    test.axes = axes;
    test.width = 8;
    test.scale = 0.5f;
    return test;
}

NeighborhoodCase random_case(Function function, std::uint64_t seed) {
    Random random(seed);
    NeighborhoodCase test;
    test.seed = seed;
    std::int64_t const rank = random.between(1, 3), longest = rank == 1 ? 90 : rank == 2 ? 14 : 7;
    for (std::int64_t a = 0; a < rank; ++a) {
        neighborhood_formula::Axis axis{random.between(1, longest), 1, 1, random.chance(0.3)};
        axis.dilation = random.chance(0.5) ? 1 : random.between(1, axis.length);
        std::int64_t const most = axis.length / axis.dilation;
        axis.kernel = random.chance(0.2) ? most : random.between(1, std::min<std::int64_t>(most, 20));
        test.axes.push_back(axis);
    }
    test.batches = random.between(1, 2);
    test.heads = random.between(1, 3);
    test.width = random.pick({1, 5, 8, 16, 33});
    test.type = random.pick({DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16});
    test.layout =
        random.pick({NeighborhoodLayout::Packed, NeighborhoodLayout::HeadsFirst, NeighborhoodLayout::Scattered});
    test.has_bias = function != Av && function != AvBackward && random.flip();
    test.generates_stats = random.flip();
    test.scale = static_cast<float>(random.real(0.1, 1.0));
    return test;
}

}  // namespace neighborhood_test
