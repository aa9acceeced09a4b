// Block-scaled attention of bfloat16 results, for planning: nothing runs.
#pragma once

#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/graph.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace sdpa_test {

class BlockScaleGraph {
   public:
    using Dims = std::vector<std::int64_t>;

    static cudnn_frontend::graph::Graph forward(Dims const& dim, bool is_causal) {
        BlockScaleGraph in(dim);
        cudnn_frontend::graph::SDPA_fp8_attributes options;
        options.set_attn_scale(0.125f).set_generate_stats(true).set_causal_mask(is_causal);
        auto const results = in.graph_.sdpa_fp8(in.narrow(), in.narrow(), in.narrow(), in.scales(3), in.scales(3),
                                                in.scales(2), options);
        for (auto const& result : results) result->set_output(true);
        return in.graph_;
    }

    static cudnn_frontend::graph::Graph backward(Dims const& dim, bool is_causal) {
        BlockScaleGraph in(dim);
        cudnn_frontend::graph::SDPA_fp8_backward_attributes options;
        options.set_attn_scale(0.125f).set_causal_mask(is_causal);
        auto const stats = in.input({dim[0], dim[1], dim[2], 1}, DataType_t::FLOAT);
        auto const results =
            in.graph_.sdpa_fp8_backward(in.narrow(), in.narrow(), in.narrow(), in.narrow(), in.narrow(), in.wide(),
                                        in.wide(), in.narrow(), in.narrow(), stats, in.scales(3), in.scales(2),
                                        in.scales(3), in.scales(2), in.scales(3), in.scales(3), in.scales(2), options);
        for (auto const& result : results) result->set_output(true);
        return in.graph_;
    }

   private:
    using DataType_t = cudnn_frontend::DataType_t;
    using Tensor_attributes = cudnn_frontend::graph::Tensor_attributes;
    using TensorPtr = std::shared_ptr<Tensor_attributes>;

    explicit BlockScaleGraph(Dims const& dim) : dim_(dim) {
        graph_.set_io_data_type(DataType_t::BFLOAT16)
            .set_intermediate_data_type(DataType_t::FLOAT)
            .set_compute_data_type(DataType_t::FLOAT);
    }

    TensorPtr input(Dims const& dim, DataType_t type) {
        Dims const stride{dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
        return graph_.tensor(Tensor_attributes().set_dim(dim).set_stride(stride).set_data_type(type));
    }
    TensorPtr narrow() { return input(dim_, DataType_t::FP8_E4M3); }
    TensorPtr wide() { return input(dim_, DataType_t::BFLOAT16); }
    TensorPtr scales(int axis) {
        TensorPtr const tensor = input(cudnn_frontend::mxfp8_scale_dim(dim_, axis), DataType_t::FP8_E8M0);
        tensor->set_reordering_type(cudnn_frontend::TensorReordering_t::F8_128x4);
        return tensor;
    }

    Dims dim_;  // of Q, K, V and all results
    cudnn_frontend::graph::Graph graph_;
};

}  // namespace sdpa_test
