// Slice, reshape and transpose: attention from the output of a fused projection, {b, s, 3 * h * d}, to rows of all
// heads, {b, s, h * d}, in one graph. For targets whose engines do not support these nodes, strides do the same: see
// 04_gqa_packed_qkv.
//   ./run sample 27_moves [--target cpu|reference]
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;
using samples::Tensor;

namespace {

constexpr Index kBatch = 2, kRows = 33, kHeads = 4, kDepth = 16, kWidth = kHeads * kDepth;
constexpr float kScale = 0.25f;

enum Uid : Index { Projected, Result };

fe::graph::Tensor_attributes rows(char const* name, Index width, Uid uid) {
    return fe::graph::Tensor_attributes()
        .set_name(name)
        .set_dim({kBatch, kRows, width})
        .set_stride({kRows * width, width, 1})
        .set_uid(uid);
}

fe::graph::Transpose_attributes exchange_rows_and_heads() {
    return fe::graph::Transpose_attributes().set_permutation({0, 2, 1, 3});
}

// Q, K or V: a third of the columns, split into heads, heads before rows.
Tensor heads(fe::graph::Graph& graph, Tensor const& projected, Index which) {
    auto const columns = graph.slice(projected, fe::graph::Slice_attributes().set_slices(
                                                    {{0, kBatch}, {0, kRows}, {which * kWidth, (which + 1) * kWidth}}));
    auto const split = graph.reshape(columns, fe::graph::Reshape_attributes().set_dim({kBatch, kRows, kHeads, kDepth}));
    return graph.transpose(split, exchange_rows_and_heads());
}

void describe(fe::graph::Graph& graph) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const projected = graph.tensor(rows("projected", 3 * kWidth, Uid::Projected));
    auto options = fe::graph::SDPA_attributes().set_name("attention").set_attn_scale(kScale).set_causal_mask(true);
    Tensor const o = graph.sdpa(heads(graph, projected, 0), heads(graph, projected, 1), heads(graph, projected, 2),
                                options.set_generate_stats(false))[0];
    o->set_data_type(fe::DataType_t::HALF);
    // LOGICAL: the heads of a row are joined in order, whatever O's strides.
    auto const joined =
        fe::graph::Reshape_attributes().set_dim({kBatch, kRows, kWidth}).set_reshape_mode(fe::ReshapeMode_t::LOGICAL);
    graph.reshape(graph.transpose(o, exchange_rows_and_heads()), joined)->set_output(true).set_uid(Uid::Result);
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("27_moves: b=%d s=%d h=%d d=%d, causal, half, on target %s\n", int(kBatch), int(kRows), int(kHeads),
                int(kDepth), fe::to_string(target.kind()));
    fe::graph::Graph graph;
    describe(graph);
    samples::require(graph.build(target));
    auto projected = samples::random<fe::float16>(static_cast<std::size_t>(kBatch * kRows * 3 * kWidth), 1);
    std::vector<fe::float16> result(static_cast<std::size_t>(kBatch * kRows * kWidth));
    samples::run(target, graph, samples::Uid_pack{{Uid::Projected, projected.data()}, {Uid::Result, result.data()}});

    // The same elements, addressed by strides.
    samples::Layout const part{{kBatch, kHeads, kRows, kDepth}, {kRows * 3 * kWidth, kDepth, 3 * kWidth, 1}};
    auto const of = [&](Index which) { return samples::View<fe::float16>{part, projected.data() + which * kWidth}; };
    samples::Checks checks;
    checks.compare("O", dense(view(samples::bshd(kBatch, kHeads, kRows, kDepth), result)),
                   samples::attention(of(0), of(1), of(2), kScale, samples::causal).o,
                   samples::tolerance<fe::float16>(kRows + kDepth));
    return checks.exit_code();
}
