// Problems of neighborhood attention on host memory for the tests: seeded data in every tensor, in any layout.
#pragma once

#include "support/neighborhood_formula.h"

#include "cpu/neighborhood/neighborhood_attention.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace neighborhood_test {

namespace fe = cudnn_frontend;
using Function = fe::neighborhood::Function;
using neighborhood_formula::Numbers;

enum class Layout { HeadsLast, HeadsFirst, Gaps };

struct Case {
    std::uint64_t seed = 1;
    Function function = Function::Forward;
    std::vector<neighborhood_formula::Axis> axes;
    std::int64_t batches = 1, heads = 1, width = 8;
    fe::DataType_t type = fe::DataType_t::FLOAT;
    Layout layout = Layout::HeadsLast;
    bool has_bias = false, has_stats = true;
    double scale = 0.5;

    std::string text() const;
};

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
    bool has_intact_gaps(Case const& test) const;
};

// All tensors; those that the function writes hold a pattern, and after expect() the formula's results.
struct Data {
    Tensor q, k, v, o, stats, bias, attn;
    Tensor d_o, d_q, d_k, d_v, d_bias, d_attn;

    fe::cpu::NeighborhoodProblem problem(Case const& test);
    std::vector<Tensor*> results(Case const& test);
};

Data make_data(Case const& test);

// Computes the results of all heads by the formula, rounded to the tensors' types.
void expect(Case const& test, Data& data);

Case random_case(std::uint64_t seed);

}  // namespace neighborhood_test
