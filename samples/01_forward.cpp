// Forward attention: describe it, build it, run it, check it.
//   ./run sample 01_forward [--target cpu|reference|cuda]
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    Index const b = 2, h = 4, s = 128, d = 64;
    float const scale = 1.0f / std::sqrt(static_cast<float>(d));
    std::printf("01_forward: b=%d h=%d s=%d d=%d, bfloat16, on target %s\n", int(b), int(h), int(s), int(d),
                fe::to_string(target.kind()));

    // The graph: tensors are described, not allocated. A tensor without a data type gets the graph's default.
    fe::graph::Graph graph;
    graph.set_name("forward")
        .set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    auto const attributes = [&](char const* name) {
        return fe::graph::Tensor_attributes().set_name(name).set_dim({b, h, s, d}).set_stride({h * s * d, s * d, d, 1});
    };
    auto Q = graph.tensor(attributes("Q"));
    auto K = graph.tensor(attributes("K"));
    auto V = graph.tensor(attributes("V"));

    auto options = fe::graph::SDPA_attributes().set_name("attention").set_attn_scale(scale).set_generate_stats(true);
    auto [O, Stats] = graph.sdpa(Q, K, V, options);
    // O's dims and strides would be inferred from the inputs; here it gets BSHD strides instead.
    O->set_output(true).set_dim({b, h, s, d}).set_stride({s * h * d, d, h * d, 1});
    Stats->set_output(true).set_data_type(fe::DataType_t::FLOAT);

    samples::require(graph.build(target));

    // The caller owns all memory: one pointer for each tensor, and a workspace.
    samples::Layout const in = samples::bhsd(b, h, s, d), out = samples::bshd(b, h, s, d);
    auto q = samples::random<fe::bfloat16>(in.volume(), 1);
    auto k = samples::random<fe::bfloat16>(in.volume(), 2);
    auto v = samples::random<fe::bfloat16>(in.volume(), 3);
    std::vector<fe::bfloat16> o(out.volume());
    std::vector<float> stats(static_cast<std::size_t>(b * h * s));
    samples::Tensor_pack const pack = {
        {Q, q.data()}, {K, k.data()}, {V, v.data()}, {O, o.data()}, {Stats, stats.data()}};

    if (target.kind() == fe::Target::Kind::CUDA) {
        samples::run(target, graph, pack);  // copies to the GPU and back
    } else {
        std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
        samples::require(graph.execute(pack, workspace.data()));
    }

    auto const want = samples::attention(samples::view(in, q), samples::view(in, k), samples::view(in, v), scale);
    samples::Checks checks;
    checks.compare("O", dense(samples::view(out, o)), want.o, samples::tolerance<fe::bfloat16>(s + d));
    checks.compare("Stats", {stats.begin(), stats.end()}, want.stats, samples::tolerance<float>(s + d));
    return checks.exit_code();
}
