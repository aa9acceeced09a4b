#include "reference/cases/rewrite_case.h"

#include "support/random.h"

#include <cmath>

namespace sdpa_test {
namespace {

constexpr std::uint64_t kSeed = 20261123;

AttentionCase plain_case(std::uint64_t index, Random& random) {
    constexpr Layout kLayouts[] = {Layout::Bhsd, Layout::Bshd, Layout::Sbhd, Layout::Packed, Layout::Gaps};
    constexpr DataType_t kTypes[] = {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16};
    constexpr std::int64_t kHeadDims[] = {8, 16, 32, 64};
    constexpr Scale kScales[] = {Scale::None, Scale::Number, Scale::Embedded, Scale::ByValue, Scale::Device};
    AttentionCase c;
    c.seed = index + 1;
    c.type = c.result_type = random.pick(kTypes);
    c.input_layout = random.pick(kLayouts);
    c.output_layout = random.pick(kLayouts);
    c.d_qk = random.pick(kHeadDims);
    c.d_v = random.chance(0.7) ? c.d_qk : random.pick(kHeadDims);
    c.b = random.between(1, 3);
    c.h_k = c.h_v = random.chance(0.4) ? 1 : random.between(2, 3);
    c.h_q = c.h_k * random.between(1, 4);
    c.scale = random.pick(kScales);
    c.scale_value = static_cast<float>(random.real(0.5, 2.0) / std::sqrt(static_cast<double>(c.d_qk)));
    c.explicit_uids = random.chance(0.5);
    c.deterministic = random.chance(0.3);
    return c;
}

void add_lengths(AttentionCase& c, Random& random) {
    c.len_q.emplace(), c.len_kv.emplace();
    for (std::int64_t b = 0; b < c.b; ++b) {
        c.len_q->push_back(random.between(0, c.s_q));
        c.len_kv->push_back(random.between(0, c.s_kv));
    }
}

}  // namespace

AttentionCase few_queries_case(std::uint64_t index) {
    Random random(kSeed + index);
    AttentionCase c = plain_case(index, random);
    c.s_q = random.chance(0.3) ? 1 : random.between(2, 12);
    c.s_kv = random.chance(0.5) ? 256 * random.between(1, 4) : random.between(c.s_q + 1, 1100);
    c.generate_stats = random.chance(0.6);
    if (random.chance(0.4)) {
        add_lengths(c, random);
        if (random.chance(0.5)) c.paging.k_rows = c.paging.v_rows = 16;
    } else if (random.chance(0.5)) {
        c.right = 0, c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    }
    return c;
}

AttentionCase bands_case(std::uint64_t index) {
    Random random(kSeed + index);
    AttentionCase c = plain_case(index, random);
    c.s_kv = random.between(8, 90);
    c.s_q = random.chance(0.5) ? c.s_kv : random.between(1, c.s_kv);
    bool const is_at_end = random.chance(0.5);
    if (is_at_end) c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    std::int64_t const shift = is_at_end ? c.s_kv - c.s_q : 0;
    std::int64_t const least = shift > 0 ? 0 : 1, most = c.s_kv - 1 - shift;
    if (least > most) c.s_q = c.s_kv;
    c.right = static_cast<int>(random.between(least, std::max(least, std::min<std::int64_t>(most, 24))));
    c.left = static_cast<int>(random.between(1, 30));
    return c;
}

AttentionCase slices_case(std::uint64_t index) {
    Random random(kSeed + index);
    AttentionCase c = plain_case(index, random);
    c.h_q = c.h_k * random.between(2, 4);
    c.s_q = random.between(1, 40);
    c.s_kv = random.between(1, 40);
    if (random.chance(0.4)) c.right = 0;
    if (random.chance(0.4)) {
        c.bias = Index4{c.b, c.h_q, c.s_q, c.s_kv};
        c.bias_type = c.type;
        c.d_bias = random.chance(0.7);
        if (!c.d_bias && random.chance(0.5)) (*c.bias)[random.chance(0.5) ? 0 : 1] = 1;
    }
    if (random.chance(0.3)) add_lengths(c, random);
    return c;
}

// Heads lie outside of the rows where a class can do with that.
AttentionCase class_case(std::uint64_t index) {
    Random random(kSeed + index);
    constexpr Layout kRows[] = {Layout::Bshd, Layout::Sbhd, Layout::Packed};
    constexpr Layout kRagged[] = {Layout::Ragged, Layout::RaggedGaps, Layout::RaggedPacked};
    AttentionCase c = plain_case(index, random);
    c.type = c.result_type = random.chance(0.5) ? DataType_t::HALF : DataType_t::BFLOAT16;
    c.s_q = random.chance(0.2) ? random.between(1, 8) : random.between(1, 70);
    c.s_kv = random.chance(0.4) ? c.s_q : random.between(1, 70);
    if (random.chance(0.5)) add_lengths(c, random);
    if (c.len_q && random.chance(0.4)) {
        c.input_layout = random.pick(kRagged), c.output_layout = Layout::Ragged;
        c.offset_type = random.chance(0.5) ? DataType_t::INT32 : DataType_t::INT64;
        c.offsets_in_rows = random.chance(0.3);
        if (random.chance(0.5)) c.keys_layout = random.pick(kRows);
        if (random.chance(0.3)) c.stats_layout = Layout::Bhsd;
    } else if (random.chance(0.4)) {
        c.input_layout = random.chance(0.7) ? Layout::Bhsd : Layout::WideGaps;
        c.output_layout = random.chance(0.7) ? Layout::Bhsd : Layout::WideGaps;
        c.h_k = c.h_v = c.h_q = random.between(1, 4);
    } else {
        c.input_layout = random.pick(kRows), c.output_layout = random.pick(kRows);
        if (random.chance(0.5)) c.stats_layout = Layout::Bhsd;
        c.alibi = random.chance(0.2);
        if (random.chance(0.2)) c.sink = DataType_t::FLOAT, c.d_sink = random.chance(0.7);
    }
    if (random.chance(0.5)) {
        c.right = 0;
        if (random.chance(0.5)) c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
        if (random.chance(0.4)) c.left = static_cast<int>(random.between(1, 60));
    }
    return c;
}

void ask_for(Rewriting const& rewriting, AttentionCase const& c, cudnn_frontend::graph::Graph& graph) {
    using cudnn_frontend::Rewrite_t;
    if (auto const* policy = std::get_if<cudnn_frontend::ShapePolicy_t>(&rewriting)) {
        graph.set_shape_policy(*policy);
        return;
    }
    auto const rewrite = std::get<Rewrite_t>(rewriting);
    graph.set_rewrites({rewrite});
    if (rewrite == Rewrite_t::SLICES && c.seed % 2 == 0) graph.deselect_engines({"slices(2)"});
}

}  // namespace sdpa_test
