// Masks of a whole attention in terms of its parts, pair by pair.
#include "rewrite/group/token_rows.h"
#include "support/catch.h"
#include "support/random.h"
#include "unit/rewrite/attention_graphs.h"

using namespace test;
using rewrite::BandPart;
using rewrite::PartBand;
using rewrite::Span;
using rewrite::WholeBand;

namespace {

struct Sizes {
    std::int64_t queries, keys;
};

AttentionFields random_band(sdpa_test::Random& random) {
    AttentionFields fields;
    if (random.flip()) fields.diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    if (random.chance(0.7)) fields.right_bound = random.chance(0.6) ? 0 : random.between(0, 5);
    if (random.chance(0.5)) fields.left_bound = random.between(1, 9);
    return fields;
}

// Whether the query sees the key, of an attention of these sizes: docs/spec.md.
bool sees(PartBand const& band, Sizes const& sizes, std::int64_t query, std::int64_t key) {
    std::int64_t const shift = band.alignment == DiagonalAlignment_t::BOTTOM_RIGHT ? sizes.keys - sizes.queries : 0;
    return (!band.right || key <= query + shift + *band.right) && (!band.left || key > query + shift - *band.left);
}

bool is_legal(PartBand const& band) { return band.left.value_or(1) >= 1 && band.right.value_or(0) >= 0; }

bool part_sees(BandPart const& part, std::int64_t query, std::int64_t key) {
    bool const is_in =
        query >= part.queries.first && query < part.queries.end && key >= part.keys.first && key < part.keys.end;
    return is_in && sees(part.band, {part.queries.count(), part.keys.count()}, query - part.queries.first,
                         key - part.keys.first);
}

struct BandCase {
    AttentionFields fields;
    Sizes sizes;
    Span queries, keys;  // some queries, and keys that hold all that these see
};

BandCase random_case(sdpa_test::Random& random) {
    for (;;) {
        BandCase c{random_band(random), {random.between(1, 30), random.between(1, 30)}, {}, {}};
        WholeBand const band(c.fields, c.sizes.queries, c.sizes.keys);
        if (!band.shows_each_query_a_key()) continue;
        c.queries.first = random.between(0, c.sizes.queries - 1);
        c.queries.end = random.between(c.queries.first + 1, c.sizes.queries);
        c.keys = band.keys_of(c.queries);
        // More on one side, as chunks at the ends of a sequence have in backward.
        if (random.chance(0.2)) c.keys.first = 0;
        else if (random.chance(0.2)) c.keys.end = c.sizes.keys;
        return c;
    }
}

void check_parts(BandCase const& c, std::vector<BandPart> const& parts) {
    PartBand const whole{c.fields.diagonal_alignment, c.fields.left_bound, c.fields.right_bound};
    for (BandPart const& part : parts) CHECK(is_legal(part.band));
    for (std::int64_t query = c.queries.first; query < c.queries.end; ++query) {
        for (std::int64_t key = 0; key < c.sizes.keys; ++key) {
            std::int64_t times = 0;
            for (BandPart const& part : parts) times += part_sees(part, query, key);
            REQUIRE(times == sees(whole, c.sizes, query, key));
        }
    }
}

}  // namespace

TEST_CASE("whole bands: queries within keys are those that see no others") {
    sdpa_test::Random random(11);
    int found = 0;
    for (int index = 0; index < 2000; ++index) {
        INFO("case " << index);
        BandCase const c = random_case(random);
        WholeBand const band(c.fields, c.sizes.queries, c.sizes.keys);
        std::int64_t const first = random.between(0, c.sizes.keys - 1), end = random.between(first + 1, c.sizes.keys);
        Span const inner = band.queries_within(c.queries, {first, end});
        for (std::int64_t query = c.queries.first; query < c.queries.end; ++query) {
            Span const seen = band.keys_of({query, query + 1});
            bool const is_within = seen.first >= first && seen.end <= end;
            REQUIRE((query >= inner.first && query < inner.end) == is_within);
            found += is_within ? 1 : 0;
        }
    }
    CHECK(found > 100);
}

TEST_CASE("whole bands: a part of the queries sees the same keys") {
    sdpa_test::Random random(5);
    for (int index = 0; index < 2000; ++index) {
        INFO("case " << index);
        BandCase const c = random_case(random);
        WholeBand const band(c.fields, c.sizes.queries, c.sizes.keys);
        check_parts(c, {{c.queries, c.keys, band.within(c.queries, c.keys)}});
    }
}

TEST_CASE("whole bands: a part of the keys is cut to what is visible, and bounds that hide nothing are left out") {
    sdpa_test::Random random(7);
    int invisible = 0, unbounded = 0, cut = 0;
    for (int index = 0; index < 2000; ++index) {
        INFO("case " << index);
        BandCase c = random_case(random);
        c.keys.first = random.between(0, c.sizes.keys - 1);
        c.keys.end = random.between(c.keys.first + 1, c.sizes.keys);
        auto const part = WholeBand(c.fields, c.sizes.queries, c.sizes.keys).visible_part(c.queries, c.keys);
        PartBand const whole{c.fields.diagonal_alignment, c.fields.left_bound, c.fields.right_bound};
        for (std::int64_t query = c.queries.first; query < c.queries.end; ++query) {
            bool sees_any = false;
            for (std::int64_t key = c.keys.first; key < c.keys.end; ++key) {
                bool const is_visible = sees(whole, c.sizes, query, key);
                sees_any = sees_any || is_visible;
                REQUIRE((part && part_sees(*part, query, key)) == is_visible);
            }
            bool const is_in = part && query >= part->queries.first && query < part->queries.end;
            REQUIRE(is_in == sees_any);
        }
        if (!part) ++invisible;
        else if (part->queries != c.queries) ++cut;
        if (!part) continue;
        CHECK(is_legal(part->band));
        std::int64_t pairs = 0;
        for (std::int64_t query = part->queries.first; query < part->queries.end; ++query) {
            for (std::int64_t key = part->keys.first; key < part->keys.end; ++key)
                pairs += part_sees(*part, query, key);
        }
        bool const is_full = pairs == part->queries.count() * part->keys.count();
        CHECK(is_full == (part->band == PartBand()));
        unbounded += is_full;
    }
    CHECK(invisible > 100);
    CHECK(unbounded > 300);
    CHECK(cut > 100);
}

TEST_CASE("whole bands: parts that engines skip see the same keys, each in one part") {
    sdpa_test::Random random(6);
    int split = 0;
    for (int index = 0; index < 2000; ++index) {
        INFO("case " << index);
        BandCase const c = random_case(random);
        auto const parts = WholeBand(c.fields, c.sizes.queries, c.sizes.keys).skipping_parts(c.queries, c.keys);
        check_parts(c, parts);
        CHECK(parts.front().queries == c.queries);
        if (parts.size() == 1) continue;
        ++split;
        CHECK(parts[0].band.alignment == DiagonalAlignment_t::TOP_LEFT);
        CHECK(parts[0].band.right == 0);
        CHECK(parts[1].keys.first == c.keys.first);
        CHECK(parts[1].keys.end == parts[0].keys.first);
        CHECK(parts[0].keys.end == c.keys.end);
    }
    CHECK(split > 500);
}

TEST_CASE("whole bands: queries that see no key are found") {
    AttentionFields fields;
    fields.right_bound = 0;
    fields.diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    CHECK(WholeBand(fields, 4, 4).shows_each_query_a_key());
    CHECK(!WholeBand(fields, 5, 4).shows_each_query_a_key());
    fields.right_bound = 1;
    CHECK(WholeBand(fields, 5, 4).shows_each_query_a_key());
    fields = {};
    fields.left_bound = 2;
    CHECK(WholeBand(fields, 5, 4).shows_each_query_a_key());
    CHECK(!WholeBand(fields, 6, 4).shows_each_query_a_key());
}

TEST_CASE("token rows: spans that overlap or touch are one, and rows follow each other") {
    auto const spans = rewrite::merged({{10, 12}, {0, 3}, {2, 5}, {5, 6}});
    CHECK(spans == std::vector<Span>{{0, 6}, {10, 12}});
    rewrite::TokenRows const rows(spans);
    CHECK(rows.count() == 8);
    CHECK(rows.row_of(0) == 0);
    CHECK(rows.row_of(5) == 5);
    CHECK(rows.row_of(10) == 6);
    CHECK(rows.row_of(11) == 7);
}
