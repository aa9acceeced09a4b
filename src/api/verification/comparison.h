// Results compared with those of the reference: the tolerance, the roundoff of parts that cancel in gradients, and the
// worst element.
#pragma once

#include "api/verification/problem.h"

#include <cudnn_frontend/verification.h>

#include <algorithm>
#include <vector>

namespace cudnn_frontend::verification {

double root_mean_square(Elements const& elements);  // of those that are finite

// The factor by which a node of attention or of a neighborhood multiplies its scores; 0 where it is not known.
double score_scale(Problem const& problem, nodes::Node const& node);

// The size of the parts that cancel in gradients of scores, keys and queries: dQ is
// scale * sum(P * (dO * V - sum(dO * O)) * K), whose difference keeps the roundoff of its parts also where it is 0,
// such as with one visible key.
class CancelledParts {
   public:
    // None for other results, and where the parts are not in memory.
    CancelledParts(Problem const& problem, TensorId result);

    // Their size where few keys have all the weight.
    double least() const { return least_; }
    // Their size where all visible keys weigh the same.
    double at(Dims const& index) const;
    // Their roundoff, where `unit` is that of the tensors' types: products of 8-bit numbers are not rounded to these.
    double roundoff(double unit) const { return is_of_8_bits_ ? std::min(unit, 0x1p-11) : unit; }

   private:
    void add_attention(Problem const& problem, AttentionUse const& use, Dims const& result);
    void add_neighborhood(Problem const& problem, nodes::Node const& node, int port);

    bool is_of_8_bits_ = false;
    double size_ = 0.0, least_ = 0.0;
    double added_ = 0.0;  // the squares of the weights with which the parts are added, or how often those below are
    std::vector<std::vector<double>> squares_;  // by batch entry, and by row or key; empty where all are the same
};

// The roundoff of probabilities: that of the coarsest type of the attention's tensors, to which targets round them, or
// what the largest possible score loses in FLOAT, by whose exponential a probability changes. At least `least`.
double roundoff_of_inputs(Problem const& problem, double least);

// Compares the problem's memory of a result with the reference's. Dims are counted from `origin`, which is empty for
// a whole tensor.
Compared_result compare(Problem const& problem, TensorId id, Memory const& expected, double roundoff_of_inputs,
                        Dims const& origin = {});

// A result without elements, where there are none to compare.
Compared_result nothing_compared(Problem const& problem, TensorId id);

// Adds the comparison of another part of the same result.
void merge(Compared_result& all, Compared_result const& part);

}  // namespace cudnn_frontend::verification
