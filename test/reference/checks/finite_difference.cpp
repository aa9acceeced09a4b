#include "reference/checks/finite_difference.h"

namespace oracle {
namespace {

constexpr double kStep = 1e-5;

double loss(Problem const& problem, Array const& d_o) {
    Array const o = forward(problem).o;
    double sum = 0.0;
    for (std::size_t n = 0; n < o.values.size(); ++n) sum += o.values[n] * d_o.values[n];
    return sum;
}

// `parameter` is a member of the problem.
Array gradient(Problem& problem, Array& parameter, Array const& d_o) {
    Array result = parameter;
    for (std::size_t n = 0; n < parameter.values.size(); ++n) {
        double const value = parameter.values[n];
        parameter.values[n] = value + kStep;
        double const above = loss(problem, d_o);
        parameter.values[n] = value - kStep;
        double const below = loss(problem, d_o);
        parameter.values[n] = value;
        result.values[n] = (above - below) / (2.0 * kStep);
    }
    return result;
}

}  // namespace

Backward central_differences(Problem const& problem, Array const& d_o) {
    Problem p = problem;
    return {gradient(p, p.q, d_o), gradient(p, p.k, d_o), gradient(p, p.v, d_o),
            p.bias ? gradient(p, *p.bias, d_o) : Array(), p.sink ? gradient(p, *p.sink, d_o) : Array()};
}

}  // namespace oracle
