// An FP8 training step: forward in FP8_E4M3, the gradients in FP8_E5M2, whose range is larger.
// The magnitudes of the gradients are not known in advance: they come from the Amax outputs of the previous step.
//   ./run sample 26_fp8_backward [--target cpu|reference|cuda]
#include "fp8.h"

#include <array>

namespace fe = cudnn_frontend;
using samples::Index;
using E4m3 = fe::fp8_e4m3;
using E5m2 = fe::fp8_e5m2;
using Doubles = std::vector<double>;

namespace {

constexpr Index kHeads = 2, kRows = 64, kDepth = 128;  // Hopper's backward needs heads of 128
constexpr float kScale = 0.088388f;
samples::Layout const kLayout = samples::bshd(1, kHeads, kRows, kDepth), kOfStats = samples::bhsd(1, kHeads, kRows, 1);

enum Uid : Index { Q = 1, K, V, O, DO, Stats, DQ, DK, DV, Factors, Amaxes = Factors + 20 };
enum Factor { Qd, Kd, Vd, Od, DOd, Sd, DPd, Ss, Os, DQs, DKs, DVs, DPs };
enum Amax { OfS, OfO, OfDQ, OfDK, OfDV, OfDP };

struct Builder {
    fe::graph::Graph& graph;

    samples::Tensor tensor(char const* name, Uid uid, fe::DataType_t type = fe::DataType_t::FP8_E4M3) {
        return graph.tensor(samples::describe(name, kLayout).set_uid(uid).set_data_type(type));
    }
    samples::Tensor stats() {
        auto const described = samples::describe("Stats", kOfStats).set_uid(Uid::Stats);
        return graph.tensor(fe::graph::Tensor_attributes(described).set_data_type(fe::DataType_t::FLOAT));
    }
    samples::Tensor factor(Factor which) { return samples::one_float(graph, "factor", Uid::Factors + which); }
    void output(samples::Tensor const& tensor, Index uid, fe::DataType_t type) {
        tensor->set_output(true).set_uid(uid).set_data_type(type);
        if (type != fe::DataType_t::FLOAT) tensor->set_dim(kLayout.dim).set_stride(kLayout.stride);
    }
};

void build_forward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::FP8_E4M3);
    Builder at{graph};
    fe::graph::SDPA_fp8_attributes options;
    options.set_name("forward").set_attn_scale(kScale).set_causal_mask(true).set_generate_stats(true);
    auto [O, Stats, Amax_S, Amax_O] =
        graph.sdpa_fp8(at.tensor("Q", Uid::Q), at.tensor("K", Uid::K), at.tensor("V", Uid::V), at.factor(Factor::Qd),
                       at.factor(Factor::Kd), at.factor(Factor::Vd), at.factor(Factor::Sd), at.factor(Factor::Ss),
                       at.factor(Factor::Os), options);
    at.output(O, Uid::O, fe::DataType_t::FP8_E4M3);
    at.output(Stats, Uid::Stats, fe::DataType_t::FLOAT);
    at.output(Amax_S, Uid::Amaxes + Amax::OfS, fe::DataType_t::FLOAT);
    at.output(Amax_O, Uid::Amaxes + Amax::OfO, fe::DataType_t::FLOAT);
    samples::require(graph.build(target));
}

void build_backward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::FP8_E4M3);
    Builder at{graph};
    fe::graph::SDPA_fp8_backward_attributes options;
    options.set_name("backward").set_attn_scale(kScale).set_causal_mask(true);
    auto const outputs = graph.sdpa_fp8_backward(
        at.tensor("Q", Uid::Q), at.tensor("K", Uid::K), at.tensor("V", Uid::V), at.tensor("O", Uid::O),
        at.tensor("dO", Uid::DO, fe::DataType_t::FP8_E5M2), at.stats(), at.factor(Factor::Qd), at.factor(Factor::Kd),
        at.factor(Factor::Vd), at.factor(Factor::Od), at.factor(Factor::DOd), at.factor(Factor::Sd),
        at.factor(Factor::DPd), at.factor(Factor::Ss), at.factor(Factor::DQs), at.factor(Factor::DKs),
        at.factor(Factor::DVs), at.factor(Factor::DPs), options);
    for (Index i = 0; i < 3; ++i) at.output(outputs[std::size_t(i)], Uid::DQ + i, fe::DataType_t::FP8_E5M2);
    for (Index i = 3; i < 7; ++i)
        at.output(outputs[std::size_t(i)], Uid::Amaxes + Amax::OfDQ + i - 3, fe::DataType_t::FLOAT);
    samples::require(graph.build(target));
}

struct Gradients {
    Doubles dQ = Doubles(kLayout.volume()), dK = dQ, dV = dQ;
};

// The gradients of sum(O * dO) in double precision, from the elements of the 8-bit tensors.
Gradients expected(Doubles const& q, Doubles const& k, Doubles const& v, Doubles const& dO) {
    Gradients g;
    auto const at = [](Index h, Index i, Index d) { return std::size_t(kLayout.at(0, h, i, d)); };
    for (Index h = 0; h < kHeads; ++h)
        for (Index i = 0; i < kRows; ++i) {
            Doubles p(std::size_t(i) + 1), dp(p.size());
            for (Index j = 0; j <= i; ++j)
                for (Index d = 0; d < kDepth; ++d) {
                    p[std::size_t(j)] += double(kScale) * q[at(h, i, d)] * k[at(h, j, d)];
                    dp[std::size_t(j)] += dO[at(h, i, d)] * v[at(h, j, d)];
                }
            samples::softmax(p);
            double mean = 0.0;
            for (std::size_t j = 0; j < p.size(); ++j) mean += p[j] * dp[j];
            for (Index j = 0; j <= i; ++j) {
                double const weight = p[std::size_t(j)], ds = double(kScale) * weight * (dp[std::size_t(j)] - mean);
                for (Index d = 0; d < kDepth; ++d) {
                    g.dQ[at(h, i, d)] += ds * k[at(h, j, d)];
                    g.dK[at(h, j, d)] += ds * q[at(h, i, d)];
                    g.dV[at(h, j, d)] += weight * dO[at(h, i, d)];
                }
            }
        }
    return g;
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("26_fp8_backward: h=%d s=%d d=%d, causal, FP8_E4M3 and FP8_E5M2, on target %s\n", int(kHeads),
                int(kRows), int(kDepth), fe::to_string(target.kind()));
    fe::graph::Graph forward, backward;
    build_forward(forward, target);
    build_backward(backward, target);

    auto const random = [](unsigned seed) { return samples::random<float>(kLayout.volume(), seed); };
    auto q = samples::quantized<E4m3>(random(1)), k = samples::quantized<E4m3>(random(2));
    auto v = samples::quantized<E4m3>(random(3));
    auto dO = samples::quantized<E5m2>(random(4));
    std::vector<E4m3> o(kLayout.volume());
    std::vector<float> stats(kOfStats.volume());
    std::array<std::vector<E5m2>, 3> gradients;
    for (auto& gradient : gradients) gradient.resize(kLayout.volume());
    std::array<float, 6> amax{};

    fe::Fp8_amax_history of_o(fe::DataType_t::FP8_E4M3);
    std::array<fe::Fp8_amax_history, 4> histories{
        fe::Fp8_amax_history(fe::DataType_t::FP8_E5M2), fe::Fp8_amax_history(fe::DataType_t::FP8_E5M2),
        fe::Fp8_amax_history(fe::DataType_t::FP8_E5M2), fe::Fp8_amax_history(fe::DataType_t::FP8_E5M2)};
    fe::Fp8_scale const s = fe::fp8_scale(fe::DataType_t::FP8_E4M3, 1.0f);
    auto const want = expected(q.values(), k.values(), v.values(), dO.values());
    samples::Checks checks;
    for (int step = 0; step < 2; ++step) {
        fe::Fp8_scale const of[] = {histories[0].scale(), histories[1].scale(), histories[2].scale(),
                                    histories[3].scale()};
        fe::Fp8_scale const out = of_o.scale();
        std::array<float, 13> factors{q.factor.descale,  k.factor.descale, v.factor.descale, out.descale,
                                      dO.factor.descale, s.descale,        of[3].descale,    s.scale,
                                      out.scale,         of[0].scale,      of[1].scale,      of[2].scale,
                                      of[3].scale};
        samples::Uid_pack pack{{Uid::Q, q.data.data()}, {Uid::K, k.data.data()},   {Uid::V, v.data.data()},
                               {Uid::O, o.data()},      {Uid::DO, dO.data.data()}, {Uid::Stats, stats.data()}};
        for (std::size_t i = 0; i < 3; ++i) pack[Uid::DQ + Index(i)] = gradients[i].data();
        for (std::size_t i = 0; i < factors.size(); ++i) pack[Uid::Factors + Index(i)] = &factors[i];
        for (std::size_t i = 0; i < amax.size(); ++i) pack[Uid::Amaxes + Index(i)] = &amax[i];
        samples::run(target, forward, pack);
        samples::run(target, backward, pack);
        of_o.record(amax[Amax::OfO]);
        for (std::size_t i = 0; i < 4; ++i) histories[i].record(amax[Amax::OfDQ + i]);
        std::printf("  step %d: scale_dQ %g, scale_dP %g; Amax_dQ %.3f, Amax_dP %.4f\n", step, double(of[0].scale),
                    double(of[3].scale), double(amax[Amax::OfDQ]), double(amax[Amax::OfDP]));
        if (step == 0) continue;  // its scales were guesses
        // P, dS, O and the results are each off by up to half a step of their types.
        checks.compare("dQ", samples::rescaled(gradients[0], of[0].scale), want.dQ, 0.2);
        checks.compare("dK", samples::rescaled(gradients[1], of[1].scale), want.dK, 0.2);
        checks.compare("dV", samples::rescaled(gradients[2], of[2].scale), want.dV, 0.2);
    }
    return checks.exit_code();
}
