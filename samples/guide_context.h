// The names that the code blocks of docs/guide.md use without declaring them.
#pragma once

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/neighborhood_picture.h>
#include <cudnn_frontend/process.h>
#include <cudnn_frontend/resized_plan.h>
#include <cudnn_frontend/score_modifiers.h>
#include <cudnn_frontend/verification.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

struct Context {
    fe::graph::Graph graph;
    fe::graph::SDPA_attributes options;
    fe::graph::SDPA_backward_attributes backward_options;
    Tensor Q, K, V, O, dO, Stats, bias, seq_len_q, seq_len_kv, seed, offset, mask, scale;
    std::vector<float> q, k, v, o, stats;
    std::vector<char> workspace;
    std::unordered_map<Tensor, void*> pack;
    std::string json;
    std::int64_t b = 2, h = 8, s = 128, d = 64;
    cudnnHandle_t handle = nullptr;
    CUgraph_st* cuda_graph = nullptr;
};

// References, so that a block may use some of the names and redeclare others.
#define SDPA_GUIDE_NAMES                                                                                             \
    [[maybe_unused]] auto& [graph, options, backward_options, Q, K, V, O, dO, Stats, bias, seq_len_q, seq_len_kv,    \
                            seed, offset, mask, scale, q, k, v, o, stats, workspace, pack, json, b, h, s, d, handle, \
                            cuda_graph] = context;
