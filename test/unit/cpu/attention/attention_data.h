// The data of attention cases on host memory, for the tests of the fused kernels: seeded, in every tensor.
#pragma once

#include "reference/oracle/oracle.h"
#include "support/attention_case.h"

#include "cpu/attention/attention.h"

#include <cstdint>
#include <vector>

namespace attention_test {

namespace fe = cudnn_frontend;
using fe::cpu::DataView;
using fe::cpu::Port;

using sdpa_test::AttentionCase;
using sdpa_test::Dropout;
using sdpa_test::Layout;
using sdpa_test::Scale;
using Dims = std::array<std::int64_t, 4>;

// A tensor with its memory. Elements that its strides do not reach keep a known pattern.
struct Tensor {
    std::vector<unsigned char> memory;
    DataView view;

    double at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
    void set(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, double value);
    oracle::Array numbers() const;
};

// All tensors of a case, forward and backward. Elements past a sequence's length are NaN in the inputs.
struct Data {
    Tensor q, k, v, o, d_o, stats, scale, bias, seq_len_q, seq_len_kv, seed, offset;
    Tensor dropout_mask, dropout_scale;
    Tensor rng_dump, d_q, d_k, d_v, d_bias;

    fe::cpu::AttentionTensors forward(AttentionCase const& test) const;
    fe::cpu::AttentionTensors backward(AttentionCase const& test) const;
};

fe::ir::AttentionOptions options_of(AttentionCase const& test);

Data make_data(AttentionCase const& test);

// The case for the oracle.
oracle::Problem to_problem(AttentionCase const& test, Data const& data);

// A random combination of sizes, layout, data type and those options that the fused kernels have.
AttentionCase random_case(unsigned seed);

}  // namespace attention_test
