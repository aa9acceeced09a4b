// How long attention is expected to take, from the times of tiles on a GPU.
#pragma once

#include "kernels/attention/attention_problem.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_frontend::kernels {

// A tile takes block * blocks + extra microseconds of a multiprocessor: a block has keys in forward, and queries for
// gradients.
struct TileRates {
    double block = 0.0, extra = 0.0;
};

// By the columns of a class and the pass, such as "64_forward".
using AttentionRates = std::map<std::string, TileRates>;

// All names that rates may have.
std::vector<std::string> names_of_attention_rates();

// The expected time in microseconds, where a kernel takes `start` without its tiles. Nothing for problems that are not
// is_fast_and_plain(), since it is not known how many blocks their tiles have, and where rates lack the class and pass.
std::optional<double> attention_cost(AttentionKernelProblem const& problem, AttentionRates const& rates, double start,
                                     int multiprocessors);

}  // namespace cudnn_frontend::kernels
