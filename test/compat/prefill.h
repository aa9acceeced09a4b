// Prefill attention that the programs of this folder plan twice: by cuDNN's engines, and by others.
#pragma once

#include "host_attention.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace compat {

namespace fe = cudnn_frontend;
using Element = __nv_bfloat16;
using Sizes = std::vector<std::int64_t>;

enum class Memory { HeadsOutside, TokensOutside };  // [batch, heads, tokens, dim] and [batch, tokens, heads, dim]

struct Prefill {
    std::int64_t batch = 2, heads = 8, kv_heads = 2, tokens = 192, size = 128;
    Memory memory = Memory::HeadsOutside;

    enum Uid { Q, K, V, O, Stats, Uids };
    static constexpr float kScale = 0.09f;

    Sizes dim(int uid) const {
        bool const is_of_keys = uid == K || uid == V;
        return {batch, is_of_keys ? kv_heads : heads, tokens, uid == Stats ? 1 : size};
    }
    Sizes stride(int uid) const {
        Sizes const d = dim(uid);
        if (uid == Stats || memory == Memory::HeadsOutside) return {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
        return {d[1] * d[2] * d[3], d[3], d[1] * d[3], 1};
    }
    std::size_t count(int uid) const {
        Sizes const d = dim(uid);
        return std::size_t(d[0] * d[1] * d[2] * d[3]);
    }
    View<Element> view(std::vector<Element>& values, int uid) const { return {values.data(), dim(uid), stride(uid)}; }

    void describe(fe::graph::Graph& graph) const {
        graph.set_io_data_type(fe::DataType_t::BFLOAT16)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        auto input = [&](Uid uid) {
            return graph.tensor(fe::graph::Tensor_attributes().set_uid(uid).set_dim(dim(uid)).set_stride(stride(uid)));
        };
        auto options = fe::graph::SDPA_attributes().set_name("prefill").set_attn_scale(kScale);
        options.set_generate_stats(true).set_causal_mask(true);
        auto [o, stats] = graph.sdpa(input(Q), input(K), input(V), options);
        o->set_output(true).set_uid(O).set_dim(dim(O)).set_stride(stride(O));
        stats->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_uid(Stats);
        stats->set_dim(dim(Stats)).set_stride(stride(Stats));
    }
};

// The plan's name; empty where no engine of the mode runs the graph, which only a GPU other than Hopper excuses.
inline std::string build(Machine const& machine, fe::graph::Graph& graph, fe::HeurMode_t mode) {
    machine.prepare(graph);
    auto const built = graph.build(machine.handle(), {mode});
    std::string name;
    if (built.is_good()) EXPECT(graph.get_plan_name(name).is_good());
    else std::puts(built.get_message().c_str());
    EXPECT(built.is_good() || (machine.has_gpu() && built.get_message().find("kernels.c03") != std::string::npos));
    return name;
}

// Memory of one prefill. Both engines read the same Q, K and V.
struct PrefillMemory {
    struct Results {
        Mirror<Element> o;
        Mirror<float> stats;
    };

    std::vector<Element> q, k, v;
    Mirror<Element> device_q, device_k, device_v;
    Results of_cudnn, of_others;

    PrefillMemory(Machine const& machine, Prefill const& prefill)
        : q(random_values<Element>(prefill.count(Prefill::Q), 1)),
          k(random_values<Element>(prefill.count(Prefill::K), 2)),
          v(random_values<Element>(prefill.count(Prefill::V), 3)),
          device_q(machine, q),
          device_k(machine, k),
          device_v(machine, v),
          of_cudnn(new_results(machine, prefill)),
          of_others(new_results(machine, prefill)) {}

    std::unordered_map<std::int64_t, void*> pack(Results const& results) const {
        return {{Prefill::Q, device_q.data()},
                {Prefill::K, device_k.data()},
                {Prefill::V, device_v.data()},
                {Prefill::O, results.o.data()},
                {Prefill::Stats, results.stats.data()}};
    }

    // Compares both results of a prefill in this memory with the loops' and with each other.
    void compare(Prefill const& prefill) {
        EXPECT(cudaDeviceSynchronize() == cudaSuccess);
        auto const Q = prefill.view(q, Prefill::Q), K = prefill.view(k, Prefill::K), V = prefill.view(v, Prefill::V);
        std::vector<Element> o[2] = {of_cudnn.o.read(), of_others.o.read()};
        std::vector<float> stats[2] = {of_cudnn.stats.read(), of_others.stats.read()};
        for (int i = 0; i < 2; ++i)
            EXPECT(is_attention(Q, K, V, prefill.view(o[i], Prefill::O), Prefill::kScale, causal, stats[i]));
        bool are_equal = true;
        for (std::size_t i = 0; i < o[0].size(); ++i) are_equal &= is_near(float(o[0][i]), float(o[1][i]));
        EXPECT(are_equal);
    }

   private:
    static Results new_results(Machine const& machine, Prefill const& prefill) {
        return {{machine, std::vector<Element>(prefill.count(Prefill::O), Element(0.0f))},
                {machine, std::vector<float>(prefill.count(Prefill::Stats))}};
    }
};

}  // namespace compat
