// Packed sequences of different lengths, with no padding between them: offsets say where each starts.
//   ./run sample 20_ragged_sequences [--target cpu|reference|cuda]
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;
using Half = fe::float16;
using Halves = std::vector<Half>;

namespace {

constexpr Index kHeads = 2, kDepth = 16;
constexpr float kScale = 0.25f;
std::vector<Index> const kLengths = {5, 0, 17, 9};  // one of them is empty
constexpr Index kBatch = 4, kLongest = 17, kTokens = 5 + 0 + 17 + 9;

enum Uid : Index { Q, K, V, O, Length, Offset };

// Tokens, heads, elements: the row of a token holds all heads. The batch's stride is ignored here.
samples::Layout const kPacked = {{kBatch, kHeads, kLongest, kDepth},
                                 {kTokens * kHeads * kDepth, kDepth, kHeads* kDepth, 1}};

void describe(fe::graph::Graph& graph) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const integers = [&graph](char const* name, Index count, Uid uid) {
        auto const layout = samples::bhsd(count, 1, 1, 1);
        return graph.tensor(samples::describe(name, layout).set_uid(uid).set_data_type(fe::DataType_t::INT32));
    };
    auto const length = integers("lengths", kBatch, Uid::Length), offset = integers("offsets", kBatch + 1, Uid::Offset);
    auto const packed = [&](char const* name, Uid uid) {
        return graph.tensor(samples::describe(name, kPacked).set_uid(uid).set_ragged_offset(offset));
    };
    fe::graph::SDPA_attributes options;
    options.set_name("attention").set_attn_scale(kScale).set_causal_mask(true).set_generate_stats(false);
    options.set_padding_mask(true).set_seq_len_q(length).set_seq_len_kv(length);
    auto const O = graph.sdpa(packed("Q", Uid::Q), packed("K", Uid::K), packed("V", Uid::V), options)[0];
    O->set_output(true).set_uid(Uid::O).set_dim(kPacked.dim).set_stride(kPacked.stride).set_ragged_offset(offset);
}

// One sequence by itself.
samples::View<Half> sequence(Halves const& data, Index start, Index length) {
    return {{{1, kHeads, length, kDepth}, {0, kDepth, kHeads * kDepth, 1}}, data.data() + start * kHeads * kDepth};
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("20_ragged_sequences: %d sequences, %d tokens, the longest has %d, causal, half, on target %s\n",
                int(kBatch), int(kTokens), int(kLongest), fe::to_string(target.kind()));
    constexpr std::size_t kElements = kTokens * kHeads * kDepth;
    Halves q = samples::random<Half>(kElements, 1), k = samples::random<Half>(kElements, 2);
    Halves v = samples::random<Half>(kElements, 3), o(kElements);
    std::vector<std::int32_t> lengths, offsets = {0};
    for (Index const length : kLengths) {
        lengths.push_back(static_cast<std::int32_t>(length));
        offsets.push_back(offsets.back() + static_cast<std::int32_t>(length * kHeads * kDepth));  // in elements
    }

    fe::graph::Graph graph;
    describe(graph);
    samples::require(graph.build(target));
    samples::Uid_pack const pack = {{Uid::Q, q.data()},
                                    {Uid::K, k.data()},
                                    {Uid::V, v.data()},
                                    {Uid::O, o.data()},
                                    {Uid::Length, lengths.data()},
                                    {Uid::Offset, offsets.data()}};
    samples::run(target, graph, pack);

    samples::Checks checks;
    Index start = 0;
    for (Index const length : kLengths) {
        auto const want = samples::attention(sequence(q, start, length), sequence(k, start, length),
                                             sequence(v, start, length), double{kScale}, samples::causal);
        std::printf("  %2d tokens from token %d\n", int(length), int(start));
        checks.compare("O", dense(sequence(o, start, length)), want.o, samples::tolerance<Half>(length + kDepth));
        start += length;
    }
    if (target.kind() == fe::Target::Kind::CUDA) return checks.exit_code();

    offsets[1] = -1;  // CPU targets check the offsets before they run
    std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    fe::error_t const refusal = graph.execute(pack, workspace.data());
    std::printf("\n%s\n\n", refusal.get_message().c_str());
    checks.expect("offsets that decrease are an error", refusal.is_bad());
    return checks.exit_code();
}
