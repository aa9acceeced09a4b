#include "reference/cases/group_cases.h"

#include <algorithm>
#include <numeric>

namespace sdpa_test {
namespace {

using cudnn_frontend::DataType_t;
using cudnn_frontend::DiagonalAlignment_t;
using sdpa_graph::Group_way;
using Split = sdpa_graph::Layout;

// Every token has a random owner, in ranges of a few tokens; each rank has one at least.
Split random_split(std::int64_t length, int ranks, Random& random) {
    std::vector<std::vector<sdpa_graph::Token_range>> ranges(static_cast<std::size_t>(ranks));
    std::int64_t first = 0;
    for (int index = 0; first < length; ++index) {
        std::int64_t const left = std::max<std::int64_t>(ranks - 1 - index, 0);
        std::int64_t const count = random.between(1, std::max<std::int64_t>((length - first - left) / 2, 1));
        int const owner = index < ranks ? index : static_cast<int>(random.between(0, ranks - 1));
        ranges[static_cast<std::size_t>(owner)].push_back({first, count});
        first += count;
    }
    return Split::of(std::move(ranges));
}

Split some_split(std::int64_t length, int ranks, Random& random) {
    if (random.chance(0.3)) return random_split(length, ranks, random);
    return random.flip() ? Split::contiguous(length, ranks) : Split::head_tail(length, ranks);
}

// The tokens of all batch entries where they are packed.
std::int64_t tokens_of(AttentionCase const& c, std::int64_t rows, std::vector<std::int64_t> const& lengths) {
    if (!is_packed(c)) return rows;
    constexpr std::int64_t kGap = 2;
    std::int64_t const gap = c.input_layout == Layout::RaggedGaps ? kGap : 0;
    return std::accumulate(lengths.begin(), lengths.end(), gap * static_cast<std::int64_t>(lengths.size()));
}

// Packs all tensors of tokens, mostly in a form that groups compute.
void pack(AttentionCase& c, Random& random) {
    using enum oracle::Modify;
    auto const has_tokens = [](std::vector<std::int64_t> const& lengths) {
        return std::ranges::any_of(lengths, [](std::int64_t length) { return length > 0; });
    };
    if (random.chance(0.8)) {
        c.sums_of_lengths = false, c.length_type = DataType_t::INT32, c.bias.reset();
        c.s_kv = c.s_q, c.len_kv = c.len_q;
        if (c.right && random.chance(0.8)) c.right = 0;
        if (!c.right && c.left && random.chance(0.8)) c.right = 0;
        if (c.modifier != Nothing && random.chance(0.4)) c.modifier = Softcap, c.modifier_number = 2.0f;
    }
    bool const reads_tensors = c.modifier == Slopes || c.modifier == Prefix || has_documents(c);
    if (reads_tensors) c.modifier = Softcap, c.modifier_number = 2.0f;
    if (!has_tokens(*c.len_q) || !has_tokens(*c.len_kv)) return;
    c.bias.reset(), c.d_bias = false, c.d_bias_dim.reset();
    c.mask.reset();
    if (c.dropout == Dropout::Mask) c.dropout = Dropout::None;
    c.input_layout = random.pick({Layout::Ragged, Layout::RaggedPacked, Layout::RaggedGaps});
    c.output_layout = c.input_layout == Layout::RaggedGaps ? c.input_layout : Layout::Ragged;
    c.offsets_in_rows = random.flip();
    if (random.flip()) c.offset_type = DataType_t::INT64;
}

}  // namespace

AttentionCase group_case(AttentionCase c, Random& random) {
    c.explicit_uids = true;
    c.integer_predicates = false;
    c.paging = {};
    c.block_mask = false;
    c.offsets_in_rows = c.bounds_rows = false;
    c.numbers_apart = c.dynamic_shapes = false;
    c.left_out = {};
    // Most options that groups refuse are left out of most cases.
    if (random.chance(0.8)) {
        if (random.flip()) c.sums_of_lengths = false;
        if (has_documents(c)) c.modifier = oracle::Modify::Softcap, c.modifier_number = 2.0f;
        if (c.dropout == Dropout::Mask || random.flip()) c.dropout = Dropout::None;
        if (c.dropout != Dropout::None && random.chance(0.8)) c.scalars_by_value = false;
        c.mask.reset();
        c.d_bias = false, c.d_bias_dim.reset();
        if (c.bias) (*c.bias)[3] = 1;
        if (c.bias && random.flip()) c.bias.reset();
        c.bias_infinities = Infinities::None;
        bool const is_odd = c.right && c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT && c.s_kv < c.s_q;
        if (is_odd) c.s_kv = c.s_q;
    }
    for (auto* const layout : {&c.input_layout, &c.output_layout}) {
        if (is_ragged(*layout) || !c.len_q) *layout = Layout::Bhsd;
    }
    c.keys_layout.reset(), c.stats_layout.reset(), c.scores_layout.reset();
    if (c.len_q && !c.omits_padding_mask && random.chance(0.6)) pack(c, random);
    // Windows over padded sequences are rare among the cases of one process.
    bool const is_padded = c.len_q && !c.omits_padding_mask && !is_packed(c);
    bool const may_have_window = is_padded && c.alignment == DiagonalAlignment_t::TOP_LEFT && c.s_q <= c.s_kv;
    if (may_have_window && random.chance(0.6)) c.left = static_cast<int>(random.between(1, 20));
    c.rng_dump = c.dropout == Dropout::Probability;
    return c;
}

std::int64_t queries_of(AttentionCase const& c) {
    return tokens_of(c, c.s_q, c.len_q.value_or(std::vector<std::int64_t>()));
}
std::int64_t keys_of(AttentionCase const& c) {
    return tokens_of(c, c.s_kv, c.len_kv.value_or(std::vector<std::int64_t>()));
}

GroupSetup group_setup(AttentionCase const& c, int ranks, Random& random) {
    GroupSetup setup;
    std::int64_t const queries = queries_of(c), keys = keys_of(c);
    setup.ranks = ranks;
    setup.queries = some_split(queries, setup.ranks, random);
    setup.keys = queries == keys && random.chance(0.8) ? setup.queries : some_split(keys, setup.ranks, random);
    setup.shares_lengths = is_packed(c) && c.len_q == c.len_kv;
    setup.leaves_out_dump = true;
    setup.has_rows_first = random.flip();
    bool const can_be_by_heads = c.h_k % setup.ranks == 0 && c.h_v % setup.ranks == 0 && !c.bias;
    setup.way = can_be_by_heads && random.flip() ? Group_way::ALL_TO_ALL : Group_way::GATHER;
    bool const can_be_ring = !is_packed(c) && queries == keys && !c.sink && !c.logit_max && !c.score_sum_exp &&
                             !c.stats_use_log2 && !oracle::is_counting(c.modifier);
    if (random.chance(can_be_ring ? 0.5 : 0.05)) setup.way = Group_way::RING;
    if (can_be_ring && setup.way == Group_way::RING) setup.keys = setup.queries;
    std::int64_t const stages = random.between(1, 4);
    if (setup.way == Group_way::GATHER && c.h_k % stages == 0 && c.h_v % stages == 0) {
        setup.stages = static_cast<int>(stages);
    }
    return setup;
}

int parts_of(GroupSetup const& setup) {
    std::size_t parts = 0;
    for (int rank = 0; rank < setup.ranks; ++rank) parts += setup.queries.ranges_of(rank).size();
    return static_cast<int>(parts);
}

bool is_packed(AttentionCase const& c) { return is_ragged(c.input_layout); }

bool has_documents(AttentionCase const& c) {
    return c.modifier == oracle::Modify::Documents || c.modifier == oracle::Modify::CappedDocuments;
}

}  // namespace sdpa_test
