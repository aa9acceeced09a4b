// An attention sink: a learned logit for each head that takes weight from the keys and has no value.
// One training step of only the sinks, their gradient checked against finite differences.
//   ./run sample 22_attention_sink [--target cpu|reference|cuda]
#include "support.h"

#include <algorithm>

namespace fe = cudnn_frontend;
using samples::Index;
using Half = fe::float16;
using Halves = std::vector<Half>;
using Floats = std::vector<float>;

namespace {

constexpr Index kHeads = 4, kRows = 12, kDepth = 8;
constexpr float kScale = 0.35f;
samples::Layout const kLayout = samples::bhsd(1, kHeads, kRows, kDepth);
samples::Layout const kStatsLayout = samples::bhsd(1, kHeads, kRows, 1), kSinkLayout = samples::bhsd(1, kHeads, 1, 1);

enum Uid : Index { Q = 1, K, V, O, Stats, DO, DQ, DK, DV, Sink, DSink };

samples::Tensor tensor(fe::graph::Graph& graph, char const* name, samples::Layout const& layout, Uid uid,
                       fe::DataType_t type = fe::DataType_t::HALF) {
    return graph.tensor(samples::describe(name, layout).set_uid(uid).set_data_type(type));
}

void build_forward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::HALF);
    fe::graph::SDPA_attributes options;
    options.set_name("forward").set_attn_scale(kScale).set_causal_mask(true).set_generate_stats(true);
    options.set_sink_token(tensor(graph, "sink", kSinkLayout, Uid::Sink, fe::DataType_t::FLOAT));
    auto [O, Stats] = graph.sdpa(tensor(graph, "Q", kLayout, Uid::Q), tensor(graph, "K", kLayout, Uid::K),
                                 tensor(graph, "V", kLayout, Uid::V), options);
    O->set_output(true).set_uid(Uid::O);
    Stats->set_output(true).set_uid(Uid::Stats);
    samples::require(graph.build(target));
}

void build_backward(fe::graph::Graph& graph, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const gradient = tensor(graph, "dSink", kSinkLayout, Uid::DSink, fe::DataType_t::FLOAT);
    fe::graph::SDPA_backward_attributes options;
    options.set_name("backward").set_attn_scale(kScale).set_causal_mask(true).set_dsink_token(gradient);
    options.set_sink_token(tensor(graph, "sink", kSinkLayout, Uid::Sink, fe::DataType_t::FLOAT));
    auto const stats = tensor(graph, "Stats", kStatsLayout, Uid::Stats, fe::DataType_t::FLOAT);
    auto [dQ, dK, dV] = graph.sdpa_backward(tensor(graph, "Q", kLayout, Uid::Q), tensor(graph, "K", kLayout, Uid::K),
                                            tensor(graph, "V", kLayout, Uid::V), tensor(graph, "O", kLayout, Uid::O),
                                            tensor(graph, "dO", kLayout, Uid::DO), stats, options);
    gradient->set_output(true);
    dQ->set_output(true).set_uid(Uid::DQ);
    dK->set_output(true).set_uid(Uid::DK);
    dV->set_output(true).set_uid(Uid::DV);
    samples::require(graph.build(target));
}

// The loss is half the square of O, so that dO = O: the less weight the keys have, the better.
struct Model {
    fe::graph::Graph forward, backward;
    std::size_t size = kLayout.volume();
    Halves q = samples::random<Half>(size, 1), k = samples::random<Half>(size, 2), v = samples::random<Half>(size, 3);
    Halves o = Halves(size), dQ = o, dK = o, dV = o;
    Floats stats = Floats(kStatsLayout.volume()), sink = {-2.0f, 0.0f, 1.0f, 3.0f}, dSink = Floats(kHeads);

    samples::Uid_pack pack() {
        return {{Uid::Q, q.data()},         {Uid::K, k.data()},       {Uid::V, v.data()},        {Uid::O, o.data()},
                {Uid::Stats, stats.data()}, {Uid::DO, o.data()},      {Uid::DQ, dQ.data()},      {Uid::DK, dK.data()},
                {Uid::DV, dV.data()},       {Uid::Sink, sink.data()}, {Uid::DSink, dSink.data()}};
    }
    // The sink's share of a head's probabilities.
    double weight(std::size_t head) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < kRows; ++i) {
            sum += std::exp(static_cast<double>(sink[head] - stats[head * kRows + i]));
        }
        return sum / static_cast<double>(kRows);
    }
    // The definition of a sink is an additional key whose score is the sink and whose value is 0.
    samples::Attention expected() const {
        samples::Layout const longer = samples::bhsd(1, kHeads, kRows + 1, kDepth);
        Halves keys(longer.volume()), values(longer.volume());
        for (Index h = 0; h < kHeads; ++h) {
            std::copy_n(k.begin() + kLayout.at(0, h, 0, 0), kRows * kDepth, keys.begin() + longer.at(0, h, 0, 0));
            std::copy_n(v.begin() + kLayout.at(0, h, 0, 0), kRows * kDepth, values.begin() + longer.at(0, h, 0, 0));
        }
        auto const edit = [this](double score, Index b, Index h, Index i, Index j) {
            return j == kRows ? static_cast<double>(sink[static_cast<std::size_t>(h)])
                              : samples::causal(score, b, h, i, j);
        };
        return samples::attention(view(kLayout, q), view(longer, keys), view(longer, values), double{kScale}, edit);
    }
    double loss() const {
        double sum = 0.0;
        for (double const x : expected().o) sum += 0.5 * x * x;
        return sum;
    }
};

// The derivative of the loss by each sink, as central differences.
std::vector<double> finite_differences(Model model) {
    constexpr float kStep = 1.0f / 128.0f;
    std::vector<double> slopes;
    for (float& sink : model.sink) {
        sink += kStep;
        double const above = model.loss();
        sink -= 2.0f * kStep;
        slopes.push_back((above - model.loss()) / static_cast<double>(2.0f * kStep));
        sink += kStep;
    }
    return slopes;
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("22_attention_sink: h=%d s=%d d=%d, causal, half, on target %s\n", int(kHeads), int(kRows), int(kDepth),
                fe::to_string(target.kind()));
    Model model;
    build_forward(model.forward, target);
    build_backward(model.backward, target);
    samples::run(target, model.forward, model.pack());
    samples::run(target, model.backward, model.pack());

    samples::Checks checks;
    auto const want = model.expected();
    checks.compare("O", dense(view(kLayout, model.o)), want.o, samples::tolerance<Half>(kRows + kDepth));
    checks.compare("Stats", dense(view(kStatsLayout, model.stats)), want.stats, 1e-5);
    checks.compare("dSink", dense(view(kSinkLayout, model.dSink)), finite_differences(model), 5e-3);

    Model after = model;
    for (std::size_t h = 0; h < kHeads; ++h) after.sink[h] -= 0.5f * model.dSink[h];
    samples::run(target, after.forward, after.pack());
    for (std::size_t h = 0; h < kHeads; ++h) {
        std::printf("  head %d: the sink takes %4.1f %% of the weight, after the step %4.1f %%\n", int(h),
                    100.0 * model.weight(h), 100.0 * after.weight(h));
        checks.expect("the sink takes more weight after the step", after.weight(h) > model.weight(h));
    }
    checks.expect("the step lowers the loss", after.loss() < model.loss());
    return checks.exit_code();
}
