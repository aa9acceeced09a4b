// Soft-capped scores, cap tanh(score / cap), as in Gemma and Grok: a ready score modifier.
// Forward and backward, the gradients checked against finite differences.
//   ./run sample 23_softcap [--target cpu|reference|cuda]
#include <cudnn_frontend/score_modifiers.h>
#include "support.h"

namespace fe = cudnn_frontend;
namespace ready = cudnn_frontend::graph::attn::score_modifiers;
using samples::Index;
using Half = fe::float16;
using Halves = std::vector<Half>;

namespace {

constexpr Index kHeads = 2, kRows = 9, kDepth = 8;
constexpr float kScale = 1.5f, kCap = 2.0f;
samples::Layout const kLayout = samples::bhsd(1, kHeads, kRows, kDepth);
samples::Layout const kStatsLayout = samples::bhsd(1, kHeads, kRows, 1);

enum Uid : Index { Q = 1, K, V, O, Stats, DO, DQ, DK, DV };

samples::Tensor input(fe::graph::Graph& graph, char const* name, samples::Layout const& layout, Uid uid) {
    return graph.tensor(samples::describe(name, layout).set_uid(uid));
}

void describe_forward(fe::graph::Graph& graph) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto options = fe::graph::SDPA_attributes().set_name("forward").set_attn_scale(kScale).set_causal_mask(true);
    options.set_score_mod(ready::softcap(kCap).forward).set_generate_stats(true);
    auto [O, Stats] = graph.sdpa(input(graph, "Q", kLayout, Uid::Q), input(graph, "K", kLayout, Uid::K),
                                 input(graph, "V", kLayout, Uid::V), options);
    O->set_output(true).set_uid(Uid::O);
    Stats->set_output(true).set_uid(Uid::Stats).set_data_type(fe::DataType_t::FLOAT);
}

void describe_backward(fe::graph::Graph& graph) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const stats = input(graph, "Stats", kStatsLayout, Uid::Stats);
    stats->set_data_type(fe::DataType_t::FLOAT);
    auto const cap = ready::softcap(kCap);  // its backward uses a tensor that its forward made in the same graph
    auto options = fe::graph::SDPA_backward_attributes().set_name("backward").set_attn_scale(kScale);
    options.set_causal_mask(true).set_score_mod(cap.forward).set_score_mod_bprop(cap.backward);
    auto [dQ, dK, dV] = graph.sdpa_backward(input(graph, "Q", kLayout, Uid::Q), input(graph, "K", kLayout, Uid::K),
                                            input(graph, "V", kLayout, Uid::V), input(graph, "O", kLayout, Uid::O),
                                            input(graph, "dO", kLayout, Uid::DO), stats, options);
    dQ->set_output(true).set_uid(Uid::DQ);
    dK->set_output(true).set_uid(Uid::DK);
    dV->set_output(true).set_uid(Uid::DV);
}

double capped_causal(double score, Index, Index, Index i, Index j) {
    return j <= i ? kCap * std::tanh(score / kCap) : -samples::kInfinity;
}

std::vector<double> exact_output(Halves const& q, Halves const& k, Halves const& v) {
    return samples::attention(view(kLayout, q), view(kLayout, k), view(kLayout, v), double{kScale}, capped_causal).o;
}

// The derivative of sum(O dO) by each element of x, which is q, k or v.
std::vector<double> slopes(Halves& x, Halves const& q, Halves const& k, Halves const& v, Halves const& dO) {
    constexpr float kStep = 1.0f / 128.0f;
    auto const loss = [&] {
        auto const o = exact_output(q, k, v), weights = dense(view(kLayout, dO));
        double sum = 0.0;
        for (std::size_t n = 0; n < o.size(); ++n) sum += o[n] * weights[n];
        return sum;
    };
    std::vector<double> result;
    for (Half& element : x) {
        Half const middle = element;
        Half const up(static_cast<float>(middle) + kStep), down(static_cast<float>(middle) - kStep);
        element = up;
        double const above = loss();
        element = down;
        double const below = loss();
        element = middle;
        result.push_back((above - below) / static_cast<double>(static_cast<float>(up) - static_cast<float>(down)));
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("23_softcap: h=%d s=%d d=%d, causal, half, scores capped at %.1f, on target %s\n", int(kHeads),
                int(kRows), int(kDepth), double{kCap}, fe::to_string(target.kind()));
    std::size_t const size = kLayout.volume();
    Halves q = samples::random<Half>(size, 1), k = samples::random<Half>(size, 2), v = samples::random<Half>(size, 3);
    Halves dO = samples::random<Half>(size, 4), o(size), dQ(size), dK(size), dV(size);
    std::vector<float> stats(kStatsLayout.volume());
    samples::Uid_pack const pack = {{Uid::Q, q.data()},   {Uid::K, k.data()},   {Uid::V, v.data()},
                                    {Uid::O, o.data()},   {Uid::DO, dO.data()}, {Uid::Stats, stats.data()},
                                    {Uid::DQ, dQ.data()}, {Uid::DK, dK.data()}, {Uid::DV, dV.data()}};
    fe::graph::Graph forward, backward;
    describe_forward(forward);
    describe_backward(backward);
    for (fe::graph::Graph* const graph : {&forward, &backward}) {
        samples::require(graph->build(target));
        samples::run(target, *graph, pack);
    }

    samples::Checks checks;
    auto const want = exact_output(q, k, v);
    checks.compare("O", dense(view(kLayout, o)), want, samples::tolerance<Half>(kRows + kDepth));
    auto const uncapped =
        samples::attention(view(kLayout, q), view(kLayout, k), view(kLayout, v), double{kScale}, samples::causal);
    checks.expect("the cap changes the result", want != uncapped.o);
    constexpr double kTolerance = 1e-2;  // for the step's truncation error, and for O and the gradients in half
    checks.compare("dQ", dense(view(kLayout, dQ)), slopes(q, q, k, v, dO), kTolerance);
    checks.compare("dK", dense(view(kLayout, dK)), slopes(k, q, k, v, dO), kTolerance);
    checks.compare("dV", dense(view(kLayout, dV)), slopes(v, q, k, v, dO), kTolerance);
    return checks.exit_code();
}
