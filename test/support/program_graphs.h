// Graphs to which rewrites apply, small enough for the reference target and such that engines of cuDNN support them.
#pragma once

#include <cudnn_frontend/graph.h>

#include <cmath>
#include <map>
#include <memory>
#include <vector>

namespace test {

using cudnn_frontend::DataType_t;
using cudnn_frontend::graph::Graph;
using cudnn_frontend::graph::Tensor_attributes;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

// A graph, and memory of floats for its tensors from the first pack() on.
class ProgramGraph {
   public:
    explicit ProgramGraph(DataType_t type) {
        graph.set_io_data_type(type)
            .set_intermediate_data_type(DataType_t::FLOAT)
            .set_compute_data_type(DataType_t::FLOAT);
    }

    using Sizes = std::vector<std::int64_t>;

    // Row-major; `gap` elements follow each head.
    Tensor_ptr input(char const* name, Sizes const& dim, std::int64_t gap = 0) {
        std::int64_t const head = dim[2] * dim[3] + gap;
        Tensor_ptr tensor =
            graph.tensor(Tensor_attributes().set_name(name).set_dim(dim).set_stride({dim[1] * head, head, dim[3], 1}));
        bound_.push_back({tensor, dim[0] * dim[1] * head, false, {}});
        return tensor;
    }
    void output(Tensor_ptr const& tensor, Sizes const& dim) {
        tensor->set_output(true).set_dim(dim).set_stride({dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1});
        bound_.push_back({tensor, dim[0] * dim[1] * dim[2] * dim[3], true, {}});
    }

    // Call it after the build, which gives tensors their uids.
    std::map<std::int64_t, void*> pack() {
        std::map<std::int64_t, void*> all;
        float step = 0.0f;
        for (Bound& each : bound_) {
            step += 1.0f;
            if (each.memory.empty()) each.fill(step);
            all[each.tensor->get_uid()] = each.memory.data();
        }
        return all;
    }
    // A run's outputs, one after the other, which are emptied for the next run.
    std::vector<float> take_outputs() {
        std::vector<float> all;
        for (Bound& each : bound_) {
            if (!each.is_output) continue;
            all.insert(all.end(), each.memory.begin(), each.memory.end());
            each.memory.assign(each.memory.size(), -9.0f);
        }
        return all;
    }

    Graph graph;

   private:
    struct Bound {
        Tensor_ptr tensor;
        std::int64_t elements;
        bool is_output;
        std::vector<float> memory;

        void fill(float step) {
            memory.assign(static_cast<std::size_t>(elements), -9.0f);
            for (std::size_t i = 0; i < memory.size() && !is_output; ++i) {
                memory[i] = std::sin(step * static_cast<float>(i));
            }
        }
    };
    std::vector<Bound> bound_;
};

// 2 queries, with 4 heads for 2 heads of keys: few_queries(2) where there are 512 keys.
inline ProgramGraph few_queries_graph(DataType_t type = DataType_t::FLOAT, std::int64_t keys = 512,
                                      std::int64_t gap = 0) {
    ProgramGraph all(type);
    auto const q = all.input("Q", {1, 4, 2, 64}, gap);
    auto const k = all.input("K", {1, 2, keys, 64}, gap);
    auto const v = all.input("V", {1, 2, keys, 64}, gap);
    auto const options = cudnn_frontend::graph::SDPA_attributes().set_name("attention").set_generate_stats(true);
    auto const outputs = all.graph.sdpa(q, k, v, options);
    all.output(outputs[0], {1, 4, 2, 64});
    all.output(outputs[1], {1, 4, 2, 1});
    outputs[1]->set_data_type(DataType_t::FLOAT);
    return all;
}

// Backward of 2 entries with 4 heads for 2 heads of keys: 2, 4 or 8 slices, of which 8 sum up dK and dV.
inline ProgramGraph slices_graph(DataType_t type = DataType_t::FLOAT, std::int64_t gap = 0, std::int64_t length = 64) {
    ProgramGraph all(type);
    ProgramGraph::Sizes const of_queries = {2, 4, length, 64}, of_keys = {2, 2, length, 64};
    auto const q = all.input("Q", of_queries, gap);
    auto const k = all.input("K", of_keys, gap);
    auto const v = all.input("V", of_keys, gap);
    auto const o = all.input("O", of_queries, gap);
    auto const d_o = all.input("dO", of_queries, gap);
    auto const stats = all.input("Stats", {2, 4, length, 1});
    stats->set_data_type(DataType_t::FLOAT);
    auto const options =
        cudnn_frontend::graph::SDPA_backward_attributes().set_name("attention").set_deterministic_algorithm(true);
    auto const gradients = all.graph.sdpa_backward(q, k, v, o, d_o, stats, options);
    all.output(gradients[0], of_queries);
    all.output(gradients[1], of_keys);
    all.output(gradients[2], of_keys);
    return all;
}

// Backward of 4 entries with 16 heads and 2,048 tokens.
inline ProgramGraph backward_graph(std::int64_t columns, std::int64_t columns_of_v, bool is_deterministic = false,
                                   std::int64_t length = 2048) {
    ProgramGraph all(DataType_t::BFLOAT16);
    ProgramGraph::Sizes const wide = {4, 16, length, columns}, narrow = {4, 16, length, columns_of_v};
    auto const q = all.input("Q", wide), k = all.input("K", wide), v = all.input("V", narrow);
    auto const o = all.input("O", narrow), d_o = all.input("dO", narrow),
               stats = all.input("Stats", {4, 16, length, 1});
    stats->set_data_type(DataType_t::FLOAT);
    auto const options = cudnn_frontend::graph::SDPA_backward_attributes()
                             .set_name("attention")
                             .set_attn_scale(0.125f)
                             .set_deterministic_algorithm(is_deterministic);
    auto const gradients = all.graph.sdpa_backward(q, k, v, o, d_o, stats, options);
    all.output(gradients[0], wide);
    all.output(gradients[1], wide);
    all.output(gradients[2], narrow);
    return all;
}

}  // namespace test
