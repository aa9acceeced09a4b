// Every mask, drawn from computed probabilities: with V = identity, O is the probabilities.
//   ./run sample 02_masks [--target cpu|reference|cuda]
#include "picture.h"
#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;
using Half = fe::float16;
using Halves = std::vector<Half>;
using Options = fe::graph::SDPA_attributes;

namespace {

constexpr Index kHeads = 8, kQueries = 10, kKeys = 16, kDepth = 8;
constexpr Index kLengthQ = 7, kLengthKv = 11;  // for the masks with padding
constexpr Index kShift = kKeys - kQueries, kPaddedShift = kLengthKv - kLengthQ;
constexpr float kScale = 0.1f;  // scores close to each other, so that the shades show the mask

samples::Layout const kLayoutQ = samples::bhsd(1, kHeads, kQueries, kDepth);
samples::Layout const kLayoutK = samples::bhsd(1, kHeads, kKeys, kDepth);
samples::Layout const kLayoutV = samples::bhsd(1, 1, kKeys, kKeys);  // one head, which all query heads share
samples::Layout const kLayoutO = samples::bhsd(1, kHeads, kQueries, kKeys);
samples::Layout const kLength = samples::bhsd(1, 1, 1, 1);

enum Uid : Index { Q, K, V, O, SeqLenQ, SeqLenKv, Bias };

struct Inputs {
    samples::Tensor seq_len_q, seq_len_kv, bias;
};
using In = Inputs const&;

struct Mask {
    char const* title;
    void (*set)(Options&, In);
    bool (*keeps)(Index i, Index j);
    bool alibi = false;
};

bool same_text(Index i, Index j) { return (i < 4) == (j < 6); }
bool within_lengths(Index i, Index j) { return i < kLengthQ && j < kLengthKv; }
void set_lengths(Options& o, In in) {
    o.set_padding_mask(true).set_seq_len_q(in.seq_len_q).set_seq_len_kv(in.seq_len_kv);
}

Mask const kMasks[] = {
    {"no mask", [](Options&, In) {}, [](Index, Index) { return true; }},
    {"causal", [](Options& o, In) { o.set_causal_mask(true); }, [](Index i, Index j) { return j <= i; }},
    {"causal, bottom r", [](Options& o, In) { o.set_causal_mask_bottom_right(true); },
     [](Index i, Index j) { return j <= i + kShift; }},
    {"right bound 3", [](Options& o, In) { o.set_diagonal_band_right_bound(3); },
     [](Index i, Index j) { return j <= i + 3; }},
    {"left bound 3", [](Options& o, In) { o.set_diagonal_band_left_bound(3); },
     [](Index i, Index j) { return j > i - 3; }},
    {"causal, window 4", [](Options& o, In) { o.set_causal_mask(true).set_sliding_window_length(4); },
     [](Index i, Index j) { return j <= i && j > i - 4; }},
    {"window, bottom r", [](Options& o, In) { o.set_causal_mask_bottom_right(true).set_sliding_window_length(4); },
     [](Index i, Index j) { return j <= i + kShift && j > i + kShift - 4; }},
    {"left 3, right 2", [](Options& o, In) { o.set_diagonal_band_left_bound(3).set_diagonal_band_right_bound(2); },
     [](Index i, Index j) { return j <= i + 2 && j > i - 3; }},
    {"padding 7 x 11", set_lengths, within_lengths},
    {"padded, bottom r", [](Options& o, In in) { set_lengths(o.set_causal_mask_bottom_right(true), in); },
     [](Index i, Index j) { return within_lengths(i, j) && j <= i + kPaddedShift; }},
    {"alibi, causal", [](Options& o, In) { o.set_alibi_mask(true).set_causal_mask(true); },
     [](Index i, Index j) { return j <= i; }, true},
    {"bias, 2 texts", [](Options& o, In in) { o.set_bias(in.bias); }, same_text},
};

void build(fe::graph::Graph& graph, Mask const& mask, fe::Target const& target) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const tensor = [&](char const* name, samples::Layout const& layout, Uid uid) {
        return graph.tensor(samples::describe(name, layout).set_uid(uid));
    };
    Inputs const inputs{tensor("seq_len_q", kLength, Uid::SeqLenQ), tensor("seq_len_kv", kLength, Uid::SeqLenKv),
                        tensor("bias", samples::bhsd(1, 1, kQueries, kKeys), Uid::Bias)};
    for (auto const& lengths : {inputs.seq_len_q, inputs.seq_len_kv}) lengths->set_data_type(fe::DataType_t::INT32);
    Options options;
    options.set_name("attention").set_attn_scale(kScale).set_generate_stats(false);
    mask.set(options, inputs);
    auto O = graph.sdpa(tensor("Q", kLayoutQ, Uid::Q), tensor("K", kLayoutK, Uid::K), tensor("V", kLayoutV, Uid::V),
                        options)[0];
    O->set_output(true).set_uid(Uid::O);
    samples::require(graph.build(target));
}

samples::Attention expected(Mask const& mask, Halves const& q, Halves const& k, Halves const& v) {
    auto const edit = [&mask](double score, Index, Index h, Index i, Index j) {
        double const slope = mask.alibi ? std::exp2(-1.0 - static_cast<double>(h)) : 0.0;
        return mask.keeps(i, j) ? score + slope * static_cast<double>(j - i) : -samples::kInfinity;
    };
    return samples::attention(view(kLayoutQ, q), view(kLayoutK, k), view(kLayoutV, v), kScale, edit);
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("02_masks: %d queries (rows) by %d keys, the first of %d heads, half, on target %s\n\n", int(kQueries),
                int(kKeys), int(kHeads), fe::to_string(target.kind()));
    auto q = samples::random<Half>(kLayoutQ.volume(), 1), k = samples::random<Half>(kLayoutK.volume(), 2);
    Halves v(kLayoutV.volume()), bias;
    for (Index j = 0; j < kKeys; ++j) v[static_cast<std::size_t>(kLayoutV.at(0, 0, j, j))] = Half(1.0f);
    for (Index n = 0; n < kQueries * kKeys; ++n)
        bias.push_back(Half(same_text(n / kKeys, n % kKeys) ? 0.0f : -std::numeric_limits<float>::infinity()));
    std::int32_t length_q = kLengthQ, length_kv = kLengthKv;
    // Entries that a graph does not need are ignored, so one map serves all masks.
    samples::Uid_pack pack{{Uid::Q, q.data()}, {Uid::K, k.data()}, {Uid::V, v.data()}, {Uid::Bias, bias.data()}};
    pack.insert({{Uid::SeqLenQ, &length_q}, {Uid::SeqLenKv, &length_kv}});

    std::vector<samples::Picture> pictures;
    std::vector<double> got, want;
    bool exact_zeros = true;
    for (Mask const& mask : kMasks) {
        fe::graph::Graph graph;
        build(graph, mask, target);
        Halves p(kLayoutO.volume());
        pack[Uid::O] = p.data();
        samples::run(target, graph, pack);
        auto const reference = expected(mask, q, k, v).o;
        for (std::size_t n = 0; n < p.size(); ++n)
            exact_zeros = exact_zeros && (static_cast<float>(p[n]) == 0.0f) == (reference[n] == 0.0);
        for (Half const share : p) got.push_back(static_cast<double>(static_cast<float>(share)));
        want.insert(want.end(), reference.begin(), reference.end());
        pictures.push_back({mask.title, kKeys, {p.begin(), p.begin() + kQueries * kKeys}});
    }
    draw(pictures, 4);
    samples::Checks checks;
    checks.compare("probabilities", got, want, samples::tolerance<Half>(kDepth + kKeys));
    checks.expect("masked probabilities are 0, all others are not", exact_zeros);
    return checks.exit_code();
}
