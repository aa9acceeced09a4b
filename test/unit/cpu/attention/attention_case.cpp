#include "attention_case.h"

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
        case Layout::Padded: return {dim[1] * dim[2] * (dim[3] + 3) + 5, dim[2] * (dim[3] + 3), dim[3] + 3, 1};
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
    explicit Source(Case const& test) : test_(test), random_(test.seed) {}

    // Rows past the sequences' lengths hold NaN.
    Tensor tensor(Dims const& dim, std::vector<std::int64_t> const& lengths) {
        Tensor result = make_tensor(dim, test_.type, test_.layout);
        fill(result, [&](std::int64_t b, std::int64_t i) {
            bool const past = test_.options.padding && i >= lengths[static_cast<std::size_t>(b)];
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
    Case const& test_;
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

Sizes random_sizes(Random& random) {
    std::vector<std::int64_t> const lengths{1, 17, 65, 130}, widths{8, 40, 64, 128, 256};
    Sizes sizes;
    sizes.b = random.pick({1, 2, 3});
    sizes.hq = random.pick({1, 2, 4, 6});
    std::vector<std::int64_t> divisors;
    for (std::int64_t n = 1; n <= sizes.hq; ++n) {
        if (sizes.hq % n == 0) divisors.push_back(n);
    }
    sizes.hk = random.pick(divisors);
    sizes.hv = random.pick(divisors);
    sizes.sq = random.pick(lengths);
    sizes.skv = random.pick(lengths);
    sizes.dqk = random.pick(widths);
    sizes.dv = random.pick(widths);
    return sizes;
}

fe::ir::AttentionOptions random_options(Random& random) {
    fe::ir::AttentionOptions options;
    options.alibi = random.chance(0.25);
    options.padding = random.flip();
    options.alignment = random.flip() ? fe::DiagonalAlignment_t::TOP_LEFT : fe::DiagonalAlignment_t::BOTTOM_RIGHT;
    if (random.flip()) options.right_bound = random.pick({0, 0, 5});
    if (random.chance(0.3)) options.left_bound = random.pick({1, 9, 70});
    return options;
}

}  // namespace

Data make_data(Case const& test) {
    Sizes const& s = test.sizes;
    Source source(test);
    Data data;
    data.q = source.tensor({s.b, s.hq, s.sq, s.dqk}, test.lengths_q);
    data.k = source.tensor({s.b, s.hk, s.skv, s.dqk}, test.lengths_kv);
    data.v = source.tensor({s.b, s.hv, s.skv, s.dv}, test.lengths_kv);
    data.d_o = source.tensor({s.b, s.hq, s.sq, s.dv}, test.lengths_q);
    data.o = make_tensor({s.b, s.hq, s.sq, s.dv}, test.type, test.layout);
    data.stats = make_tensor({s.b, s.hq, s.sq, 1}, DataType_t::FLOAT);
    data.d_q = make_tensor(data.q.view.dim, test.type, test.layout);
    data.d_k = make_tensor(data.k.view.dim, test.type, test.layout);
    data.d_v = make_tensor(data.v.view.dim, test.type, test.layout);
    data.scale = one_element(DataType_t::FLOAT, 0.2);
    data.bias = source.plain(test.bias_dim);
    data.d_bias = make_tensor(test.bias_dim, test.type);
    data.seq_len_q = lengths_tensor(test.lengths_q);
    data.seq_len_kv = lengths_tensor(test.lengths_kv);
    data.seed = one_element(DataType_t::INT64, 1234 + test.seed);
    data.offset = one_element(DataType_t::INT64, 3);
    data.dropout_mask = source.mask({1, s.hq, s.sq, s.skv});
    data.dropout_scale = one_element(DataType_t::FLOAT, kDropoutMaskScale);
    data.rng_dump = make_tensor({s.b, s.hq, s.sq, s.skv}, DataType_t::FLOAT);
    return data;
}

namespace {

fe::cpu::AttentionTensors connect(Case const& test, Data const& data) {
    fe::cpu::AttentionTensors tensors;
    tensors[Port::Q] = data.q.view;
    tensors[Port::K] = data.k.view;
    tensors[Port::V] = data.v.view;
    tensors[Port::O] = data.o.view;
    tensors[Port::Stats] = data.stats.view;
    if (test.scale_tensor) tensors[Port::Attn_scale] = data.scale.view;
    if (test.has_bias) tensors[Port::Bias] = data.bias.view;
    if (test.options.padding) {
        tensors[Port::Seq_len_q] = data.seq_len_q.view;
        tensors[Port::Seq_len_kv] = data.seq_len_kv.view;
    }
    if (test.dropout == Dropout::Philox) {
        tensors[Port::Seed] = data.seed.view;
        tensors[Port::Offset] = data.offset.view;
        tensors[Port::Rng_dump] = data.rng_dump.view;
    }
    if (test.dropout == Dropout::Mask) {
        tensors[Port::Dropout_mask] = data.dropout_mask.view;
        tensors[Port::Dropout_scale] = data.dropout_scale.view;
    }
    return tensors;
}

}  // namespace

fe::cpu::AttentionTensors Data::forward(Case const& test) const { return connect(test, *this); }

fe::cpu::AttentionTensors Data::backward(Case const& test) const {
    auto tensors = connect(test, *this);
    tensors[Port::dO] = d_o.view;
    tensors[Port::dQ] = d_q.view;
    tensors[Port::dK] = d_k.view;
    tensors[Port::dV] = d_v.view;
    if (test.has_bias) tensors[Port::dBias] = d_bias.view;
    return tensors;
}

namespace {

// The mask that the kernels should generate.
oracle::Array generated_mask(Case const& test, Data const& data) {
    Sizes const& s = test.sizes;
    oracle::Array mask(s.b, s.hq, s.sq, s.skv);
    fe::attention::DropoutMask const generator(static_cast<std::int64_t>(data.seed.at(0, 0, 0, 0)),
                                               static_cast<std::int64_t>(data.offset.at(0, 0, 0, 0)),
                                               1.0 - *test.options.dropout_probability, s.skv);
    for_each_element(mask.dim, [&](auto b, auto h, auto i, auto j) {
        mask.at(b, h, i, j) = generator.keeps((b * s.hq + h) * s.sq + i, j) ? 1.0 : 0.0;
    });
    return mask;
}

}  // namespace

oracle::Problem to_problem(Case const& test, Data const& data) {
    oracle::Problem problem;
    problem.q = data.q.numbers();
    problem.k = data.k.numbers();
    problem.v = data.v.numbers();
    problem.scale = test.scale_tensor ? data.scale.at(0, 0, 0, 0) : double{test.options.scale_value.value_or(1.0f)};
    if (test.has_bias) problem.bias = data.bias.numbers();
    problem.alibi = test.options.alibi;
    if (test.options.padding) {
        problem.len_q = test.lengths_q;
        problem.len_kv = test.lengths_kv;
    }
    problem.bottom_right = test.options.alignment == fe::DiagonalAlignment_t::BOTTOM_RIGHT;
    problem.left = test.options.left_bound;
    problem.right = test.options.right_bound;
    if (test.dropout == Dropout::Philox) {
        problem.dropout_mask = generated_mask(test, data);
        problem.dropout_scale = 1.0 / (1.0 - *test.options.dropout_probability);
    }
    if (test.dropout == Dropout::Mask) {
        problem.dropout_mask = data.dropout_mask.numbers();
        problem.dropout_scale = kDropoutMaskScale;
    }
    return problem;
}

Case random_case(unsigned seed) {
    Random random(seed);
    Case test;
    test.seed = seed;
    test.sizes = random_sizes(random);
    test.type =
        random.pick({DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::DOUBLE});
    test.layout = random.pick({Layout::Bhsd, Layout::Bshd, Layout::Padded});
    test.options = random_options(random);
    test.scale_tensor = random.flip();
    if (!test.scale_tensor && random.flip()) test.options.scale_value = 0.125f;
    Sizes const& s = test.sizes;
    test.has_bias = random.flip();
    test.bias_dim = {random.flip() ? 1 : s.b, random.flip() ? 1 : s.hq, random.flip() ? 1 : s.sq,
                     random.flip() ? 1 : s.skv};
    test.dropout = random.pick({Dropout::None, Dropout::None, Dropout::Philox, Dropout::Mask});
    if (test.dropout == Dropout::Philox) test.options.dropout_probability = 0.25;
    for (std::int64_t b = 0; b < s.b; ++b) {
        test.lengths_q.push_back(random.between(0, s.sq));
        test.lengths_kv.push_back(random.between(0, s.skv));
    }
    return test;
}

}  // namespace attention_test
