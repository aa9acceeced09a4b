// A training step: forward and backward, the gradients checked against finite differences.
//   ./run sample 03_training_step [--target cpu|reference|cuda]
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;
using Half = fe::float16;
using Halves = std::vector<Half>;

namespace {

constexpr Index kBatch = 2, kHeads = 2, kRows = 9, kDepth = 8;
constexpr float kScale = 0.35f;
samples::Layout const kLayout = samples::bhsd(kBatch, kHeads, kRows, kDepth);
samples::Layout const kStatsLayout = samples::bhsd(kBatch, kHeads, kRows, 1);

enum Uid : Index { Q = 1, K, V, O, Stats, DO, DQ, DK, DV };

samples::Tensor input(fe::graph::Graph& graph, char const* name, samples::Layout const& layout, Uid uid) {
    return graph.tensor(samples::describe(name, layout).set_uid(uid));
}

void build_forward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto options = fe::graph::SDPA_attributes().set_name("forward").set_attn_scale(kScale).set_causal_mask(true);
    options.set_generate_stats(true);  // backward needs the log-sum-exp of each row
    auto [O, Stats] = graph.sdpa(input(graph, "Q", kLayout, Uid::Q), input(graph, "K", kLayout, Uid::K),
                                 input(graph, "V", kLayout, Uid::V), options);
    O->set_output(true).set_uid(Uid::O);
    Stats->set_output(true).set_uid(Uid::Stats).set_data_type(fe::DataType_t::FLOAT);
    samples::require(graph.build(target));
}

void build_backward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const stats = input(graph, "Stats", kStatsLayout, Uid::Stats);
    stats->set_data_type(fe::DataType_t::FLOAT);
    auto [dQ, dK, dV] = graph.sdpa_backward(
        input(graph, "Q", kLayout, Uid::Q), input(graph, "K", kLayout, Uid::K), input(graph, "V", kLayout, Uid::V),
        input(graph, "O", kLayout, Uid::O), input(graph, "dO", kLayout, Uid::DO), stats,
        fe::graph::SDPA_backward_attributes().set_name("backward").set_attn_scale(kScale).set_causal_mask(true));
    dQ->set_output(true).set_uid(Uid::DQ);
    dK->set_output(true).set_uid(Uid::DK);
    dV->set_output(true).set_uid(Uid::DV);
    samples::require(graph.build(target));
}

// The loss is half the squared distance of O to a target, so that dO = O - wanted.
struct Model {
    fe::Target target;
    fe::graph::Graph forward, backward;
    std::size_t size = kLayout.volume();
    Halves q = samples::random<Half>(size, 1), k = samples::random<Half>(size, 2), v = samples::random<Half>(size, 3);
    Halves wanted = samples::random<Half>(size, 4), o = Halves(size), dO = o, dQ = o, dK = o, dV = o;
    std::vector<float> stats = std::vector<float>(kStatsLayout.volume());

    explicit Model(fe::Target const& where) : target(where) {
        build_forward(forward, target);
        build_backward(backward, target);
    }
    samples::Uid_pack pack() {  // one map serves both graphs: each uses its own uids
        return {{Uid::Q, q.data()},   {Uid::K, k.data()},         {Uid::V, v.data()},
                {Uid::O, o.data()},   {Uid::Stats, stats.data()}, {Uid::DO, dO.data()},
                {Uid::DQ, dQ.data()}, {Uid::DK, dK.data()},       {Uid::DV, dV.data()}};
    }
    double loss() {
        samples::run(target, forward, pack());
        double sum = 0.0;
        for (std::size_t n = 0; n < size; ++n) {
            float const distance = static_cast<float>(o[n]) - static_cast<float>(wanted[n]);
            dO[n] = Half(distance);
            sum += 0.5 * static_cast<double>(distance) * static_cast<double>(distance);
        }
        return sum;
    }
    void gradients() { samples::run(target, backward, pack()); }
    // The loss by the formula in double precision, accurate enough for finite differences.
    double exact_loss() const {
        auto const exact =
            samples::attention(view(kLayout, q), view(kLayout, k), view(kLayout, v), double{kScale}, samples::causal);
        auto const want = dense(view(kLayout, wanted));
        double sum = 0.0;
        for (std::size_t n = 0; n < size; ++n) sum += 0.5 * (exact.o[n] - want[n]) * (exact.o[n] - want[n]);
        return sum;
    }
};

// The derivative of the loss by each element of x, as central differences.
std::vector<double> finite_differences(Model& model, Halves& x) {
    constexpr float kStep = 1.0f / 128.0f;
    std::vector<double> slopes;
    for (Half& element : x) {
        Half const middle = element;
        auto const loss_at = [&](Half value) {
            element = value;
            return model.exact_loss();
        };
        Half const up(static_cast<float>(middle) + kStep), down(static_cast<float>(middle) - kStep);
        double const width = static_cast<double>(static_cast<float>(up) - static_cast<float>(down));
        slopes.push_back((loss_at(up) - loss_at(down)) / width);
        element = middle;
    }
    return slopes;
}

void step(Halves& x, Halves const& gradient) {
    constexpr float kRate = 0.25f;
    for (std::size_t n = 0; n < x.size(); ++n) {
        x[n] = Half(static_cast<float>(x[n]) - kRate * static_cast<float>(gradient[n]));
    }
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("03_training_step: b=%d h=%d s=%d d=%d, causal, half, on target %s\n", int(kBatch), int(kHeads),
                int(kRows), int(kDepth), fe::to_string(target.kind()));
    Model model(target);
    double const before = model.loss();
    model.gradients();

    samples::Checks checks;
    constexpr double kTolerance = 5e-3;  // for the step's truncation error, and for O, dO and the gradients in half
    checks.compare("dQ", dense(view(kLayout, model.dQ)), finite_differences(model, model.q), kTolerance);
    checks.compare("dK", dense(view(kLayout, model.dK)), finite_differences(model, model.k), kTolerance);
    checks.compare("dV", dense(view(kLayout, model.dV)), finite_differences(model, model.v), kTolerance);

    step(model.q, model.dQ);
    step(model.k, model.dK);
    step(model.v, model.dV);
    double const after = model.loss();
    std::printf("  loss %.4f before the step, %.4f after it\n", before, after);
    checks.expect("the step lowers the loss", after < before);
    return checks.exit_code();
}
