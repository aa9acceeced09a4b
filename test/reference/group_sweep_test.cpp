// Random attention computed by groups of threads against the oracle, or refused by name.
#include "reference/cases/group_cases.h"
#include "reference/cases/random_case.h"
#include "reference/checks/check_case.h"
#include "support/catch.h"
#include "support/random.h"

#include <algorithm>

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

constexpr std::uint64_t kCases = 2000, kSeed = 977;

GroupSetup setup_for(AttentionCase const& c, std::uint64_t index, Random& random) {
    std::int64_t const most_ranks = std::min(sdpa_test::queries_of(c), sdpa_test::keys_of(c));
    auto const ranks = static_cast<int>(std::min(random.between(1, 8), most_ranks));
    GroupSetup setup = sdpa_test::group_setup(c, ranks, random);
    if (index % 8 == 0) setup.target = Target::reference();
    return setup;
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
    bool const has_bounds = c.left || c.right;
    if (c.sums_of_lengths || c.length_type != DataType_t::INT32) return true;
    if (has_bounds && setup.queries.length() != setup.keys.length()) return true;
    if (setup.way != Group_way::GATHER) return false;
    return !setup.shares_lengths || (has_bounds && c.right != 0);
}

bool is_no_ring(AttentionCase const& c, GroupSetup const& setup) {
    bool are_alike = true;
    for (int rank = 0; rank < setup.ranks; ++rank) {
        are_alike = are_alike && setup.queries.positions_of(rank) == setup.keys.positions_of(rank);
    }
    return !are_alike || sdpa_test::is_packed(c) || c.sink || c.logit_max || c.score_sum_exp || c.stats_use_log2 ||
           oracle::is_counting(c.modifier);
}

// Rows of parts without keys, whose log-sum-exps no step can write.
bool has_unknown_sums(AttentionCase const& c) {
    bool const has_other_stats = c.generate_stats && c.stats_type != DataType_t::FLOAT;
    bool const has_other_sink = (c.generate_stats || c.logit_max) && c.sink && *c.sink != DataType_t::FLOAT;
    bool const has_changed_sink = c.sink && (c.score_sum_exp || (c.generate_stats && c.stats_use_log2));
    return has_other_stats || has_other_sink || has_changed_sink;
}

bool is_to_be_refused(AttentionCase const& c, GroupSetup const& setup) {
    bool has_single_key = false;
    for (int rank = 0; rank < setup.ranks; ++rank) has_single_key = has_single_key || setup.keys.count_of(rank) == 1;
    bool const has_bad_bias = c.bias && ((*c.bias)[3] != 1 || (has_single_key && setup.ranks > 1));
    bool const is_slopes = c.modifier == oracle::Modify::Slopes || c.modifier == oracle::Modify::Prefix;
    bool const has_bad_modifier = (sdpa_test::has_documents(c) && (c.s_kv > 1 || setup.ranks > 1)) ||
                                  (is_slopes && has_single_key && setup.ranks > 1);
    bool const has_lengths = c.len_q && !c.omits_padding_mask;
    bool const is_moved = c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT && (c.left || c.right);
    bool const has_bad_lengths =
        has_lengths && !sdpa_test::is_packed(c) && setup.way != Group_way::ALL_TO_ALL &&
        (c.sums_of_lengths || is_moved || (c.left && has_unknown_sums(c)) || c.length_type != DataType_t::INT32);
    bool const has_bad_dropout =
        c.dropout == sdpa_test::Dropout::Mask || (c.dropout != sdpa_test::Dropout::None && c.scalars_by_value);
    bool const has_bad_ring = setup.way == Group_way::RING && is_no_ring(c, setup);
    return has_bad_bias || has_bad_dropout || has_bad_ring ||
           (sdpa_test::is_packed(c) && has_bad_documents(c, setup)) || has_bad_modifier || c.d_bias ||
           has_bad_lengths ||
           (!sdpa_test::is_packed(c) && has_query_without_keys(c) &&
            !(has_lengths && c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT));
}

// Documents of which the parts' scores depend on where these start in them.
bool is_gathered_by_place(AttentionCase const& c, GroupSetup const& setup) {
    using enum oracle::Modify;
    bool const counts =
        c.alibi || c.dropout != sdpa_test::Dropout::None || (c.modifier != Nothing && c.modifier != Softcap);
    return counts && sdpa_test::is_packed(c) && setup.way == Group_way::GATHER && setup.ranks > 1;
}

// Parts of it may begin behind the last key of a sequence.
bool is_padded_window(AttentionCase const& c, GroupSetup const& setup) {
    return c.left && c.len_q && !c.omits_padding_mask && !sdpa_test::is_packed(c) && setup.ranks > 1 &&
           setup.way != Group_way::ALL_TO_ALL;
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
    rig.parts += sdpa_test::parts_of(setup);
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
        runs_with_dropout = 0, gathered_runs_by_place = 0, ring_runs = 0, padded_windows = 0;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        Random random(kSeed + 104729 * index);
        AttentionCase const wide = sdpa_test::random_wide_case(index, {.chance = 0.1, .most_rows = 200});
        AttentionCase const c = sdpa_test::group_case(wide, random);
        GroupSetup const setup = setup_for(c, index, random);
        INFO("case " << index << ": " << sdpa_test::describe(c));
        INFO("ranks: " << setup.ranks << ", way " << static_cast<int>(setup.way) << ", stages " << setup.stages);
        bool const is_refused = is_to_be_refused(c, setup);
        if (is_refused) check_refused(c, setup);
        else check_run(c, setup);
        ++(is_refused ? refusals : runs);
        if (!is_refused && c.alibi) ++runs_with_alibi;
        if (!is_refused && c.len_q && !c.omits_padding_mask) ++runs_with_lengths;
        if (!is_refused && sdpa_test::is_packed(c)) ++packed_runs;
        if (!is_refused && is_padded_window(c, setup)) ++padded_windows;
        if (!is_refused && setup.way == Group_way::RING && setup.ranks > 1) ++ring_runs;
        if (!is_refused && is_gathered_by_place(c, setup)) ++gathered_runs_by_place;
        if (!is_refused && c.dropout != sdpa_test::Dropout::None) ++runs_with_dropout;
        if (!is_refused && c.modifier != oracle::Modify::Nothing) ++runs_with_modifiers;
    }
    CHECK(runs > 1200);
    CHECK(refusals > 200);
    CHECK(runs_with_alibi > 100);
    CHECK(runs_with_lengths > 300);
    CHECK(runs_with_modifiers > 100);
    CHECK(packed_runs > 200);
    CHECK(gathered_runs_by_place > 40);
    CHECK(ring_runs > 100);
    CHECK(padded_windows > 50);
    CHECK(runs_with_dropout > 100);
}
