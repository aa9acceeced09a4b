// Dropout: its mask depends on seed and offset alone, so that backward replays forward's.
//   ./run sample 05_dropout_replay [--target cpu|reference|cuda]
#include "picture.h"
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;

namespace {

constexpr Index kHeads = 2, kQueries = 24, kKeys = 40, kDepth = 16;
constexpr float kScale = 0.25f, kProbability = 0.3f;
samples::Layout const kLayoutQ = samples::bhsd(1, kHeads, kQueries, kDepth);
samples::Layout const kLayoutK = samples::bhsd(1, kHeads, kKeys, kDepth);
samples::Layout const kLayoutRow = samples::bhsd(1, kHeads, kQueries, 1);
samples::Layout const kLayoutMask = samples::bhsd(1, kHeads, kQueries, kKeys);
samples::Layout const kScalar = samples::bhsd(1, 1, 1, 1);

constexpr auto kFloat = fe::DataType_t::FLOAT;
using Half = fe::float16;
using Halves = std::vector<Half>;

constexpr std::int64_t kOffsetsOfRun = 32 * kHeads;  // a GPU's generator consumes this many for one batch entry

enum Uid : Index { Q, K, V, O, Stats, DO, DQ, DK, DV, Seed, Offset, Dump, Mask, MaskScale };

struct Data {
    std::size_t q_size = kLayoutQ.volume(), k_size = kLayoutK.volume();
    Halves q = samples::random<Half>(q_size, 1), k = samples::random<Half>(k_size, 2);
    Halves v = samples::random<Half>(k_size, 3), dO = samples::random<Half>(q_size, 4);
    Halves o = q, dQ = q, dK = k, dV = k, mask = Halves(kLayoutMask.volume());
    std::vector<float> stats = std::vector<float>(kLayoutRow.volume()), dump = std::vector<float>(mask.size());
    std::int64_t seed = 2024, offset = 7;
    float mask_scale = 1.0f / (1.0f - kProbability);

    samples::Uid_pack pack() {
        return {{Uid::Q, q.data()},       {Uid::K, k.data()},           {Uid::V, v.data()},
                {Uid::O, o.data()},       {Uid::Stats, stats.data()},   {Uid::DO, dO.data()},
                {Uid::DQ, dQ.data()},     {Uid::DK, dK.data()},         {Uid::DV, dV.data()},
                {Uid::Seed, &seed},       {Uid::Offset, &offset},       {Uid::Dump, dump.data()},
                {Uid::Mask, mask.data()}, {Uid::MaskScale, &mask_scale}};
    }
};

struct Program : fe::graph::Graph {
    Program() { samples::set_types(*this, fe::DataType_t::HALF); }
    samples::Tensor input(char const* name, samples::Layout const& layout, Uid uid,
                          fe::DataType_t type = fe::DataType_t::HALF) {
        return tensor(samples::describe(name, layout).set_uid(uid).set_data_type(type));
    }
    // The options of generated dropout; the dump receives 1 where a probability was kept.
    template <class Options>
    Options with_generator(Options options) {
        options.set_dropout(kProbability, input("seed", kScalar, Uid::Seed, fe::DataType_t::INT64),
                            input("offset", kScalar, Uid::Offset, fe::DataType_t::INT64));
        return options.set_rng_dump(input("dump", kLayoutMask, Uid::Dump, kFloat));
    }
};

void build_forward(Program& graph, fe::Target const& target, bool generated) {
    auto options = fe::graph::SDPA_attributes().set_name("forward").set_attn_scale(kScale).set_generate_stats(true);
    if (generated) {
        options = graph.with_generator(options);
    } else {
        options.set_dropout(graph.input("mask", kLayoutMask, Uid::Mask),
                            graph.input("scale", kScalar, Uid::MaskScale, kFloat));
    }
    auto [O, Stats] = graph.sdpa(graph.input("Q", kLayoutQ, Uid::Q), graph.input("K", kLayoutK, Uid::K),
                                 graph.input("V", kLayoutK, Uid::V), options);
    O->set_output(true).set_uid(Uid::O);
    Stats->set_output(true).set_uid(Uid::Stats).set_data_type(kFloat);
    samples::require(graph.build(target));
}

void build_backward(Program& graph, fe::Target const& target) {
    auto gradients = graph.sdpa_backward(
        graph.input("Q", kLayoutQ, Uid::Q), graph.input("K", kLayoutK, Uid::K), graph.input("V", kLayoutK, Uid::V),
        graph.input("O", kLayoutQ, Uid::O), graph.input("dO", kLayoutQ, Uid::DO),
        graph.input("Stats", kLayoutRow, Uid::Stats, kFloat),
        graph.with_generator(fe::graph::SDPA_backward_attributes().set_name("backward").set_attn_scale(kScale)));
    for (int n = 0; n < 3; ++n) gradients[static_cast<std::size_t>(n)]->set_output(true).set_uid(Uid::DQ + n);
    samples::require(graph.build(target));
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("05_dropout_replay: h=%d s_q=%d s_kv=%d d=%d, p=0.3, half, on target %s\n\n", int(kHeads),
                int(kQueries), int(kKeys), int(kDepth), fe::to_string(target.kind()));
    Data data;
    Program forward, backward, replay;
    build_forward(forward, target, true);
    build_backward(backward, target);
    build_forward(replay, target, false);
    samples::Checks checks;

    samples::run(target, forward, data.pack());
    auto const mask = data.dump;
    auto const o = dense(view(kLayoutQ, data.o));
    double kept = 0.0;
    for (float const x : mask) kept += static_cast<double>(x) / static_cast<double>(mask.size());
    samples::draw({{"the mask of head 1", kKeys, {mask.begin(), mask.begin() + 6 * kKeys}}}, 1);
    std::printf("  %.3f of the probabilities kept\n", kept);
    double const deviation = std::sqrt(0.7 * 0.3 / static_cast<double>(mask.size()));
    checks.expect("that is 1 - p, within four standard deviations", std::fabs(kept - 0.7) < 4 * deviation);

    auto const drop = [&](double p, Index b, Index h, Index i, Index j) {
        return p * static_cast<double>(view(kLayoutMask, mask)(b, h, i, j)) / (1.0 - static_cast<double>(kProbability));
    };
    auto const q = view(kLayoutQ, data.q), k = view(kLayoutK, data.k), v = view(kLayoutK, data.v);
    auto const want = samples::attention(q, k, v, kScale, {}, drop);
    double const tolerance = samples::tolerance<Half>(kKeys + kDepth);
    checks.compare("O with that mask", o, want.o, tolerance);

    samples::run(target, backward, data.pack());
    checks.expect("backward drops the same probabilities", data.dump == mask);

    data.offset += kOffsetsOfRun;
    samples::run(target, forward, data.pack());
    checks.expect("another offset gives another mask", data.dump != mask);
    data.offset -= kOffsetsOfRun;
    samples::run(target, forward, data.pack());
    checks.expect("the old offset gives the old mask and the same O to the bit",
                  data.dump == mask && dense(view(kLayoutQ, data.o)) == o);

    data.mask = Halves(mask.begin(), mask.end());
    samples::run(target, replay, data.pack());
    checks.compare("O, the mask given", dense(view(kLayoutQ, data.o)), want.o, tolerance);
    return checks.exit_code();
}
