#include "attention_data.h"

#include "support/random.h"

#include "attention/philox.h"

#include <limits>

namespace attention_test {

using fe::DataType_t;
using sdpa_test::Random;

namespace {

template <class Visit>
void for_each_element(Dims const& dim, Visit visit) {
    for (std::int64_t b = 0; b < dim[0]; ++b) {
        for (std::int64_t h = 0; h < dim[1]; ++h) {
            for (std::int64_t i = 0; i < dim[2]; ++i) {
                for (std::int64_t j = 0; j < dim[3]; ++j) visit(b, h, i, j);
            }
        }
    }
}

}  // namespace

double Tensor::at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return fe::core::load(view.type, view.data, view.at(b, h, i, j));
}

void Tensor::set(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, double value) {
    fe::core::store(view.type, view.data, view.at(b, h, i, j), value);
}

oracle::Array Tensor::numbers() const {
    oracle::Array result(view.dim[0], view.dim[1], view.dim[2], view.dim[3]);
    for_each_element(view.dim, [&](auto b, auto h, auto i, auto j) { result.at(b, h, i, j) = at(b, h, i, j); });
    return result;
}

namespace {

constexpr unsigned char kUnwritten = 0xA5;
constexpr double kDropoutMaskScale = 1.25;

Dims strides_of(Dims const& dim, Layout layout) {
    switch (layout) {
        case Layout::Bshd: return {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1};
        case Layout::Gaps: return {dim[1] * dim[2] * (dim[3] + 3) + 5, dim[2] * (dim[3] + 3), dim[3] + 3, 1};
        default: return {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
    }
}

Tensor make_tensor(Dims const& dim, DataType_t type, Layout layout = Layout::Bhsd) {
    Dims const stride = strides_of(dim, layout);
    std::int64_t last = 1;
    for (std::size_t axis = 0; axis < 4; ++axis) last += (dim[axis] - 1) * stride[axis];
    Tensor tensor;
    tensor.memory.assign(static_cast<std::size_t>(last * fe::core::size_of(type)), kUnwritten);
    tensor.view = {tensor.memory.data(), type, dim, stride};
    return tensor;
}

template <class Value>
void fill(Tensor& tensor, Value value) {
    for_each_element(tensor.view.dim, [&](auto b, auto h, auto i, auto j) { tensor.set(b, h, i, j, value(b, i)); });
}

class Source {
   public:
    explicit Source(AttentionCase const& test) : test_(test), random_(test.seed) {}

    // Rows past the sequences' lengths hold NaN.
    Tensor tensor(Dims const& dim, std::optional<std::vector<std::int64_t>> const& lengths) {
        Tensor result = make_tensor(dim, test_.type, test_.input_layout);
        fill(result, [&](std::int64_t b, std::int64_t i) {
            bool const past = lengths && i >= (*lengths)[static_cast<std::size_t>(b)];
            return past ? std::numeric_limits<double>::quiet_NaN() : random_.real(-1.5, 1.5);
        });
        return result;
    }
    Tensor plain(Dims const& dim) {
        Tensor result = make_tensor(dim, test_.type);
        fill(result, [&](std::int64_t, std::int64_t) { return random_.real(-2.0, 2.0); });
        return result;
    }
    Tensor mask(Dims const& dim) {
        Tensor result = make_tensor(dim, test_.type);
        fill(result, [&](std::int64_t, std::int64_t) { return random_.chance(0.25) ? 0.0 : 1.0; });
        return result;
    }

   private:
    AttentionCase const& test_;
    Random random_;
};

Tensor one_element(DataType_t type, double value) {
    Tensor result = make_tensor({1, 1, 1, 1}, type);
    result.set(0, 0, 0, 0, value);
    return result;
}

Tensor lengths_tensor(std::vector<std::int64_t> const& lengths) {
    Tensor result = make_tensor({static_cast<std::int64_t>(lengths.size()), 1, 1, 1}, DataType_t::INT32);
    for (std::size_t b = 0; b < lengths.size(); ++b) {
        result.set(static_cast<std::int64_t>(b), 0, 0, 0, static_cast<double>(lengths[b]));
    }
    return result;
}

void set_random_sizes(AttentionCase& test, Random& random) {
    std::vector<std::int64_t> const lengths{1, 17, 65, 130}, widths{8, 40, 64, 128, 256};
    test.b = random.pick({1, 2, 3});
    test.h_q = random.pick({1, 2, 4, 6});
    std::vector<std::int64_t> divisors;
    for (std::int64_t n = 1; n <= test.h_q; ++n) {
        if (test.h_q % n == 0) divisors.push_back(n);
    }
    test.h_k = random.pick(divisors);
    test.h_v = random.pick(divisors);
    test.s_q = random.pick(lengths);
    test.s_kv = random.pick(lengths);
    test.d_qk = random.pick(widths);
    test.d_v = random.pick(widths);
}

void set_random_band(AttentionCase& test, Random& random) {
    test.alignment = random.flip() ? fe::DiagonalAlignment_t::TOP_LEFT : fe::DiagonalAlignment_t::BOTTOM_RIGHT;
    if (random.flip()) test.right = random.pick({0, 0, 5});
    if (random.chance(0.3)) test.left = random.pick({1, 9, 70});
}

void set_random_lengths(AttentionCase& test, Random& random) {
    test.len_q.emplace(), test.len_kv.emplace();
    for (std::int64_t b = 0; b < test.b; ++b) {
        test.len_q->push_back(random.between(0, test.s_q));
        test.len_kv->push_back(random.between(0, test.s_kv));
    }
}

}  // namespace

fe::ir::AttentionOptions options_of(AttentionCase const& test) {
    fe::ir::AttentionOptions options;
    options.alibi = test.alibi;
    options.padding = test.len_q.has_value();
    options.alignment = test.alignment;
    options.left_bound = test.left;
    options.right_bound = test.right;
    if (test.scale == Scale::Number) options.scale_value = test.scale_value;
    if (test.dropout == Dropout::Probability) options.dropout_probability = test.dropout_probability;
    return options;
}

Data make_data(AttentionCase const& test) {
    Source source(test);
    Data data;
    data.q = source.tensor({test.b, test.h_q, test.s_q, test.d_qk}, test.len_q);
    data.k = source.tensor({test.b, test.h_k, test.s_kv, test.d_qk}, test.len_kv);
    data.v = source.tensor({test.b, test.h_v, test.s_kv, test.d_v}, test.len_kv);
    data.d_o = source.tensor({test.b, test.h_q, test.s_q, test.d_v}, test.len_q);
    data.o = make_tensor({test.b, test.h_q, test.s_q, test.d_v}, test.type, test.output_layout);
    data.stats = make_tensor({test.b, test.h_q, test.s_q, 1}, DataType_t::FLOAT);
    data.d_q = make_tensor(data.q.view.dim, test.type, test.output_layout);
    data.d_k = make_tensor(data.k.view.dim, test.type, test.output_layout);
    data.d_v = make_tensor(data.v.view.dim, test.type, test.output_layout);
    data.scale = one_element(DataType_t::FLOAT, 0.2);
    if (test.bias) {
        data.bias = source.plain(*test.bias);
        data.d_bias = make_tensor(*test.bias, test.type);
    }
    if (test.len_q) data.seq_len_q = lengths_tensor(*test.len_q);
    if (test.len_kv) data.seq_len_kv = lengths_tensor(*test.len_kv);
    data.seed = one_element(DataType_t::INT64, 1234 + static_cast<double>(test.seed));
    data.offset = one_element(DataType_t::INT64, 3);
    data.dropout_mask = source.mask({1, test.h_q, test.s_q, test.s_kv});
    data.dropout_scale = one_element(DataType_t::FLOAT, kDropoutMaskScale);
    data.rng_dump = make_tensor({test.b, test.h_q, test.s_q, test.s_kv}, DataType_t::FLOAT);
    return data;
}

namespace {

fe::cpu::AttentionTensors connect(AttentionCase const& test, Data const& data) {
    fe::cpu::AttentionTensors tensors;
    tensors[Port::Q] = data.q.view;
    tensors[Port::K] = data.k.view;
    tensors[Port::V] = data.v.view;
    tensors[Port::O] = data.o.view;
    tensors[Port::Stats] = data.stats.view;
    if (test.scale == Scale::Device) tensors[Port::AttnScale] = data.scale.view;
    if (test.bias) tensors[Port::Bias] = data.bias.view;
    if (test.len_q) {
        tensors[Port::SeqLenQ] = data.seq_len_q.view;
        tensors[Port::SeqLenKv] = data.seq_len_kv.view;
    }
    if (test.dropout == Dropout::Probability) {
        tensors[Port::Seed] = data.seed.view;
        tensors[Port::Offset] = data.offset.view;
        tensors[Port::RngDump] = data.rng_dump.view;
    }
    if (test.dropout == Dropout::Mask) {
        tensors[Port::DropoutMask] = data.dropout_mask.view;
        tensors[Port::DropoutScale] = data.dropout_scale.view;
    }
    return tensors;
}

}  // namespace

fe::cpu::AttentionTensors Data::forward(AttentionCase const& test) const { return connect(test, *this); }

fe::cpu::AttentionTensors Data::backward(AttentionCase const& test) const {
    auto tensors = connect(test, *this);
    tensors[Port::DO] = d_o.view;
    tensors[Port::DQ] = d_q.view;
    tensors[Port::DK] = d_k.view;
    tensors[Port::DV] = d_v.view;
    if (test.bias) tensors[Port::DBias] = d_bias.view;
    return tensors;
}

namespace {

// The mask that the kernels should generate.
oracle::Array generated_mask(AttentionCase const& test, Data const& data) {
    oracle::Array mask(test.b, test.h_q, test.s_q, test.s_kv);
    fe::attention::PhiloxMask const generator(static_cast<std::int64_t>(data.seed.at(0, 0, 0, 0)),
                                              static_cast<std::int64_t>(data.offset.at(0, 0, 0, 0)),
                                              1.0 - double{test.dropout_probability}, test.s_kv);
    for_each_element(mask.dim, [&](auto b, auto h, auto i, auto j) {
        mask.at(b, h, i, j) = generator.keeps((b * test.h_q + h) * test.s_q + i, j) ? 1.0 : 0.0;
    });
    return mask;
}

}  // namespace

oracle::Problem to_problem(AttentionCase const& test, Data const& data) {
    oracle::Problem problem;
    problem.q = data.q.numbers();
    problem.k = data.k.numbers();
    problem.v = data.v.numbers();
    problem.scale = test.scale == Scale::Device ? data.scale.at(0, 0, 0, 0) : double{test.scale_value};
    if (test.bias) problem.bias = data.bias.numbers();
    problem.alibi = test.alibi;
    problem.len_q = test.len_q;
    problem.len_kv = test.len_kv;
    problem.bottom_right = test.alignment == fe::DiagonalAlignment_t::BOTTOM_RIGHT;
    problem.left = test.left;
    problem.right = test.right;
    if (test.dropout == Dropout::Probability) {
        problem.dropout_mask = generated_mask(test, data);
        problem.dropout_scale = 1.0 / (1.0 - double{test.dropout_probability});
    }
    if (test.dropout == Dropout::Mask) {
        problem.dropout_mask = data.dropout_mask.numbers();
        problem.dropout_scale = kDropoutMaskScale;
    }
    return problem;
}

AttentionCase random_case(unsigned seed) {
    Random random(seed);
    AttentionCase test;
    test.seed = seed;
    set_random_sizes(test, random);
    test.type =
        random.pick({DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::DOUBLE});
    test.input_layout = test.output_layout = random.pick({Layout::Bhsd, Layout::Bshd, Layout::Gaps});
    test.alibi = random.chance(0.25);
    bool const has_lengths = random.flip();
    set_random_band(test, random);
    if (random.flip()) test.scale = Scale::Device;
    else if (random.flip()) test.scale = Scale::Number, test.scale_value = 0.125f;
    bool const has_bias = random.flip();
    auto const one_or = [&](std::int64_t size) { return random.flip() ? 1 : size; };
    sdpa_test::Index4 const bias{one_or(test.b), one_or(test.h_q), one_or(test.s_q), one_or(test.s_kv)};
    if (has_bias) test.bias = bias;
    test.dropout = random.pick({Dropout::None, Dropout::None, Dropout::Probability, Dropout::Mask});
    if (test.dropout == Dropout::Probability) test.dropout_probability = 0.25f;
    if (has_lengths) set_random_lengths(test, random);
    return test;
}

}  // namespace attention_test
