// Grouped-query attention (GQA) on packed QKV, one buffer as a fused projection writes it.
//   ./run sample 04_gqa_packed_qkv [--target cpu|reference|cuda]
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;

namespace {

constexpr Index kBatch = 2, kQueryHeads = 8, kKvHeads = 2, kRows = 65, kDepth = 32;
constexpr Index kRowWidth = (kQueryHeads + 2 * kKvHeads) * kDepth;  // elements of one row: all heads of Q, K and V
constexpr float kScale = 0.177f;

// buffer[batch][row][head][column]: heads of Q first, then those of K, then those of V.
samples::Layout packed(Index heads) {
    return {{kBatch, heads, kRows, kDepth}, {kRows * kRowWidth, kDepth, kRowWidth, 1}};
}
constexpr Index kOffsetK = kQueryHeads * kDepth, kOffsetV = (kQueryHeads + kKvHeads) * kDepth;

template <class T>
std::vector<T> copy_dense(samples::View<T> const& x) {
    std::vector<T> values;
    for (double const value : dense(x)) values.push_back(T(static_cast<float>(value)));
    return values;
}

// The same graph for any layout: only the strides differ.
std::vector<fe::float16> attend(fe::Target const& target, samples::View<fe::float16> const& q,
                                samples::View<fe::float16> const& k, samples::View<fe::float16> const& v,
                                samples::Layout const& out) {
    fe::graph::Graph graph;
    samples::set_types(graph, fe::DataType_t::HALF);
    auto Q = graph.tensor(samples::describe("Q", q.layout));
    auto K = graph.tensor(samples::describe("K", k.layout));
    auto V = graph.tensor(samples::describe("V", v.layout));
    auto options = fe::graph::SDPA_attributes().set_name("gqa").set_attn_scale(kScale).set_causal_mask(true);
    auto O = graph.sdpa(Q, K, V, options.set_generate_stats(false))[0];
    O->set_output(true).set_dim(out.dim).set_stride(out.stride);
    samples::require(graph.build(target));

    std::vector<fe::float16> o(out.volume());
    auto const address = [](samples::View<fe::float16> const& x) { return const_cast<fe::float16*>(x.data); };
    samples::run(target, graph, samples::Tensor_pack{{Q, address(q)}, {K, address(k)}, {V, address(v)}, {O, o.data()}});
    return o;
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("04_gqa_packed_qkv: b=%d s=%d d=%d, %d query heads on %d kv heads, causal, half, on target %s\n",
                int(kBatch), int(kRows), int(kDepth), int(kQueryHeads), int(kKvHeads), fe::to_string(target.kind()));

    // Three tensors in one buffer, each with its own first element and all with the buffer's strides.
    auto const qkv = samples::random<fe::float16>(static_cast<std::size_t>(kBatch * kRows * kRowWidth), 1);
    samples::View<fe::float16> const q{packed(kQueryHeads), qkv.data()};
    samples::View<fe::float16> const k{packed(kKvHeads), qkv.data() + kOffsetK};
    samples::View<fe::float16> const v{packed(kKvHeads), qkv.data() + kOffsetV};
    samples::Layout const out = samples::bshd(kBatch, kQueryHeads, kRows, kDepth);
    auto const o = attend(target, q, k, v, out);

    samples::Checks checks;
    checks.compare("O, packed", dense(view(out, o)), samples::attention(q, k, v, kScale, samples::causal).o,
                   samples::tolerance<fe::float16>(kRows + kDepth));

    // Three separate buffers give the same bits: a layout only changes where elements are.
    samples::Layout const q_layout = samples::bhsd(kBatch, kQueryHeads, kRows, kDepth);
    samples::Layout const kv_layout = samples::bhsd(kBatch, kKvHeads, kRows, kDepth);
    auto const own_q = copy_dense(q), own_k = copy_dense(k), own_v = copy_dense(v);
    auto const own_o = attend(target, view(q_layout, own_q), view(kv_layout, own_k), view(kv_layout, own_v), q_layout);
    checks.compare("O, separate buffers", dense(view(q_layout, own_o)), dense(view(out, o)), 0.0);
    return checks.exit_code();
}
