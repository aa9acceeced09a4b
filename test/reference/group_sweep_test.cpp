// Random attention computed by groups of threads against the oracle, or refused by name.
#include "reference/check_case.h"
#include "reference/group_run.h"
#include "reference/random_case.h"
#include "support/catch.h"
#include "support/random.h"

#include <algorithm>
#include <numeric>

namespace {

using cudnn_frontend::DataType_t;
using cudnn_frontend::DiagonalAlignment_t;
using sdpa_graph::Group_way;
using sdpa_test::AttentionCase;
using sdpa_test::GroupSetup;
using sdpa_test::Random;
using sdpa_test::Rig;
using sdpa_test::Session;
using sdpa_test::Target;
using Split = sdpa_graph::Layout;

constexpr std::uint64_t kCases = 2000, kSeed = 977;

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

bool is_packed(AttentionCase const& c) { return sdpa_test::is_ragged(c.input_layout); }

// The tokens of all batch entries where they are packed.
std::int64_t tokens_of(AttentionCase const& c, std::int64_t rows, std::vector<std::int64_t> const& lengths) {
    if (!is_packed(c)) return rows;
    constexpr std::int64_t kGap = 2;
    std::int64_t const gap = c.input_layout == sdpa_test::Layout::RaggedGaps ? kGap : 0;
    return std::accumulate(lengths.begin(), lengths.end(), gap * static_cast<std::int64_t>(lengths.size()));
}

GroupSetup setup_for(AttentionCase const& c, std::uint64_t index, Random& random) {
    GroupSetup setup;
    std::int64_t const queries = tokens_of(c, c.s_q, c.len_q.value_or(std::vector<std::int64_t>()));
    std::int64_t const keys = tokens_of(c, c.s_kv, c.len_kv.value_or(std::vector<std::int64_t>()));
    setup.ranks = static_cast<int>(std::min<std::int64_t>({random.between(1, 8), queries, keys}));
    setup.queries = some_split(queries, setup.ranks, random);
    setup.keys = queries == keys && random.chance(0.8) ? setup.queries : some_split(keys, setup.ranks, random);
    setup.shares_lengths = is_packed(c) && c.len_q == c.len_kv;
    setup.leaves_out_dump = true;
    setup.has_rows_first = random.flip();
    bool const can_be_by_heads = c.h_k % setup.ranks == 0 && c.h_v % setup.ranks == 0 && !c.bias;
    setup.way = can_be_by_heads && random.flip() ? Group_way::ALL_TO_ALL : Group_way::GATHER;
    std::int64_t const stages = random.between(1, 4);
    if (setup.way == Group_way::GATHER && c.h_k % stages == 0 && c.h_v % stages == 0) {
        setup.stages = static_cast<int>(stages);
    }
    if (index % 8 == 0) setup.target = Target::reference();
    return setup;
}

// Whether a modifier reads a number for each key.
bool has_documents(AttentionCase const& c) {
    return c.modifier == oracle::Modify::Documents || c.modifier == oracle::Modify::CappedDocuments;
}

// Packs all tensors of tokens, mostly in a form that groups compute.
void pack(AttentionCase& c, Random& random) {
    using sdpa_test::Layout;
    using enum oracle::Modify;
    auto const has_tokens = [](std::vector<std::int64_t> const& lengths) {
        return std::ranges::any_of(lengths, [](std::int64_t length) { return length > 0; });
    };
    if (random.chance(0.8)) {
        c.sums_of_lengths = false, c.length_type = DataType_t::INT32, c.bias.reset();
        c.s_kv = c.s_q, c.len_kv = c.len_q;
        c.alibi = c.alibi && random.chance(0.3);
        if (c.right && random.chance(0.8)) c.right = 0;
        if (!c.right && c.left && random.chance(0.8)) c.right = 0;
        if (c.modifier != Nothing && random.chance(0.8)) c.modifier = Softcap, c.modifier_number = 2.0f;
    }
    bool const reads_tensors = c.modifier == Slopes || c.modifier == Prefix || has_documents(c);
    if (reads_tensors) c.modifier = Softcap, c.modifier_number = 2.0f;
    if (!has_tokens(*c.len_q) || !has_tokens(*c.len_kv)) return;
    c.bias.reset(), c.d_bias = false, c.d_bias_dim.reset();
    c.mask.reset();
    if (c.dropout == sdpa_test::Dropout::Mask) c.dropout = sdpa_test::Dropout::None;
    c.input_layout = random.pick({Layout::Ragged, Layout::RaggedPacked, Layout::RaggedGaps});
    c.output_layout = c.input_layout == Layout::RaggedGaps ? c.input_layout : Layout::Ragged;
    c.offsets_in_rows = random.flip();
    if (random.flip()) c.offset_type = DataType_t::INT64;
}

// A random case without what the graph of a rank's part cannot say at all.
AttentionCase case_of(std::uint64_t index, Random& random) {
    AttentionCase c = sdpa_test::random_wide_case(index, {.chance = 0.1, .most_rows = 200});
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
        if (c.dropout == sdpa_test::Dropout::Mask || random.flip()) c.dropout = sdpa_test::Dropout::None;
        if (c.dropout != sdpa_test::Dropout::None && random.chance(0.8)) c.scalars_by_value = false;
        c.mask.reset();
        c.d_bias = false, c.d_bias_dim.reset();
        if (c.bias) (*c.bias)[3] = 1;
        if (c.bias && random.flip()) c.bias.reset();
        c.bias_infinities = sdpa_test::Infinities::None;
        bool const is_odd = c.right && c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT && c.s_kv < c.s_q;
        if (is_odd) c.s_kv = c.s_q;
    }
    for (auto* const layout : {&c.input_layout, &c.output_layout}) {
        if (sdpa_test::is_ragged(*layout) || !c.len_q) *layout = sdpa_test::Layout::Bhsd;
    }
    c.keys_layout.reset(), c.stats_layout.reset(), c.scores_layout.reset();
    if (c.len_q && !c.omits_padding_mask && random.chance(0.6)) pack(c, random);
    c.rng_dump = c.dropout == sdpa_test::Dropout::Probability;
    return c;
}

// The whole graph, as check_case() makes it.
Session session_of(AttentionCase const& c, bool is_backward) {
    sdpa_test::Inputs const in = sdpa_test::make_inputs(c);
    if (!is_backward) return Session(c, in, sdpa_test::make_forward_outputs(c));
    AttentionCase undropped = c;
    undropped.dropout = sdpa_test::Dropout::None;
    oracle::Forward const forward = oracle::forward(sdpa_test::to_problem(undropped, in, {}));
    return Session(c, in, sdpa_test::make_backward_inputs(c, forward), sdpa_test::make_backward_outputs(c));
}

bool has_query_without_keys(AttentionCase const& c) {
    std::int64_t const shift = c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT ? c.s_kv - c.s_q : 0;
    return (c.right && shift + *c.right < 0) || (c.left && c.s_q + shift - *c.left >= c.s_kv);
}

bool has_bad_documents(AttentionCase const& c, GroupSetup const& setup) {
    using enum oracle::Modify;
    bool const has_bounds = c.left || c.right;
    if (c.sums_of_lengths || c.length_type != DataType_t::INT32) return true;
    if (has_bounds && setup.queries.length() != setup.keys.length()) return true;
    if (setup.way != Group_way::GATHER) return false;
    bool const counts =
        c.alibi || c.dropout != sdpa_test::Dropout::None || (c.modifier != Nothing && c.modifier != Softcap);
    return counts || !setup.shares_lengths || (has_bounds && c.right != 0);
}

bool is_to_be_refused(AttentionCase const& c, GroupSetup const& setup) {
    bool has_single_key = false;
    for (int rank = 0; rank < setup.ranks; ++rank) has_single_key = has_single_key || setup.keys.count_of(rank) == 1;
    bool const has_bad_bias = c.bias && ((*c.bias)[3] != 1 || (has_single_key && setup.ranks > 1));
    bool const is_slopes = c.modifier == oracle::Modify::Slopes || c.modifier == oracle::Modify::Prefix;
    bool const has_bad_modifier =
        (has_documents(c) && (c.s_kv > 1 || setup.ranks > 1)) || (is_slopes && has_single_key && setup.ranks > 1);
    bool const has_lengths = c.len_q && !c.omits_padding_mask;
    bool const is_moved = c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT && (c.left || c.right);
    bool const has_bad_lengths = has_lengths && !is_packed(c) && setup.way == Group_way::GATHER &&
                                 (c.sums_of_lengths || is_moved || c.length_type != DataType_t::INT32);
    bool const has_bad_dropout =
        c.dropout == sdpa_test::Dropout::Mask || (c.dropout != sdpa_test::Dropout::None && c.scalars_by_value);
    return has_bad_bias || has_bad_dropout || (is_packed(c) && has_bad_documents(c, setup)) || has_bad_modifier ||
           c.d_bias || has_bad_lengths ||
           (!is_packed(c) && has_query_without_keys(c) &&
            !(has_lengths && c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT));
}

void check_refused(AttentionCase const& c, GroupSetup const& setup) {
    Session session = session_of(c, c.d_bias);
    for (std::string const& refusal : sdpa_test::refusals_in_group(session, setup)) {
        CHECK_THAT(refusal, Catch::Contains("[group.c"));
    }
}

void check_run(AttentionCase const& c, GroupSetup const& setup) {
    Rig rig(setup.target);
    rig.joins_parts = true;
    for (int rank = 0; rank < setup.ranks; ++rank) {
        rig.parts += static_cast<int>(setup.queries.ranges_of(rank).size());
    }
    // One process writes the mask with which the oracle computes.
    rig.execute = [&](Session const& session) {
        auto const error = c.rng_dump ? session.execute() : sdpa_test::error_t();
        return error.is_good() ? sdpa_test::run_in_group(session, setup) : error;
    };
    CHECK(sdpa_test::check_case(c, rig).faults() == "");
}

}  // namespace

TEST_CASE("groups compute random attention right, or refuse it by name") {
    int runs = 0, refusals = 0, runs_with_alibi = 0, runs_with_modifiers = 0, runs_with_lengths = 0, packed_runs = 0,
        runs_with_dropout = 0;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        Random random(kSeed + 104729 * index);
        AttentionCase const c = case_of(index, random);
        GroupSetup const setup = setup_for(c, index, random);
        INFO("case " << index << ": " << sdpa_test::describe(c));
        INFO("ranks: " << setup.ranks << ", way " << static_cast<int>(setup.way) << ", stages " << setup.stages);
        bool const is_refused = is_to_be_refused(c, setup);
        if (is_refused) check_refused(c, setup);
        else check_run(c, setup);
        ++(is_refused ? refusals : runs);
        if (!is_refused && c.alibi) ++runs_with_alibi;
        if (!is_refused && c.len_q && !c.omits_padding_mask) ++runs_with_lengths;
        if (!is_refused && is_packed(c)) ++packed_runs;
        if (!is_refused && c.dropout != sdpa_test::Dropout::None) ++runs_with_dropout;
        if (!is_refused && c.modifier != oracle::Modify::Nothing) ++runs_with_modifiers;
    }
    CHECK(runs > 1200);
    CHECK(refusals > 200);
    CHECK(runs_with_alibi > 100);
    CHECK(runs_with_lengths > 300);
    CHECK(runs_with_modifiers > 100);
    CHECK(packed_runs > 200);
    CHECK(runs_with_dropout > 100);
}
