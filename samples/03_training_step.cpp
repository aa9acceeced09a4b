// Forward and backward as a training step uses them, the gradients checked against finite differences.
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;

namespace {

constexpr Index kBatch = 2, kHeads = 2, kRows = 9, kDepth = 8;
constexpr float kScale = 0.35f;
samples::Layout const kLayout = samples::bhsd(kBatch, kHeads, kRows, kDepth);
samples::Layout const kStatsLayout = samples::bhsd(kBatch, kHeads, kRows, 1);

enum Uid : Index { kQ = 1, kK, kV, kO, kStats, kDO, kDQ, kDK, kDV };

samples::Tensor input(fe::graph::Graph& graph, char const* name, samples::Layout const& layout, Uid uid) {
    return graph.tensor(samples::describe(name, layout).set_uid(uid));
}

void build_forward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::FLOAT);
    auto options = fe::graph::SDPA_attributes().set_name("forward").set_attn_scale(kScale).set_causal_mask(true);
    options.set_generate_stats(true);  // backward needs the log-sum-exp of each row
    auto [O, Stats] = graph.sdpa(input(graph, "Q", kLayout, kQ), input(graph, "K", kLayout, kK),
                                 input(graph, "V", kLayout, kV), options);
    O->set_output(true).set_uid(kO);
    Stats->set_output(true).set_uid(kStats);
    samples::require(graph.build(target));
}

void build_backward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::FLOAT);
    auto [dQ, dK, dV] = graph.sdpa_backward(
        input(graph, "Q", kLayout, kQ), input(graph, "K", kLayout, kK), input(graph, "V", kLayout, kV),
        input(graph, "O", kLayout, kO), input(graph, "dO", kLayout, kDO), input(graph, "Stats", kStatsLayout, kStats),
        fe::graph::SDPA_backward_attributes().set_name("backward").set_attn_scale(kScale).set_causal_mask(true));
    dQ->set_output(true).set_uid(kDQ);
    dK->set_output(true).set_uid(kDK);
    dV->set_output(true).set_uid(kDV);
    samples::require(graph.build(target));
}

// O should become the wanted output: the loss is half the squared distance, so that dO = O - wanted.
struct Model {
    fe::graph::Graph forward, backward;
    std::size_t size = kLayout.volume();
    std::vector<float> q = samples::random<float>(size, 1), k = samples::random<float>(size, 2),
                       v = samples::random<float>(size, 3), wanted = samples::random<float>(size, 4);
    std::vector<float> o = std::vector<float>(size), stats = std::vector<float>(kStatsLayout.volume());
    std::vector<float> dO = o, dQ = o, dK = o, dV = o;

    explicit Model(fe::Target const& target) {
        build_forward(forward, target);
        build_backward(backward, target);
    }
    samples::Uid_pack pack() {  // one map serves both graphs: each takes the uids that it knows
        return {{kQ, q.data()},   {kK, k.data()},   {kV, v.data()},   {kO, o.data()},  {kStats, stats.data()},
                {kDO, dO.data()}, {kDQ, dQ.data()}, {kDK, dK.data()}, {kDV, dV.data()}};
    }
    double loss() {
        samples::run(forward, pack());
        double sum = 0.0;
        for (std::size_t n = 0; n < size; ++n) {
            dO[n] = o[n] - wanted[n];
            sum += 0.5 * static_cast<double>(dO[n]) * static_cast<double>(dO[n]);
        }
        return sum;
    }
    void gradients() { samples::run(backward, pack()); }
};

// The slope of the loss along each element of x, measured to both sides.
std::vector<double> finite_differences(Model& model, std::vector<float>& x) {
    constexpr float kStep = 1.0f / 128.0f;
    std::vector<double> slopes;
    for (float& element : x) {
        float const middle = element;
        element = middle + kStep;
        double const above = model.loss();
        double const step_up = static_cast<double>(element - middle);
        element = middle - kStep;
        double const below = model.loss();
        slopes.push_back((above - below) / (step_up + static_cast<double>(middle - element)));
        element = middle;
    }
    return slopes;
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("03_training_step: b=%d h=%d s=%d d=%d, causal, float, on target %s\n", int(kBatch), int(kHeads),
                int(kRows), int(kDepth), fe::to_string(target.kind()));
    Model model(target);
    double const before = model.loss();
    model.gradients();
    auto const doubles = [](std::vector<float> const& x) { return std::vector<double>(x.begin(), x.end()); };

    samples::Checks checks;
    constexpr double kTolerance = 1e-3;  // what the step's curvature and float outputs leave
    checks.compare("dQ", doubles(model.dQ), finite_differences(model, model.q), kTolerance);
    checks.compare("dK", doubles(model.dK), finite_differences(model, model.k), kTolerance);
    checks.compare("dV", doubles(model.dV), finite_differences(model, model.v), kTolerance);

    constexpr float kRate = 0.25f;
    for (std::size_t n = 0; n < model.size; ++n) {
        model.q[n] -= kRate * model.dQ[n];
        model.k[n] -= kRate * model.dK[n];
        model.v[n] -= kRate * model.dV[n];
    }
    double const after = model.loss();
    std::printf("  loss %.4f before the step, %.4f after it\n", before, after);
    checks.expect("the step lowers the loss", after < before);
    return checks.exit_code();
}
