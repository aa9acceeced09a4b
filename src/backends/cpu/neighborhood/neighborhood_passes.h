// The six functions of neighborhood attention are made of these passes.
#pragma once

#include "cpu/neighborhood/neighborhood_attention.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// A pass runs on threads in a workspace; the function with _bytes in its name returns the workspace's size.

// neighborhood_forward.cpp
std::int64_t forward_bytes(NeighborhoodProblem const& problem, int threads);
void run_forward(NeighborhoodProblem const& problem, int threads, void* workspace);

// neighborhood_backward.cpp
std::int64_t backward_bytes(NeighborhoodProblem const& problem, int threads);
void run_backward(NeighborhoodProblem const& problem, int threads, void* workspace);

// neighborhood_slots.cpp. A row of slots is a query's.
struct SlotPass {
    NeighborhoodProblem const& problem;
    TokenView slots, queries, keys;
};

// slots = <queries, keys> + bias, and `empty` where a slot has no key.
void dot_pairs(SlotPass const& pass, TokenView const& bias, float empty, int threads, void* workspace);
// queries = sum of slots * keys
void sum_over_keys(SlotPass const& pass, int threads, void* workspace);
// keys = sum of slots * queries
void sum_over_queries(SlotPass const& pass, int threads, void* workspace);
// d_bias = sums of slots over the pairs of a distance
void sum_over_pairs(SlotPass const& pass, int threads, void* workspace);
std::int64_t slot_bytes(NeighborhoodProblem const& problem, int threads);

}  // namespace cudnn_frontend::cpu
