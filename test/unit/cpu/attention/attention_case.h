// Attention problems on host memory for the tests: seeded data in every tensor, in any layout.
#pragma once

#include "reference/oracle.h"

#include "cpu/attention/attention.h"

#include <cstdint>
#include <vector>

namespace attention_test {

namespace fe = cudnn_frontend;
using fe::cpu::Port;
using fe::cpu::View;

using Dims = std::array<std::int64_t, 4>;

// A tensor with its memory. Elements that its strides do not reach keep a known pattern.
struct Tensor {
    std::vector<unsigned char> memory;
    View view;

    double at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
    void set(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, double value);
    oracle::Array numbers() const;
};

enum class Layout { Bhsd, Bshd, Padded };
enum class Dropout { None, Philox, Mask };

struct Sizes {
    std::int64_t b = 1, hq = 1, hk = 1, hv = 1, sq = 1, skv = 1, dqk = 8, dv = 8;
};

struct Case {
    unsigned seed = 1;
    Sizes sizes;
    fe::DataType_t type = fe::DataType_t::FLOAT;
    Layout layout = Layout::Bhsd;
    fe::ir::AttentionOptions options;
    bool scale_tensor = false;
    bool has_bias = false;
    Dims bias_dim{1, 1, 1, 1};
    Dropout dropout = Dropout::None;
    std::vector<std::int64_t> lengths_q, lengths_kv;  // if the options have padding
};

// All tensors of a case, forward and backward. Elements past a sequence's length are NaN in the inputs.
struct Data {
    Tensor q, k, v, o, d_o, stats, scale, bias, seq_len_q, seq_len_kv, seed, offset;
    Tensor dropout_mask, dropout_scale;
    Tensor rng_dump, d_q, d_k, d_v, d_bias;

    fe::cpu::AttentionTensors forward(Case const& test) const;
    fe::cpu::AttentionTensors backward(Case const& test) const;
};

Data make_data(Case const& test);

// The case for the oracle.
oracle::Problem to_problem(Case const& test, Data const& data);

// A random combination of sizes, layout, data type and options.
Case random_case(unsigned seed);

}  // namespace attention_test
