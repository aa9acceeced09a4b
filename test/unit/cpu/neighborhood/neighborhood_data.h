// The data of cases of neighborhood attention on host memory, for the tests of the fused kernels: seeded, in every
// tensor.
#pragma once

#include "reference/cases/neighborhood_case.h"

#include "cpu/neighborhood/neighborhood_attention.h"

#include <array>
#include <cstdint>
#include <vector>

namespace neighborhood_test {

namespace fe = cudnn_frontend;
using Function = fe::neighborhood::Function;
using neighborhood_formula::Numbers;

using sdpa_test::NeighborhoodCase;
using sdpa_test::NeighborhoodLayout;

// A tensor with its memory. Elements that its strides do not reach keep a known pattern.
struct Tensor {
    std::vector<std::byte> memory;
    fe::cpu::TokenView view;
    std::array<std::int64_t, 3> lengths{1, 1, 1};
    std::int64_t columns = 0;

    // The rows of one head of one batch entry.
    Numbers rows(std::int64_t b, std::int64_t h) const;
    void set_rows(std::int64_t b, std::int64_t h, Numbers const& numbers);
    // Memory between the rows' elements is as it was made.
    bool has_intact_gaps(NeighborhoodCase const& test) const;
};

// All tensors; those that the function writes hold a pattern, and after expect() the formula's results.
struct Data {
    Function function = Function::Forward;
    Tensor q, k, v, o, stats, bias, attn;
    Tensor d_o, d_q, d_k, d_v, d_bias, d_attn;

    fe::cpu::NeighborhoodProblem problem(NeighborhoodCase const& test);
    std::vector<Tensor*> results(NeighborhoodCase const& test);
};

// A case without random choices: one head of 8 columns.
NeighborhoodCase case_of(std::vector<neighborhood_formula::Axis> const& axes);
// A case for the function.
NeighborhoodCase random_case(Function function, std::uint64_t seed);

Data make_data(Function function, NeighborhoodCase const& test);

// Computes the results of all heads by the formula, rounded to the tensors' types.
void expect(NeighborhoodCase const& test, Data& data);

}  // namespace neighborhood_test
