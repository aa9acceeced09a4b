// The attention that samples 10 to 14 run: its graph, its data in GPU memory, and the expected result.
#pragma once

#include "support.h"

namespace samples {

class GpuProblem {
   public:
    using Type = fe::bfloat16;
    enum Uid : Index { Q = 1, K, V, O };

    explicit GpuProblem(unsigned seed) : GpuProblem(seed, layout_q().volume(), layout_kv().volume()) {}

    static void describe(fe::graph::Graph& graph) {
        set_types(graph, fe::DataType_t::BFLOAT16);
        auto const input = [&graph](char const* name, Layout const& layout, Uid uid) {
            return graph.tensor(samples::describe(name, layout).set_uid(uid));
        };
        auto options = fe::graph::SDPA_attributes().set_name("attention").set_attn_scale(kScale).set_causal_mask(true);
        auto const q = input("Q", layout_q(), Uid::Q), k = input("K", layout_kv(), Uid::K),
                   v = input("V", layout_kv(), Uid::V);
        auto const o = graph.sdpa(q, k, v, options.set_generate_stats(false))[0];
        o->set_output(true).set_uid(Uid::O).set_dim(layout_q().dim).set_stride(layout_q().stride);
    }

    Uid_pack pack() const {
        return {{Uid::Q, q_.data()}, {Uid::K, k_.data()}, {Uid::V, v_.data()}, {Uid::O, o_.data()}};
    }

    // O's elements; clears O for the next run.
    std::vector<double> take_result() {
        auto const o = o_.to_host();
        o_.clear();
        return dense(view(layout_q(), o));
    }
    std::vector<double> const& expected() const { return expected_; }
    static double limit() { return tolerance<Type>(kRows + kDepth); }

   private:
    static constexpr Index kBatch = 2, kHeads = 4, kKvHeads = 2, kRows = 128, kDepth = 64;
    static constexpr float kScale = 0.125f;
    static Layout layout_q() { return bshd(kBatch, kHeads, kRows, kDepth); }
    static Layout layout_kv() { return bshd(kBatch, kKvHeads, kRows, kDepth); }

    GpuProblem(unsigned seed, std::size_t q_size, std::size_t kv_size)
        : GpuProblem(random<Type>(q_size, seed), random<Type>(kv_size, seed + 1), random<Type>(kv_size, seed + 2)) {}
    GpuProblem(std::vector<Type> const& q, std::vector<Type> const& k, std::vector<Type> const& v)
        : q_(q), k_(k), v_(v), o_(q.size()) {
        o_.clear();
        auto const answer =
            attention(view(layout_q(), q), view(layout_kv(), k), view(layout_kv(), v), double{kScale}, causal);
        expected_ = answer.o;
    }

    GpuArray<Type> q_, k_, v_, o_;
    std::vector<double> expected_;
};

}  // namespace samples
