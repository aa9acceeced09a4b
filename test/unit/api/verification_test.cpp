// Graph::verify(): mistakes that are found and named, right results, and results that nothing explains.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/verification.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace cudnn_frontend;

namespace {

enum Uid : std::int64_t { Q = 1, K, V, Bias, LengthQ, LengthKv, Sink, O, Stats, DO, DQ, DK, DV };

using Tensor = std::shared_ptr<graph::Tensor_attributes>;

struct Sizes {
    std::int64_t b = 2, h = 4, h_k = 2, s_q = 24, s_kv = 24, d = 8;
};

// The tensors that options use.
struct Extras {
    Tensor bias, length_q, length_kv, sink;
};

class Attention {
   public:
    explicit Attention(Sizes const& sizes) : sizes_(sizes) {
        std::size_t seed = 1;
        for (Uid const uid : {Q, K, V, Bias, Sink, DO}) fill(uid, ++seed);
        for (Uid const uid : {O, Stats, DQ, DK, DV}) memory_[uid].assign(count(dim_of(uid)), -1.0f);
        for (std::int64_t b = 0; b < sizes.b; ++b) {
            lengths_[LengthQ].push_back(static_cast<std::int32_t>(sizes.s_q - b));
            lengths_[LengthKv].push_back(static_cast<std::int32_t>(sizes.s_kv - 2 - 5 * b));
        }
    }

    std::vector<float>& operator[](Uid uid) { return memory_[uid]; }
    std::vector<std::int32_t>& lengths(Uid uid) { return lengths_[uid]; }
    Sizes const& sizes() const { return sizes_; }

    template <class Options>
    graph::Graph forward(Options const& set) {
        graph::Graph made = empty_graph();
        Extras const extras = extras_of(made);
        auto attributes = graph::SDPA_attributes().set_name("attention").set_generate_stats(true);
        set(attributes, extras);
        auto [o, stats] = made.sdpa(tensor(made, Q), tensor(made, K), tensor(made, V), attributes);
        o->set_name("O").set_output(true).set_uid(O);
        stats->set_name("Stats").set_output(true).set_uid(Stats).set_data_type(DataType_t::FLOAT);
        build(made);
        return made;
    }

    template <class Options>
    graph::Graph backward(Options const& set) {
        graph::Graph made = empty_graph();
        Extras const extras = extras_of(made);
        auto attributes = graph::SDPA_backward_attributes().set_name("attention");
        set(attributes, extras);
        auto gradients = made.sdpa_backward(tensor(made, Q), tensor(made, K), tensor(made, V), tensor(made, O),
                                            tensor(made, DO), tensor(made, Stats), attributes);
        char const* const names[] = {"dQ", "dK", "dV"};
        for (std::size_t i = 0; i < 3; ++i)
            gradients[i]->set_name(names[i]).set_output(true).set_uid(DQ + static_cast<std::int64_t>(i));
        build(made);
        return made;
    }

    std::map<std::int64_t, void*> pack() {
        std::map<std::int64_t, void*> pointers;
        for (auto& [uid, numbers] : memory_) pointers[uid] = numbers.data();
        for (auto& [uid, numbers] : lengths_) pointers[uid] = numbers.data();
        return pointers;
    }

    void run(graph::Graph const& graph) {
        auto workspace = test::workspace_of(graph);
        REQUIRE(graph.execute(pack(), workspace.data()).get_message() == "");
    }

    Verification verify(graph::Graph const& graph, Verification_options const& options = {}) {
        Verification result;
        REQUIRE(graph.verify(pack(), options, result).get_message() == "");
        INFO(result.to_text());
        return result;
    }

    std::vector<std::int64_t> dim_of(Uid uid) const {
        Sizes const& s = sizes_;
        switch (uid) {
            case K:
            case V:
            case DK:
            case DV: return {s.b, s.h_k, s.s_kv, s.d};
            case Bias: return {1, s.h, s.s_q, s.s_kv};
            case Sink: return {1, s.h, 1, 1};
            case Stats: return {s.b, s.h, s.s_q, 1};
            case LengthQ:
            case LengthKv: return {s.b, 1, 1, 1};
            default: return {s.b, s.h, s.s_q, s.d};
        }
    }

   private:
    static std::size_t count(std::vector<std::int64_t> const& dim) {
        std::int64_t product = 1;
        for (std::int64_t const size : dim) product *= size;
        return static_cast<std::size_t>(product);
    }

    void fill(Uid uid, std::size_t seed) {
        std::vector<float> numbers(count(dim_of(uid)));
        std::uint64_t state = seed * 7919;
        for (float& number : numbers) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            number = static_cast<float>(static_cast<double>(state >> 40) * 0x1p-23 - 1.0);
        }
        memory_[uid] = std::move(numbers);
    }

    static graph::Graph empty_graph() {
        graph::Graph made;
        made.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
        made.set_compute_data_type(DataType_t::FLOAT);
        return made;
    }

    Tensor tensor(graph::Graph& made, Uid uid) const {
        std::vector<std::int64_t> const dim = dim_of(uid);
        std::vector<std::int64_t> const stride = {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
        bool const is_length = uid == LengthQ || uid == LengthKv;
        static std::map<Uid, char const*> const names = {{Q, "Q"},         {K, "K"},   {V, "V"},      {O, "O"},
                                                         {Stats, "Stats"}, {DO, "dO"}, {Bias, "bias"}};
        auto const name = names.find(uid);
        return made.tensor(graph::Tensor_attributes()
                               .set_name(name == names.end() ? "" : name->second)
                               .set_uid(uid)
                               .set_dim(dim)
                               .set_stride(stride)
                               .set_data_type(is_length ? DataType_t::INT32 : DataType_t::FLOAT));
    }

    Extras extras_of(graph::Graph& made) const {
        return {tensor(made, Bias), tensor(made, LengthQ), tensor(made, LengthKv), tensor(made, Sink)};
    }

    static void build(graph::Graph& made) { REQUIRE(made.build(Target::cpu()).get_message() == ""); }

    Sizes sizes_;
    std::map<std::int64_t, std::vector<float>> memory_;
    std::map<std::int64_t, std::vector<std::int32_t>> lengths_;
};

std::set<std::string> ids_of(Verification const& verification) {
    std::set<std::string> ids;
    for (Result_explanation const& each : verification.explanations()) ids.insert(each.id);
    return ids;
}

using Ids = std::set<std::string>;

// The explanations of results of the wrong options, where the right ones were meant.
template <class Right, class Wrong>
Ids forward_mistake(Sizes const& sizes, Right const& right, Wrong const& wrong) {
    Attention attention(sizes);
    attention.run(attention.forward(wrong));
    Verification const verification = attention.verify(attention.forward(right));
    CHECK_FALSE(verification.ok());
    return ids_of(verification);
}

template <class Right, class Wrong>
Ids backward_mistake(Sizes const& sizes, Right const& right, Wrong const& wrong) {
    Attention attention(sizes);
    attention.run(attention.forward(right));
    attention.run(attention.backward(wrong));
    Verification const verification = attention.verify(attention.backward(right));
    CHECK_FALSE(verification.ok());
    return ids_of(verification);
}

// Makes the mistake in forward and in backward, where the same has to be found.
template <class Right, class Wrong>
Ids mistake(Sizes const& sizes, Right const& right, Wrong const& wrong) {
    Ids const ids = forward_mistake(sizes, right, wrong);
    CHECK(backward_mistake(sizes, right, wrong) == ids);
    return ids;
}

auto const kPlain = [](auto& options, Extras const&) { options.set_attn_scale(0.35f); };
auto const kCausal = [](auto& options, Extras const&) {
    options.set_attn_scale(0.35f).set_diagonal_band_right_bound(0);
};
auto const kCausalAtEnd = [](auto& options, Extras const& extras) {
    kCausal(options, extras);
    options.set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT);
};
auto const kPadded = [](auto& options, Extras const& extras) {
    options.set_attn_scale(0.35f)
        .set_padding_mask(true)
        .set_seq_len_q(extras.length_q)
        .set_seq_len_kv(extras.length_kv);
};

template <int kLeft, int kRight = 0>
auto window() {
    return [](auto& options, Extras const&) {
        options.set_attn_scale(0.35f).set_diagonal_band_left_bound(kLeft).set_diagonal_band_right_bound(kRight);
    };
}

// Copies {B, H, S, D} to {B, S, H, D}.
std::vector<float> rows_first(std::vector<float> const& from, std::vector<std::int64_t> const& dim) {
    std::vector<float> to(from.size());
    std::size_t next = 0;
    for (std::int64_t b = 0; b < dim[0]; ++b)
        for (std::int64_t s = 0; s < dim[2]; ++s)
            for (std::int64_t h = 0; h < dim[1]; ++h)
                for (std::int64_t d = 0; d < dim[3]; ++d)
                    to[next++] = from[static_cast<std::size_t>(((b * dim[1] + h) * dim[2] + s) * dim[3] + d)];
    return to;
}

}  // namespace

TEST_CASE("Right results need no explanation") {
    Attention attention({});
    graph::Graph const forward = attention.forward(kCausal);
    attention.run(forward);
    Verification const verification = attention.verify(forward);
    CHECK(verification.ok());
    CHECK_FALSE(verification.is_sampled());
    CHECK(verification.explanations().empty());
    CHECK(verification.content().tried == 0);
    CHECK(verification.results().size() == 2);
    CHECK(verification.results()[0].elements == 2 * 4 * 24 * 8);
    CHECK(verification.to_text().find("right: ") != std::string::npos);

    graph::Graph const backward = attention.backward(kCausal);
    attention.run(backward);
    CHECK(attention.verify(backward).results().size() == 3);
    CHECK(attention.verify(backward).ok());
}

TEST_CASE("Gradients whose parts cancel are right") {
    auto const verified = [](Attention attention) {
        attention.run(attention.forward(kCausalAtEnd));
        graph::Graph const backward = attention.backward(kCausalAtEnd);
        attention.run(backward);
        return attention.verify(backward);
    };
    // One visible key: dO * V is the sum of dO * O, so that dQ and dK are 0.
    Verification const one_key = verified(Attention({.b = 2, .h = 4, .h_k = 1, .s_q = 257, .s_kv = 1}));
    CHECK(one_key.to_text().find("\nright: ") != std::string::npos);
    Verification const wide = verified(Attention({.b = 1, .h = 8, .h_k = 1, .s_q = 300, .s_kv = 1, .d = 128}));
    CHECK(wide.to_text().find("\nright: ") != std::string::npos);
    // The result is also right where all keys have the same values.
    Attention same({.s_q = 65, .s_kv = 65});
    std::vector<float>& values = same[V];
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = values[i / (65 * 8) * (65 * 8) + i % 8];
    CHECK(verified(same).to_text().find("\nright: ") != std::string::npos);
}

TEST_CASE("The worst element of a wrong result is named") {
    Attention attention({});
    graph::Graph const forward = attention.forward(kCausal);
    attention.run(forward);
    std::size_t const at = ((1 * 4 + 2) * 24 + 7) * 8 + 3;
    float const right = attention[O][at];
    attention[O][at] += 0.5f;
    Verification const verification = attention.verify(forward);
    Compared_result const& result = verification.results()[0];
    CHECK(result.wrong == 1);
    CHECK(result.worst_index == std::vector<std::int64_t>{1, 2, 7, 3});
    CHECK(result.first_wrong == result.last_wrong);
    CHECK(result.got == double{right + 0.5f});
    CHECK(std::abs(result.expected - double{right}) < 1e-5);
    CHECK(verification.explanations().empty());
    CHECK(verification.content().tried > 10);
    CHECK(verification.to_text().find("not explained: none of the ") != std::string::npos);
    CHECK(verification.to_json().find("\"worst_index\": [1, 2, 7, 3]") != std::string::npos);
}

TEST_CASE("Mistakes in masks are explained") {
    Sizes const uneven{.s_q = 20, .s_kv = 28};
    CHECK(mistake({}, kCausal, kPlain) == Ids{"mask_missing"});
    CHECK(mistake({}, kPlain, kCausal) == Ids{"causal_mask_added"});
    CHECK(mistake(uneven, kCausalAtEnd, kCausal) == Ids{"mask_corner"});
    CHECK(mistake(uneven, kCausal, kCausalAtEnd) == Ids{"mask_corner"});
    CHECK(mistake({}, window<6>(), window<7>()) == Ids{"window_off_by_one"});
    CHECK(mistake({}, window<6>(), window<5>()) == Ids{"window_off_by_one"});
    CHECK(mistake({}, window<6, 3>(), window<5, 4>()) == Ids{"mask_shifted"});
    CHECK(mistake({}, window<6, 3>(), window<6, 4>()) == Ids{"right_bound_off_by_one"});
    CHECK(mistake({}, window<6>(), kCausal) == Ids{"window_missing"});
    auto const one_more = [](auto& options, Extras const&) {
        options.set_attn_scale(0.35f).set_diagonal_band_right_bound(1);
    };
    CHECK(mistake({}, kCausal, one_more) == Ids{"mask_shifted"});
}

TEST_CASE("A mask that hides the diagonal is explained") {
    // Keys one position later under the causal mask: key j of the right graph is at j + 1.
    Attention attention({.h_k = 4});
    graph::Graph const forward = attention.forward(kCausal);
    Attention shifted = attention;
    auto const dim = attention.dim_of(K);
    for (Uid const uid : {K, V})
        for (std::int64_t bh = 0; bh < dim[0] * dim[1]; ++bh)
            for (std::int64_t s = dim[2] - 1; s >= 0; --s)
                for (std::int64_t d = 0; d < dim[3]; ++d) {
                    auto const to = static_cast<std::size_t>((bh * dim[2] + s) * dim[3] + d);
                    shifted[uid][to] =
                        s == 0 ? -100.0f * (uid == K) : attention[uid][to - static_cast<std::size_t>(dim[3])];
                }
    auto const band = [](auto& options, Extras const& extras) {
        kCausal(options, extras);
        options.set_bias(extras.bias);
    };
    // The key in front is hidden by the bias.
    for (std::size_t i = 0; i < shifted[Bias].size(); ++i) shifted[Bias][i] = i % 24 == 0 ? -INFINITY : 0.0f;
    shifted.run(shifted.forward(band));
    attention[O] = shifted[O];
    attention[Stats] = shifted[Stats];
    CHECK(ids_of(attention.verify(forward)) == Ids{"mask_shifted"});
}

TEST_CASE("Mistakes with lengths are explained") {
    auto const ignored = [](auto& options, Extras const& extras) { kPlain(options, extras); };
    CHECK(mistake({.b = 3}, kPadded, ignored) == Ids{"padding_ignored"});

    Attention attention({.b = 3});
    graph::Graph const forward = attention.forward(kPadded);
    attention.lengths(LengthKv) = {24, 20, 15};
    attention.run(forward);
    attention.lengths(LengthKv) = {24, 19, 14};
    CHECK(ids_of(attention.verify(forward)) == Ids{"lengths_off_by_one"});
    attention.lengths(LengthKv) = {21, 21, 21};
    attention.run(forward);
    attention.lengths(LengthKv) = {21, 19, 14};
    CHECK(ids_of(attention.verify(forward)) == Ids{"lengths_of_first"});
}

TEST_CASE("Mistakes with scores are explained") {
    auto const scaled = [](float scale) {
        return
            [scale](auto& options, Extras const&) { options.set_attn_scale(scale).set_diagonal_band_right_bound(0); };
    };
    CHECK(mistake({}, kCausal, scaled(1.0f)) == Ids{"scale_missing"});
    CHECK(mistake({.d = 16}, kCausal, scaled(0.25f)) == Ids{"scale_default"});
    CHECK(mistake({}, kCausal, scaled(0.35f * 0.35f)) == Ids{"scale_twice"});
    auto const biased = [](auto& options, Extras const& extras) {
        kPlain(options, extras);
        options.set_bias(extras.bias);
    };
    CHECK(mistake({}, biased, kPlain) == Ids{"bias_left_out"});
    auto const alibi = [](auto& options, Extras const& extras) {
        kCausal(options, extras);
        options.set_alibi_mask(true);
    };
    CHECK(mistake({}, alibi, kCausal) == Ids{"alibi_left_out"});
    auto const with_sink = [](auto& options, Extras const& extras) {
        kCausal(options, extras);
        options.set_sink_token(extras.sink);
    };
    CHECK(forward_mistake({}, with_sink, kCausal) == Ids{"sink_left_out"});
    auto const in_base_2 = [](auto& options, Extras const& extras) {
        kCausal(options, extras);
        options.set_stats_use_log2(true);
    };
    CHECK(mistake({}, kCausal, in_base_2) == Ids{"stats_base"});
    CHECK(forward_mistake({}, in_base_2, kCausal) == Ids{"stats_base"});
}

TEST_CASE("A softcap that is left out is explained") {
    auto const capped = [](auto& options, Extras const&) {
        options.set_attn_scale(2.0f).set_score_mod([](std::shared_ptr<graph::Graph> made, Tensor score) {
            auto const pointwise = [](PointwiseMode_t mode) {
                return graph::Pointwise_attributes().set_mode(mode).set_compute_data_type(DataType_t::FLOAT);
            };
            return made->pointwise(score, pointwise(PointwiseMode_t::TANH_FWD));
        });
    };
    auto const plain = [](auto& options, Extras const&) { options.set_attn_scale(2.0f); };
    CHECK(forward_mistake({}, capped, plain) == Ids{"modifier_left_out"});
}

TEST_CASE("Exchanged operands and heads are explained") {
    Attention attention({.h = 6, .h_k = 3});
    graph::Graph const forward = attention.forward(kCausal);
    std::swap(attention[K], attention[V]);
    attention.run(forward);
    std::swap(attention[K], attention[V]);
    CHECK(ids_of(attention.verify(forward)) == Ids{"k_and_v_swapped"});

    // Query head h is at the place that reads key head h % 3.
    graph::Graph const backward = attention.backward(kCausal);
    attention.run(forward);
    auto const order = [&](Uid uid, bool is_back) {
        std::vector<float> const old = attention[uid];
        std::size_t const size = old.size() / 12;
        for (std::size_t b = 0; b < 2; ++b)
            for (std::size_t h = 0; h < 6; ++h) {
                std::size_t const grouped = b * 6 + h % 3 * 2 + h / 3, plain = b * 6 + h;
                for (std::size_t i = 0; i < size; ++i)
                    attention[uid][(is_back ? plain : grouped) * size + i] =
                        old[(is_back ? grouped : plain) * size + i];
            }
    };
    for (Uid const uid : {Q, O, Stats, DO}) order(uid, false);
    attention.run(backward);
    for (Uid const uid : {Q, O, Stats, DO, DQ}) order(uid, true);
    CHECK(ids_of(attention.verify(backward)) == Ids{"heads_interleaved"});
    order(Q, false);
    attention.run(forward);
    for (Uid const uid : {Q, O, Stats}) order(uid, true);
    CHECK(ids_of(attention.verify(forward)) == Ids{"heads_interleaved"});
}

TEST_CASE("Layouts are explained") {
    Attention attention({});
    graph::Graph const forward = attention.forward(kCausal);
    attention.run(forward);
    attention[O] = rows_first(attention[O], attention.dim_of(O));
    Verification const written = attention.verify(forward);
    CHECK(ids_of(written) == Ids{"layout"});
    CHECK(written.explanations()[0].text.find("O is written with heads and rows exchanged: as {B, S, H, D}") == 0);

    std::vector<float> const keys = attention[K];
    attention.run(forward);
    attention[K] = rows_first(keys, attention.dim_of(K));
    CHECK(attention.verify(forward).explanations()[0].text.find("K is read with") == 0);
}

TEST_CASE("Mistakes of backward alone are explained") {
    Attention attention({.h_k = 4});
    attention.run(attention.forward(kCausal));
    graph::Graph const backward = attention.backward(kCausal);
    attention.run(backward);
    std::vector<float> const dk = attention[DK], dv = attention[DV];
    std::swap(attention[DK], attention[DV]);
    CHECK(ids_of(attention.verify(backward)) == Ids{"dk_and_dv_swapped"});
    attention[DK] = dk;
    attention[DV] = dv;
    for (Uid const uid : {DQ, DK})
        for (float& number : attention[uid]) number /= 0.35f;
    CHECK(ids_of(attention.verify(backward)) == Ids{"gradient_scale_missing"});

    std::vector<float> const o = attention[O];
    attention[O].assign(o.size(), 0.0f);
    attention.run(backward);
    attention[O] = o;
    CHECK(ids_of(attention.verify(backward)) == Ids{"delta_missing"});
}

TEST_CASE("Large graphs are compared in samples") {
    Sizes const sizes{.b = 2, .h = 4, .h_k = 2, .s_q = 300, .s_kv = 340, .d = 8};
    Verification_options const few{.most_scores = 100'000};
    auto const padded_window = [](auto& options, Extras const& extras) {
        kPadded(options, extras);
        options.set_diagonal_band_left_bound(50).set_diagonal_band_right_bound(7);
        options.set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT).set_alibi_mask(true).set_bias(extras.bias);
    };
    auto const other_window = [&](auto& options, Extras const& extras) {
        padded_window(options, extras);
        options.set_diagonal_band_left_bound(51);
    };
    auto const same_for = [&](auto const& right, auto const& wrong, Ids const& ids) {
        Attention attention(sizes);
        graph::Graph const forward = attention.forward(right), backward = attention.backward(right);
        attention.run(forward);
        attention.run(backward);
        Verification const good = attention.verify(forward, few), gradients = attention.verify(backward, few);
        CHECK(good.is_sampled());
        CHECK(good.ok());
        CHECK(good.results().size() == 2);
        CHECK(good.results()[0].elements > 1000);
        CHECK(gradients.ok());
        CHECK(gradients.results().size() == 3);
        attention.run(attention.backward(wrong));
        CHECK(ids_of(attention.verify(backward, few)) == ids);
        attention.run(attention.forward(wrong));
        CHECK(ids_of(attention.verify(forward, few)) == ids);
    };
    same_for(padded_window, other_window, {"window_off_by_one"});
    same_for(kCausalAtEnd, kCausal, {"mask_corner"});
    same_for(kPlain, kCausal, {"causal_mask_added"});
    same_for(window<200>(), kCausal, {"window_missing"});
}

TEST_CASE("A sample is taken where batch entries have rows and keys") {
    Attention attention({.b = 3, .s_q = 40, .s_kv = 40});
    graph::Graph const forward = attention.forward(kPadded);
    attention.lengths(LengthKv) = {0, 0, 30};
    attention.run(forward);
    Verification const one = attention.verify(forward, {.most_scores = 1000});
    CHECK(one.ok());
    CHECK(one.results()[0].elements > 0);
    attention.lengths(LengthKv) = {0, 0, 0};
    attention.run(forward);
    for (std::int64_t const most : {1000, 1'000'000}) {
        Verification const none = attention.verify(forward, {.most_scores = most});
        CHECK(none.ok());
        CHECK(none.results().size() == 2);
        CHECK(none.results()[0].elements == 0);
    }
    CHECK_FALSE(Verification().ok());
}

TEST_CASE("Graphs that cannot be sampled are refused where they are large") {
    Attention attention({});
    auto const capped = [](auto& options, Extras const&) {
        options.set_score_mod([](std::shared_ptr<graph::Graph> made, Tensor score) {
            return made->pointwise(score, graph::Pointwise_attributes().set_mode(PointwiseMode_t::TANH_FWD));
        });
    };
    graph::Graph const forward = attention.forward(capped);
    Verification result;
    auto const error = forward.verify(attention.pack(), Verification_options{.most_scores = 100}, result);
    CHECK(error.code == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(error.get_message().find("found a graph with 4608 scores of which no sample can be compared") !=
          std::string::npos);
    CHECK(error.get_message().find("expected at most 100") != std::string::npos);
}

TEST_CASE("Results that are left out are not compared") {
    Attention attention({});
    graph::Graph const forward = attention.forward(kCausal);
    attention.run(forward);
    attention[Stats][0] += 1.0f;
    Verification const verification = attention.verify(forward, {.left_out = {Stats}});
    CHECK(verification.ok());
    CHECK(verification.results().size() == 1);
    CHECK(verification.content().not_compared == std::vector<std::string>{"Stats"});
    Verification none;
    auto const error = forward.verify(attention.pack(), Verification_options{.left_out = {O, Stats}}, none);
    CHECK(error.get_message().find("found no result to compare") != std::string::npos);
}

TEST_CASE("A graph without a plan cannot be verified") {
    graph::Graph const graph;
    Verification result;
    std::map<std::int64_t, void*> const none;
    CHECK(graph.verify(none, result).get_message().find("verify needs the result of build_plans") != std::string::npos);
}
