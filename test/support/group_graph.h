// A rank's part of an attention of a group: the graph, and memory for it with numbers that depend on the place of a
// token in the whole sequence alone.
#pragma once

#include <cudnn_frontend/graph.h>
#include <sdpa_graph/group.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <vector>

namespace test {

using cudnn_frontend::error_t;
using cudnn_frontend::Target;
using cudnn_frontend::graph::Graph;
using sdpa_graph::Group;
using sdpa_graph::Group_options;
using sdpa_graph::Layout;

struct WholeAttention {
    std::int64_t heads = 4, key_heads = 2, tokens = 24, columns = 8;
    bool is_causal = true, is_backward = false, has_alibi = false;
    std::int32_t length = 0;          // the tokens that are no padding; 0: all, without lengths
    std::int32_t length_of_keys = 0;  // of the keys, where it differs
    int window = 0;                   // the keys up to its own that a query sees; 0: all
};

class RankPart {
   public:
    enum Uid : std::int64_t { Q = 1, K, V, O, Stats, DO, DQ, DK, DV, LengthQ, LengthKv };
    using Tensor = std::shared_ptr<cudnn_frontend::graph::Tensor_attributes>;
    using Options = std::function<void(cudnn_frontend::graph::SDPA_attributes&)>;

    RankPart(WholeAttention const& whole, Layout const& layout, int rank, Options const& options = {})
        : whole_(whole), positions_(layout.positions_of(rank)) {
        using cudnn_frontend::DataType_t;
        graph.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
        graph.set_compute_data_type(DataType_t::FLOAT).set_name("part");
        if (whole.is_backward) add_backward();
        else add_forward(options);
    }

    error_t build(Group const& group, Layout const& layout, Group_options const& chosen = {}) {
        return graph.set_group(group, layout, chosen).build(Target::cpu(1));
    }

    error_t run() {
        std::map<std::int64_t, void*> pack;
        for (auto& [uid, numbers] : memory) pack[uid] = numbers.data();
        std::vector<double> workspace(static_cast<std::size_t>(graph.get_workspace_size()) / sizeof(double) + 1);
        return graph.execute(pack, workspace.data());
    }

    Tensor const& output_of_attention() const { return o_; }

    Graph graph;
    std::map<std::int64_t, std::vector<float>> memory;

   private:
    void declare(Tensor const& tensor, Uid uid, std::int64_t heads, std::int64_t columns) {
        auto const rows = static_cast<std::int64_t>(positions_.size());
        tensor->set_dim({1, heads, rows, columns}).set_stride({heads * rows * columns, rows * columns, columns, 1});
        tensor->set_uid(uid);
        for (std::int64_t head = 0; head < heads; ++head) {
            for (std::int64_t const position : positions_) {
                for (std::int64_t i = 0; i < columns; ++i) memory[uid].push_back(number(uid, head, position, i));
            }
        }
    }
    static float number(std::int64_t uid, std::int64_t head, std::int64_t position, std::int64_t column) {
        return static_cast<float>(std::sin(0.7 * static_cast<double>(uid * 911 + head * 131 + position * 17 + column)));
    }
    // A length, whose bits are in the memory of a float.
    Tensor length(Uid uid, std::int32_t tokens) {
        Tensor const tensor = graph.tensor(cudnn_frontend::graph::Tensor_attributes());
        tensor->set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_uid(uid);
        tensor->set_data_type(cudnn_frontend::DataType_t::INT32);
        memory[uid] = {std::bit_cast<float>(tokens)};
        return tensor;
    }
    template <class Attributes>
    void set_masks(Attributes& options) {
        options.set_causal_mask(whole_.is_causal).set_alibi_mask(whole_.has_alibi);
        if (whole_.window > 0) options.set_diagonal_band_left_bound(whole_.window);
        if (whole_.length == 0) return;
        std::int32_t const keys = whole_.length_of_keys > 0 ? whole_.length_of_keys : whole_.length;
        options.set_padding_mask(true);
        options.set_seq_len_q(length(LengthQ, whole_.length)).set_seq_len_kv(length(LengthKv, keys));
    }
    Tensor input(Uid uid, std::int64_t heads, std::int64_t columns) {
        Tensor const tensor = graph.tensor(cudnn_frontend::graph::Tensor_attributes());
        declare(tensor, uid, heads, columns);
        return tensor;
    }
    void output(Tensor const& tensor, Uid uid, std::int64_t heads, std::int64_t columns) {
        tensor->set_output(true);
        declare(tensor, uid, heads, columns);
    }

    void add_forward(Options const& set_options) {
        cudnn_frontend::graph::SDPA_attributes options;
        options.set_name("attention").set_attn_scale(0.5f).set_generate_stats(true);
        set_masks(options);
        if (set_options) set_options(options);
        auto const [o, stats] =
            graph.sdpa(input(Q, whole_.heads, whole_.columns), input(K, whole_.key_heads, whole_.columns),
                       input(V, whole_.key_heads, whole_.columns), options);
        output(o, O, whole_.heads, whole_.columns);
        o_ = o;
        if (stats) output(stats, Stats, whole_.heads, 1);
    }
    void add_backward() {
        cudnn_frontend::graph::SDPA_backward_attributes options;
        options.set_name("attention").set_attn_scale(0.5f);
        set_masks(options);
        auto const [d_q, d_k, d_v] =
            graph.sdpa_backward(input(Q, whole_.heads, whole_.columns), input(K, whole_.key_heads, whole_.columns),
                                input(V, whole_.key_heads, whole_.columns), input(O, whole_.heads, whole_.columns),
                                input(DO, whole_.heads, whole_.columns), input(Stats, whole_.heads, 1), options);
        output(d_q, DQ, whole_.heads, whole_.columns);
        output(d_k, DK, whole_.key_heads, whole_.columns);
        output(d_v, DV, whole_.key_heads, whole_.columns);
    }

    WholeAttention whole_;
    std::vector<std::int64_t> positions_;
    Tensor o_;
};

// Calls body(rank) for each rank, each in a thread of its own, and waits for all.
inline void on_all_ranks(int ranks, std::function<void(int rank)> const& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) threads.emplace_back([&body, rank] { body(rank); });
    for (std::thread& thread : threads) thread.join();
}

inline std::vector<Group> threads_group(int ranks, std::int64_t deadline_milliseconds = 60000) {
    std::vector<Group> members;
    static_cast<void>(Group::of_threads(ranks, {deadline_milliseconds}, members));
    return members;
}

}  // namespace test
