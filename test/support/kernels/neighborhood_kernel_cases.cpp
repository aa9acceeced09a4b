#include "support/kernels/neighborhood_kernel_cases.h"

#include "core/data_type.h"
#include "support/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;
using core::Dims;
using kernels::NeighborhoodForm;
using kernels::NeighborhoodKernelProblem;
using kernels::NeighborhoodTensor;
using kernels::NeighborhoodWork;
using kernels::Operand;
using neighborhood_formula::Head;
using neighborhood_formula::Numbers;

constexpr std::size_t kGuard = 64;
constexpr double kLog2OfE = 1.4426950408889634;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// --- Sizes

struct Shape {
    std::vector<neighborhood::Axis> axes;
    std::int64_t batches, heads, columns;
    DataType_t type;
    double scale;

    std::int64_t tokens() const {
        return std::accumulate(
            axes.begin(), axes.end(), std::int64_t{1},
            [](std::int64_t product, neighborhood::Axis const& axis) { return product * axis.length; });
    }
    Dims rows(std::int64_t of_columns) const {
        Dims dims{batches, heads};
        for (neighborhood::Axis const& axis : axes) dims.push_back(axis.length);
        dims.push_back(of_columns);
        return dims;
    }
    std::int64_t slots() const {
        return std::accumulate(
            axes.begin(), axes.end(), std::int64_t{1},
            [](std::int64_t product, neighborhood::Axis const& axis) { return product * axis.kernel; });
    }
    Dims bias() const {
        Dims dims{heads};
        for (neighborhood::Axis const& axis : axes) dims.push_back(2 * axis.kernel - 1);
        return dims;
    }
};

neighborhood::Axis random_axis(Random& random, std::int64_t longest) {
    neighborhood::Axis axis;
    axis.dilation = std::min<std::int64_t>(longest, random.pick({1, 1, 1, 2, 3, 5}));
    std::int64_t const most = longest / axis.dilation;
    axis.kernel = random.between(1, random.flip() ? most : std::min<std::int64_t>(most, 7));
    std::int64_t const shortest = axis.kernel * axis.dilation;
    axis.length = random.chance(0.15) ? shortest : random.between(shortest, longest);
    axis.is_causal = random.chance(0.25);
    return axis;
}

Shape random_shape(Random& random, NeighborhoodLimits const& limits) {
    Shape shape;
    std::int64_t const rank = random.between(1, 3);
    double const side = std::pow(static_cast<double>(limits.tokens), 1.0 / static_cast<double>(rank));
    for (std::int64_t i = 0; i < rank; ++i) shape.axes.push_back(random_axis(random, std::lround(side)));
    shape.batches = random.between(1, 2);
    shape.heads = random.between(1, std::max<std::int64_t>(1, limits.batch_heads / shape.batches));
    // Few numbers, rounded up to those of columns that kernels are compiled for: compiling takes long.
    std::int64_t const columns =
        random.chance(0.75) ? random.pick({8, 16, 40, 64, 128, 120}) : random.pick({1, 5, 33, 100, 136, 256, 300});
    shape.columns = std::min(columns, limits.columns);
    shape.type = random.pick({DataType_t::BFLOAT16, DataType_t::HALF, DataType_t::HALF, DataType_t::FLOAT});
    shape.scale = random.pick({1.0, 0.3, -0.7}) / std::sqrt(static_cast<double>(shape.columns));
    return shape;
}

// --- Tensors

// Dims in an order of memory, with gaps; friendly layouts keep rows in turn, at multiples of 16 bytes.
Dims random_strides(Random& random, Dims const& dims, bool is_friendly) {
    std::vector<std::size_t> order(dims.size());  // the innermost first
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    if (dims.size() > 3 && random.flip())
        std::rotate(order.begin() + 1, order.end() - 2, order.end() - 1);  // heads last
    std::int64_t const unit = is_friendly ? 8 : 1;
    Dims strides(dims.size());
    std::int64_t next = is_friendly ? 1 : random.pick({1, 2, 3});
    for (std::size_t const dim : order) {
        strides[dim] = next;
        next *= dims[dim];
        if (random.chance(0.2)) next += unit * random.between(1, 3);
        if (is_friendly && dim == order.front()) next = (next + 7) / 8 * 8;
    }
    return strides;
}

std::string name_of(NeighborhoodFunction function, Shape const& shape) {
    constexpr char const* kNames[] = {"forward", "backward", "qk", "qk backward", "av", "av backward"};
    std::string name = kNames[static_cast<int>(function)];
    for (neighborhood::Axis const& axis : shape.axes) {
        name += "; length " + std::to_string(axis.length) + " kernel " + std::to_string(axis.kernel) + " dilation " +
                std::to_string(axis.dilation) + (axis.is_causal ? " causal" : "");
    }
    return name;
}

class Maker {
   public:
    Maker(Random& random, KernelCase& made) : random_(random), made_(made), is_friendly_(random.chance(0.8)) {}

    std::size_t add(std::string name, DataType_t type, Dims dims) {
        Dims strides = random_strides(random_, dims, is_friendly_);
        return add(std::move(name), {type, std::move(dims), std::move(strides)});
    }
    std::size_t add_packed(std::string name, DataType_t type, Dims dims) {
        Dims strides = core::packed_strides(dims);
        return add(std::move(name), {type, std::move(dims), std::move(strides)});
    }

   private:
    std::size_t add(std::string name, Operand operand) {
        KernelTensor data{std::move(name), std::move(operand), {}};
        data.rounded_to = data.operand.type;
        auto const element = at(core::size_of(data.operand.type));
        data.start = kGuard + (is_friendly_ ? 0 : element * at(random_.between(0, 7)));
        data.bytes.assign(data.start + at(*core::span_of(data.operand.dims, data.operand.strides)) * element + kGuard,
                          std::byte{0xff});
        made_.tensors.push_back(std::move(data));
        return made_.tensors.size() - 1;
    }

    Random& random_;
    KernelCase& made_;
    bool is_friendly_;
};

template <class Visit>
void for_each_element(Operand const& operand, Visit const& visit) {
    Dims index(operand.dims.size(), 0);
    for (std::int64_t left = *core::volume(operand.dims); left > 0; --left) {
        visit(std::inner_product(index.begin(), index.end(), operand.strides.begin(), std::int64_t{0}));
        for (std::size_t d = index.size(); d-- > 0 && ++index[d] == operand.dims[d];) index[d] = 0;
    }
}

// Stores the numbers, and returns them as they were stored, rounded.
Numbers set(KernelTensor& data, Numbers const& numbers) {
    Numbers rounded;
    std::byte* const start = data.bytes.data() + data.start;
    for_each_element(data.operand, [&](std::int64_t offset) {
        core::store(data.operand.type, start, offset, numbers[rounded.size()]);
        rounded.push_back(core::load(data.operand.type, start, offset));
    });
    return rounded;
}

Numbers set_random(Random& random, KernelTensor& data) {
    Numbers numbers(at(*core::volume(data.operand.dims)));
    for (double& number : numbers) number = random.real(-1.7, 1.7);
    return set(data, numbers);
}

// Sometimes with some entries that mask, or all of the first head, so that no key is visible to its queries.
Numbers set_random_bias(Random& random, KernelTensor& data) {
    Numbers numbers = set_random(random, data);
    double const of_first_head = random.chance(0.2) ? 1.0 : 0.0, of_any = random.chance(0.3) ? 0.3 : 0.0;
    std::size_t const of_head = numbers.size() / at(data.operand.dims.front());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (random.chance(i < of_head ? std::max(of_first_head, of_any) : of_any))
            numbers[i] = -std::numeric_limits<double>::infinity();
    }
    return set(data, numbers);
}

// --- The formula, for all heads

Head head_of(Shape const& shape) {
    Head head;
    for (neighborhood::Axis const& axis : shape.axes) {
        head.axes.push_back({axis.length, axis.kernel, axis.dilation, axis.is_causal});
    }
    head.width = shape.columns;
    head.scale = shape.scale;
    return head;
}

Numbers part_of(Numbers const& all, std::int64_t number, std::int64_t parts) {
    std::size_t const size = all.size() / at(parts);
    auto const first = all.begin() + static_cast<std::ptrdiff_t>(at(number) * size);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
}

void append(Numbers& to, Numbers const& from) { to.insert(to.end(), from.begin(), from.end()); }

// Calls visit(number of batch entry and head, the head with the parts of q, k, v and bias that there are).
template <class Visit>
void for_each_head(Shape const& shape, Numbers const& q, Numbers const& k, Numbers const& v, Numbers const& bias,
                   Visit const& visit) {
    std::int64_t const count = shape.batches * shape.heads;
    for (std::int64_t number = 0; number < count; ++number) {
        Head head = head_of(shape);
        if (!q.empty()) head.q = part_of(q, number, count);
        if (!k.empty()) head.k = part_of(k, number, count);
        if (!v.empty()) head.v = part_of(v, number, count);
        if (!bias.empty()) head.bias = part_of(bias, number % shape.heads, shape.heads);
        visit(number, head);
    }
}

// --- Cases

using Links = std::vector<std::pair<NeighborhoodTensor, std::size_t>>;

void add_step(KernelCase& made, Shape const& shape, NeighborhoodWork work, double scale, Links links,
              float without_key = 0.0f) {
    NeighborhoodKernelProblem problem;
    problem.work = work;
    problem.axes = shape.axes;
    problem.scale = static_cast<float>(scale);
    problem.without_key = without_key;
    std::ranges::sort(links);
    std::vector<std::size_t> tensors;
    for (auto const& [tensor, number] : links) {
        problem.operands[tensor] = made.tensors[number].operand;
        tensors.push_back(number);
    }
    made.steps.push_back({std::move(problem), std::move(tensors)});
}

struct Inputs {
    std::size_t q, k, v;
    Numbers of_q, of_k, of_v;
};

Inputs add_inputs(Random& random, Maker& maker, KernelCase& made, Shape const& shape) {
    Inputs inputs{};
    for (auto const& [name, place, numbers] :
         {std::tuple{"q", &inputs.q, &inputs.of_q}, {"k", &inputs.k, &inputs.of_k}, {"v", &inputs.v, &inputs.of_v}}) {
        *place = maker.add(name, shape.type, shape.rows(shape.columns));
        *numbers = set_random(random, made.tensors[*place]);
    }
    return inputs;
}

void make_forward(Random& random, Maker& maker, KernelCase& made, Shape const& shape) {
    Inputs const in = add_inputs(random, maker, made, shape);
    Links links{{kernels::Queries, in.q}, {kernels::Keys, in.k}, {kernels::Values, in.v}};
    Numbers of_bias;
    if (random.chance(0.4)) {
        std::size_t const bias = maker.add("bias", shape.type, shape.bias());
        of_bias = set_random_bias(random, made.tensors[bias]);
        links.push_back({kernels::Bias, bias});
    }
    std::size_t const o = maker.add("o", shape.type, shape.rows(shape.columns));
    std::size_t const stats = maker.add("stats", DataType_t::FLOAT, shape.rows(1));
    links.push_back({kernels::Output, o});
    bool const has_stats = random.chance(0.7);
    if (has_stats) links.push_back({kernels::Stats, stats});
    for_each_head(shape, in.of_q, in.of_k, in.of_v, of_bias, [&](std::int64_t, Head const& head) {
        auto const results = neighborhood_formula::fused_forward(head);
        append(made.tensors[o].expected, results.o);
        if (has_stats) append(made.tensors[stats].expected, results.stats);
    });
    add_step(made, shape, NeighborhoodWork::Forward, shape.scale, links);
}

void add_to_head(Numbers& sums, std::int64_t head, Numbers const& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) sums[at(head) * numbers.size() + i] += numbers[i];
}

// The products of the rows of two matrices, one for each row.
void append_row_dots(Numbers& to, Numbers const& a, Numbers const& b, std::int64_t columns) {
    for (auto row = a.begin(), other = b.begin(); row != a.end(); row += columns, other += columns) {
        to.push_back(std::inner_product(row, row + columns, other, 0.0));
    }
}

Numbers scaled(Numbers numbers, double scale) {
    for (double& number : numbers) number *= scale;
    return numbers;
}

Numbers pairs_of(Numbers const& first, Numbers const& second) {
    Numbers pairs;
    for (std::size_t i = 0; i < first.size(); ++i) pairs.insert(pairs.end(), {first[i], second[i]});
    return pairs;
}

// The inputs and outputs of backward in addition to forward's inputs; the bias and its gradient may be missing.
struct BackwardPlaces {
    std::size_t o, d_o, stats, d_q, d_k, d_v;
    std::optional<std::size_t> bias, d_bias;
    std::optional<std::size_t> delta;                 // of two passes
    std::optional<std::size_t> q_statistics, q_sums;  // of one pass
};

BackwardPlaces add_backward_places(Random& random, Maker& maker, KernelCase& made, Shape const& shape,
                                   NeighborhoodForm form) {
    auto const rows = [&](char const* name) { return maker.add(name, shape.type, shape.rows(shape.columns)); };
    auto const numbers = [&](char const* name) { return maker.add(name, DataType_t::FLOAT, shape.rows(1)); };
    BackwardPlaces places{rows("o"), rows("d_o"), numbers("stats"), rows("d_q"), rows("d_k"), rows("d_v"), {}, {}, {},
                          {},        {}};
    bool const has_bias = random.flip();
    bool const is_one_pass = !has_bias && form == NeighborhoodForm::Warpgroups;
    if (!is_one_pass) places.delta = numbers("delta");
    if (is_one_pass) {
        places.q_statistics = maker.add_packed("q_statistics", DataType_t::FLOAT, shape.rows(2));
        places.q_sums = maker.add_packed("q_sums", DataType_t::FLOAT, shape.rows(shape.columns));
        made.tensors[*places.q_sums].rounded_to = shape.type;
        made.tensors[*places.q_sums].factor = shape.scale;
    }
    if (!has_bias) return places;
    places.bias = maker.add("bias", shape.type, shape.bias());
    places.d_bias = maker.add("d_bias", shape.type, shape.bias());
    return places;
}

void add_one_pass_steps(KernelCase& made, Shape const& shape, Inputs const& in, BackwardPlaces const& places) {
    add_step(made, shape, NeighborhoodWork::GradientStart, shape.scale,
             {{kernels::Output, places.o},
              {kernels::OutputGradient, places.d_o},
              {kernels::Stats, places.stats},
              {kernels::QueryStatistics, *places.q_statistics},
              {kernels::QuerySums, *places.q_sums}});
    add_step(made, shape, NeighborhoodWork::Gradients, shape.scale,
             {{kernels::Queries, in.q},
              {kernels::Keys, in.k},
              {kernels::Values, in.v},
              {kernels::OutputGradient, places.d_o},
              {kernels::QueryStatistics, *places.q_statistics},
              {kernels::QuerySums, *places.q_sums},
              {kernels::KeyGradient, places.d_k},
              {kernels::ValueGradient, places.d_v}});
    add_step(made, shape, NeighborhoodWork::GradientEnd, shape.scale,
             {{kernels::QuerySums, *places.q_sums}, {kernels::QueryGradient, places.d_q}});
}

void add_backward_steps(KernelCase& made, Shape const& shape, Inputs const& in, BackwardPlaces const& places) {
    if (places.q_sums) return add_one_pass_steps(made, shape, in, places);
    Links shared{{kernels::Queries, in.q},       {kernels::Keys, in.k},
                 {kernels::Values, in.v},        {kernels::OutputGradient, places.d_o},
                 {kernels::Stats, places.stats}, {kernels::Delta, *places.delta}};
    if (places.bias) shared.push_back({kernels::Bias, *places.bias});
    auto const add = [&](NeighborhoodWork work, Links const& more) {
        Links links = shared;
        links.insert(links.end(), more.begin(), more.end());
        add_step(made, shape, work, shape.scale, links);
    };
    add(NeighborhoodWork::QueryGradients, {{kernels::Output, places.o}, {kernels::QueryGradient, places.d_q}});
    add(NeighborhoodWork::KeyGradients, {{kernels::KeyGradient, places.d_k}, {kernels::ValueGradient, places.d_v}});
    if (places.d_bias) add(NeighborhoodWork::BiasGradient, {{kernels::BiasGradient, *places.d_bias}});
}

void make_backward(Random& random, Maker& maker, KernelCase& made, Shape const& shape, NeighborhoodForm form) {
    Inputs const in = add_inputs(random, maker, made, shape);
    BackwardPlaces const places = add_backward_places(random, maker, made, shape, form);
    Numbers of_o, of_stats, of_bias;
    if (places.bias) of_bias = set_random_bias(random, made.tensors[*places.bias]);
    for_each_head(shape, in.of_q, in.of_k, in.of_v, of_bias, [&](std::int64_t, Head const& head) {
        auto const results = neighborhood_formula::fused_forward(head);
        append(of_o, results.o);
        append(of_stats, results.stats);
    });
    of_o = set(made.tensors[places.o], of_o);
    of_stats = set(made.tensors[places.stats], of_stats);
    Numbers const of_d_o = set_random(random, made.tensors[places.d_o]);
    if (places.d_bias) made.tensors[*places.d_bias].expected.assign(of_bias.size(), 0.0);
    std::int64_t const count = shape.batches * shape.heads;
    Numbers deltas;
    for_each_head(shape, in.of_q, in.of_k, in.of_v, of_bias, [&](std::int64_t number, Head const& head) {
        Numbers const o_part = part_of(of_o, number, count), d_o_part = part_of(of_d_o, number, count);
        auto const results =
            neighborhood_formula::fused_backward(head, o_part, part_of(of_stats, number, count), d_o_part);
        append(made.tensors[places.d_q].expected, results.q);
        append(made.tensors[places.d_k].expected, results.k);
        append(made.tensors[places.d_v].expected, results.v);
        append_row_dots(deltas, o_part, d_o_part, shape.columns);
        if (places.d_bias) add_to_head(made.tensors[*places.d_bias].expected, number % shape.heads, results.bias);
    });
    if (places.delta) made.tensors[*places.delta].expected = deltas;
    if (places.q_statistics) made.tensors[*places.q_statistics].expected = pairs_of(scaled(of_stats, kLog2OfE), deltas);
    if (places.q_sums)
        made.tensors[*places.q_sums].expected = scaled(made.tensors[places.d_q].expected, 1 / shape.scale);
    add_backward_steps(made, shape, in, places);
}

void make_qk(Random& random, Maker& maker, KernelCase& made, Shape const& shape) {
    Inputs const in = add_inputs(random, maker, made, shape);
    std::size_t const attn = maker.add("attn", shape.type, shape.rows(shape.slots()));
    Links links{{kernels::Queries, in.q}, {kernels::Keys, in.k}, {kernels::Slots, attn}};
    Numbers of_bias;
    if (random.flip()) {
        std::size_t const bias = maker.add("bias", shape.type, shape.bias());
        of_bias = set_random_bias(random, made.tensors[bias]);
        links.push_back({kernels::Bias, bias});
    }
    for_each_head(shape, in.of_q, in.of_k, {}, of_bias, [&](std::int64_t, Head const& head) {
        append(made.tensors[attn].expected, neighborhood_formula::qk_forward(head));
    });
    add_step(made, shape, NeighborhoodWork::WindowSlots, 1, links, -std::numeric_limits<float>::infinity());
}

void make_qk_backward(Random& random, Maker& maker, KernelCase& made, Shape const& shape) {
    Inputs const in = add_inputs(random, maker, made, shape);
    std::size_t const d_attn = maker.add("d_attn", shape.type, shape.rows(shape.slots()));
    std::size_t const d_q = maker.add("d_q", shape.type, shape.rows(shape.columns));
    std::size_t const d_k = maker.add("d_k", shape.type, shape.rows(shape.columns));
    std::size_t const d_bias = maker.add("d_bias", shape.type, shape.bias());
    Numbers const of_d_attn = set_random(random, made.tensors[d_attn]);
    Numbers const no_bias(at(*core::volume(shape.bias())), 0.0);
    Numbers& sums = made.tensors[d_bias].expected;
    sums = no_bias;
    for_each_head(shape, in.of_q, in.of_k, {}, no_bias, [&](std::int64_t number, Head const& head) {
        auto const results =
            neighborhood_formula::qk_backward(head, part_of(of_d_attn, number, shape.batches * shape.heads));
        append(made.tensors[d_q].expected, results.q);
        append(made.tensors[d_k].expected, results.k);
        add_to_head(sums, number % shape.heads, results.bias);
    });
    Links const slots{{kernels::Slots, d_attn}};
    add_step(made, shape, NeighborhoodWork::WindowQueries, 1,
             {{kernels::Slots, d_attn}, {kernels::Keys, in.k}, {kernels::Queries, d_q}});
    add_step(made, shape, NeighborhoodWork::WindowKeys, 1,
             {{kernels::Slots, d_attn}, {kernels::Queries, in.q}, {kernels::Keys, d_k}});
    add_step(made, shape, NeighborhoodWork::WindowBias, 1, {{kernels::Slots, d_attn}, {kernels::BiasGradient, d_bias}});
}

void make_av(Random& random, Maker& maker, KernelCase& made, Shape const& shape) {
    Inputs const in = add_inputs(random, maker, made, shape);
    std::size_t const attn = maker.add("attn", shape.type, shape.rows(shape.slots()));
    std::size_t const o = maker.add("o", shape.type, shape.rows(shape.columns));
    Numbers const of_attn = set_random(random, made.tensors[attn]);
    for_each_head(shape, {}, {}, in.of_v, {}, [&](std::int64_t number, Head const& head) {
        append(made.tensors[o].expected,
               neighborhood_formula::av_forward(head, part_of(of_attn, number, shape.batches * shape.heads)));
    });
    add_step(made, shape, NeighborhoodWork::WindowQueries, 1,
             {{kernels::Slots, attn}, {kernels::Keys, in.v}, {kernels::Queries, o}});
}

void make_av_backward(Random& random, Maker& maker, KernelCase& made, Shape const& shape) {
    Inputs const in = add_inputs(random, maker, made, shape);
    std::size_t const attn = maker.add("attn", shape.type, shape.rows(shape.slots()));
    std::size_t const d_o = maker.add("d_o", shape.type, shape.rows(shape.columns));
    std::size_t const d_attn = maker.add("d_attn", shape.type, shape.rows(shape.slots()));
    std::size_t const d_v = maker.add("d_v", shape.type, shape.rows(shape.columns));
    Numbers const of_attn = set_random(random, made.tensors[attn]), of_d_o = set_random(random, made.tensors[d_o]);
    std::int64_t const count = shape.batches * shape.heads;
    for_each_head(shape, {}, {}, in.of_v, {}, [&](std::int64_t number, Head const& head) {
        auto const results =
            neighborhood_formula::av_backward(head, part_of(of_attn, number, count), part_of(of_d_o, number, count));
        append(made.tensors[d_attn].expected, results.attn);
        append(made.tensors[d_v].expected, results.v);
    });
    add_step(made, shape, NeighborhoodWork::WindowSlots, 1,
             {{kernels::Queries, d_o}, {kernels::Keys, in.v}, {kernels::Slots, d_attn}});
    add_step(made, shape, NeighborhoodWork::WindowKeys, 1,
             {{kernels::Slots, attn}, {kernels::Queries, d_o}, {kernels::Keys, d_v}});
}

// --- Comparing

double rounding_of(DataType_t type) {
    return type == DataType_t::BFLOAT16 ? 0x1p-8 : type == DataType_t::HALF ? 0x1p-11 : 0x1p-19;
}

// Weights are rounded to the elements' type before they are multiplied, and results once more. The terms may be larger
// than their sum, so that the largest number of the tensor counts.
double tolerance_of(KernelTensor const& data) {
    double largest = 0;
    for (double const number : data.expected) {
        if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
    }
    return 3 * rounding_of(data.rounded_to) * largest + 1e-6 / std::abs(data.factor);
}

std::string fault_of_output(KernelTensor const& before, std::vector<std::byte> after) {
    double const tolerance = tolerance_of(before);
    std::string fault;
    std::size_t number = 0;
    std::vector<std::byte> expected = before.bytes;
    auto const element = at(core::size_of(before.operand.type));
    for_each_element(before.operand, [&](std::int64_t offset) {
        double const found = core::load(before.operand.type, after.data() + before.start, offset);
        double const needed = before.expected[number++];
        bool const is_right = found == needed || std::abs(found - needed) <= tolerance;
        if (!is_right && fault.empty()) {
            fault = before.name + "[" + std::to_string(number - 1) + "] is " + std::to_string(found) + ", expected " +
                    std::to_string(needed) + " within " + std::to_string(tolerance);
        }
        std::size_t const first = before.start + at(offset) * element;
        std::copy_n(after.data() + first, element, expected.data() + first);
    });
    if (fault.empty() && after != expected) fault = before.name + ": bytes changed outside the elements";
    return fault;
}

}  // namespace

bool allows(KernelCase const& made, NeighborhoodForm form, kernels::DeviceFacts const& device) {
    return std::ranges::all_of(made.steps, [&](KernelStep const& step) {
        auto const alignments = kernels::alignments_of(step.neighborhood(), form);
        for (std::size_t i = 0; i < alignments.size(); ++i) {
            if (made.tensors[step.tensors[i]].start % alignments[i] != 0) return false;
        }
        return kernels::reason_against(step.neighborhood(), form, device).empty();
    });
}

bool is_fused_backward(KernelCase const& made) {
    NeighborhoodWork const first = made.steps.front().neighborhood().work;
    return first == NeighborhoodWork::QueryGradients || first == NeighborhoodWork::GradientStart;
}

KernelCase random_neighborhood_kernel_case(std::uint64_t seed, NeighborhoodLimits const& limits,
                                           NeighborhoodForm form) {
    Random random(seed);
    KernelCase made;
    auto const function = static_cast<NeighborhoodFunction>(seed % kNeighborhoodFunctions);
    Shape shape = random_shape(random, limits);
    bool const has_slots = function > NeighborhoodFunction::Backward;
    // Slots and keys grow with the square of the tokens, and with the columns.
    while (has_slots && shape.tokens() * shape.slots() > 200'000) shape.axes.front() = random_axis(random, 4);
    made.name = name_of(function, shape);
    Maker maker(random, made);
    switch (function) {
        case NeighborhoodFunction::Forward: make_forward(random, maker, made, shape); break;
        case NeighborhoodFunction::Backward: make_backward(random, maker, made, shape, form); break;
        case NeighborhoodFunction::Qk: make_qk(random, maker, made, shape); break;
        case NeighborhoodFunction::QkBackward: make_qk_backward(random, maker, made, shape); break;
        case NeighborhoodFunction::Av: make_av(random, maker, made, shape); break;
        case NeighborhoodFunction::AvBackward: make_av_backward(random, maker, made, shape); break;
    }
    return made;
}

std::string fault_of_neighborhood(KernelCase const& before, std::vector<std::vector<std::byte>> const& after) {
    for (std::size_t i = 0; i < after.size(); ++i) {
        KernelTensor const& data = before.tensors[i];
        if (data.expected.empty() && after[i] != data.bytes) return data.name + " changed, which is not written";
        if (data.expected.empty()) continue;
        std::string const fault = fault_of_output(data, after[i]);
        if (!fault.empty()) return fault;
    }
    return "";
}

}  // namespace sdpa_test
