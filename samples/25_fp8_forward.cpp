// FP8 attention, forward: Q, K and V are scaled by their own amax, O by its amax in earlier steps.
// The host knows the elements of Q, K and V; when a kernel stores O, only those of earlier steps are known.
//   ./run sample 25_fp8_forward [--target cpu|reference|cuda]
#include "fp8.h"

namespace fe = cudnn_frontend;
using samples::Index;
using Fp8 = fe::fp8_e4m3;

namespace {

constexpr Index kHeads = 4, kKeyHeads = 2, kRows = 96, kDepth = 128;
constexpr float kScale = 0.088388f;  // 1 / sqrt(kDepth)
constexpr auto kType = fe::DataType_t::FP8_E4M3;
samples::Layout const kOfQueries = samples::bshd(1, kHeads, kRows, kDepth);
samples::Layout const kOfKeys = samples::bshd(1, kKeyHeads, kRows, kDepth);
samples::Layout const kOfStats = samples::bhsd(1, kHeads, kRows, 1);

enum Uid : Index { Q = 1, K, V, O, Stats, DescaleQ, DescaleK, DescaleV, DescaleS, ScaleS, ScaleO, AmaxS, AmaxO };

void build(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, kType);
    auto const tensor = [&](char const* name, samples::Layout const& layout, Uid uid) {
        return graph.tensor(samples::describe(name, layout).set_uid(uid).set_data_type(kType));
    };
    auto const factor = [&](char const* name, Uid uid) { return samples::one_float(graph, name, uid); };
    fe::graph::SDPA_fp8_attributes options;
    options.set_name("attention").set_attn_scale(kScale).set_causal_mask(true).set_generate_stats(true);
    auto [O, Stats, Amax_S, Amax_O] = graph.sdpa_fp8(
        tensor("Q", kOfQueries, Uid::Q), tensor("K", kOfKeys, Uid::K), tensor("V", kOfKeys, Uid::V),
        factor("descale_q", Uid::DescaleQ), factor("descale_k", Uid::DescaleK), factor("descale_v", Uid::DescaleV),
        factor("descale_s", Uid::DescaleS), factor("scale_s", Uid::ScaleS), factor("scale_o", Uid::ScaleO), options);
    O->set_output(true).set_uid(Uid::O).set_dim(kOfQueries.dim).set_stride(kOfQueries.stride).set_data_type(kType);
    Stats->set_output(true).set_uid(Uid::Stats);
    Amax_S->set_output(true).set_uid(Uid::AmaxS);
    Amax_O->set_output(true).set_uid(Uid::AmaxO);
    samples::require(graph.build(target));
}

// The numbers of one step; they grow from step to step, as they do in training.
struct Step {
    samples::Quantized<Fp8> q, k, v;
    std::vector<Fp8> o = std::vector<Fp8>(kOfQueries.volume());
    std::vector<float> stats = std::vector<float>(kOfStats.volume());
    float amax_s = 0.0f, amax_o = 0.0f;

    explicit Step(unsigned number) {
        auto const draw = [number](samples::Layout const& layout, unsigned seed) {
            auto numbers = samples::random<float>(layout.volume(), 10 * number + seed);
            for (float& x : numbers) x *= 0.02f * (1.0f + 0.2f * static_cast<float>(number));
            return samples::quantized<Fp8>(numbers);
        };
        q = draw(kOfQueries, 1), k = draw(kOfKeys, 2), v = draw(kOfKeys, 3);
    }

    void run(fe::Target const& target, fe::graph::Graph const& graph, fe::Fp8_scale of_s, fe::Fp8_scale of_o) {
        samples::run(target, graph,
                     samples::Uid_pack{{Uid::Q, q.data.data()},
                                       {Uid::K, k.data.data()},
                                       {Uid::V, v.data.data()},
                                       {Uid::O, o.data()},
                                       {Uid::Stats, stats.data()},
                                       {Uid::DescaleQ, &q.factor.descale},
                                       {Uid::DescaleK, &k.factor.descale},
                                       {Uid::DescaleV, &v.factor.descale},
                                       {Uid::DescaleS, &of_s.descale},
                                       {Uid::ScaleS, &of_s.scale},
                                       {Uid::ScaleO, &of_o.scale},
                                       {Uid::AmaxS, &amax_s},
                                       {Uid::AmaxO, &amax_o}});
    }

    // The result by the definition, from the elements of the 8-bit tensors.
    samples::Attention expected() const {
        double const scale = static_cast<double>(kScale * q.factor.descale * k.factor.descale);
        auto result = samples::attention(view(kOfQueries, q.data), view(kOfKeys, k.data), view(kOfKeys, v.data), scale,
                                         samples::causal);
        for (double& x : result.o) x *= static_cast<double>(v.factor.descale);
        return result;
    }

    std::vector<double> result(float scale) const {
        std::vector<double> numbers = samples::dense(view(kOfQueries, o));
        for (double& x : numbers) x /= static_cast<double>(scale);
        return numbers;
    }
};

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("25_fp8_forward: h=%d/%d s=%d d=%d, causal, FP8_E4M3, on target %s\n", int(kHeads), int(kKeyHeads),
                int(kRows), int(kDepth), fe::to_string(target.kind()));
    fe::graph::Graph graph;
    build(graph, target);
    fe::Fp8_scale const of_s = fe::fp8_scale(kType, 1.0f);  // a probability is 1 at most
    fe::Fp8_amax_history of_o(kType, 4, 1);                 // with a power of two to spare: the next may be larger
    // Half a step of the type for the probabilities, and half a step for O.
    constexpr double kTolerance = 2.0 / 16.0;

    samples::Checks checks;
    for (unsigned number = 0; number < 4; ++number) {
        Step step(number);
        fe::Fp8_scale const scale = of_o.scale();
        step.run(target, graph, of_s, scale);
        auto const want = step.expected();
        double const error = samples::worst_error(step.result(scale.scale), want.o);
        std::printf("  step %u: scale_o %6g, Amax_O %.4f, worst error of O %.1e\n", number, double(scale.scale),
                    double(step.amax_o), error);
        if (number > 0) checks.expect("O is as near as 8 bits allow", error <= kTolerance);
        checks.compare("Stats", samples::dense(view(kOfStats, step.stats)), want.stats, 1e-3);
        float greatest = 0.0f;
        for (double const x : want.o) greatest = std::fmax(greatest, static_cast<float>(std::fabs(x)));
        checks.expect("Amax_O is the greatest magnitude of O", std::fabs(step.amax_o / greatest - 1.0f) < 0.07f);
        checks.expect("Amax_S is 1: the first query sees one key", std::fabs(step.amax_s - 1.0f) < 1e-3f);
        of_o.record(step.amax_o);
    }
    return checks.exit_code();
}
