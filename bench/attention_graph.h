// The attention graph of the benchmarks that build one and compute nothing: batch 4, 16 heads, 1024 rows of 64, causal.
#pragma once

#include <cudnn_frontend/graph.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace bench {

using Tensor = std::shared_ptr<cudnn_frontend::graph::Tensor_attributes>;

constexpr std::int64_t kBatch = 4, kHeads = 16, kLength = 1024, kWidth = 64;

inline void describe_forward(cudnn_frontend::graph::Graph& graph, std::array<Tensor, 3> const& qkv) {
    auto const options = cudnn_frontend::graph::SDPA_attributes().set_name("attention").set_generate_stats(true);
    auto const [o, stats] =
        graph.sdpa(qkv[0], qkv[1], qkv[2], cudnn_frontend::graph::SDPA_attributes(options).set_causal_mask(true));
    o->set_output(true).set_uid(4);
    stats->set_output(true).set_uid(5).set_data_type(cudnn_frontend::DataType_t::FLOAT);
}

inline void describe_backward(cudnn_frontend::graph::Graph& graph, std::array<Tensor, 3> const& qkv) {
    auto const like_q = [&](char const* name, std::int64_t uid) {
        auto tensor = graph.tensor_like(qkv[0], name);
        tensor->set_uid(uid);
        return tensor;
    };
    auto const o = like_q("O", 4), gradient = like_q("dO", 6);
    auto const stats = graph.tensor(cudnn_frontend::graph::Tensor_attributes()
                                        .set_name("Stats")
                                        .set_uid(5)
                                        .set_data_type(cudnn_frontend::DataType_t::FLOAT)
                                        .set_dim({kBatch, kHeads, kLength, 1})
                                        .set_stride({kHeads * kLength, kLength, 1, 1}));
    auto const options = cudnn_frontend::graph::SDPA_backward_attributes().set_name("attention").set_causal_mask(true);
    std::int64_t uid = 7;
    for (auto const& result : graph.sdpa_backward(qkv[0], qkv[1], qkv[2], o, gradient, stats, options)) {
        result->set_output(true).set_uid(uid++);
    }
}

inline void describe(cudnn_frontend::graph::Graph& graph, bool is_backward, std::string const& name) {
    graph.set_name(name).set_io_data_type(cudnn_frontend::DataType_t::BFLOAT16);
    graph.set_intermediate_data_type(cudnn_frontend::DataType_t::FLOAT)
        .set_compute_data_type(cudnn_frontend::DataType_t::FLOAT);
    std::array<Tensor, 3> qkv;
    for (std::size_t i = 0; i < qkv.size(); ++i) {
        qkv[i] = graph.tensor(cudnn_frontend::graph::Tensor_attributes()
                                  .set_name(std::string(1, "QKV"[i]))
                                  .set_uid(static_cast<std::int64_t>(i) + 1)
                                  .set_dim({kBatch, kHeads, kLength, kWidth})
                                  .set_stride({kHeads * kLength * kWidth, kLength * kWidth, kWidth, 1}));
    }
    if (is_backward) describe_backward(graph, qkv);
    else describe_forward(graph, qkv);
}

}  // namespace bench
