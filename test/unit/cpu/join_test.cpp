// The joint of the parts of programs on the CPU targets, where parts have no keys.
#include "attention/philox.h"
#include "cpu/cpu_backend.h"
#include "support/catch.h"

#include <cmath>
#include <limits>

using namespace cudnn_frontend;
using rewrite::View;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

View view(core::Dims dim, DataType_t type = DataType_t::FLOAT) {
    core::Dims stride = core::packed_strides(dim);
    return {{}, type, std::move(dim), std::move(stride)};
}

void run(rewrite::Joint const& joint, std::vector<void*> const& pointers) {
    plan::Launch const launch{nullptr, pointers, nullptr};
    REQUIRE(cpu::join(joint)->launch(launch).get_message() == "");
}

}  // namespace

TEST_CASE("a merge passes over what parts without keys hold, and a row of none is 0") {
    rewrite::Merge merge{view({2, 3, 2}), view({2, 3, 1}), view({3, 2}), view({3, 1}),
                         view({2, 3, 1}, DataType_t::INT32)};
    std::vector<float> partial_o{kNan, kNan, 1, 2, kNan, kNan, 3, 4, kNan, 6, kNan, kNan};
    std::vector<float> partial_stats{kNan, 0, kNan, 1.5f, -kInfinity, 2};
    std::vector<std::int32_t> lengths{0, 7, 0, 7, 7, 0};
    std::vector<float> o(6, -9), stats(3, -9);
    run(merge, {partial_o.data(), partial_stats.data(), o.data(), stats.data(), lengths.data()});
    CHECK(o == std::vector<float>{3, 4, 1, 2, 0, 0});
    CHECK(stats == std::vector<float>{1.5f, 0, -kInfinity});
}

TEST_CASE("the lengths of parts are those of their keys, and 0 where nothing is to be computed") {
    rewrite::SplitLengths split{
        view({3, 4}), view({3, 4}), view({3, 4}, DataType_t::INT32), view({3, 4}, DataType_t::INT32), 2, 10};
    for (View* const length : {&split.queries, &split.keys}) *length = {{}, DataType_t::INT32, {3, 4}, {1, 0}};
    std::vector<std::int32_t> queries{3, 0, 5}, keys{25, 40, 10}, rows(12, -9), part_keys(12, -9);
    run(split, {queries.data(), keys.data(), rows.data(), part_keys.data()});
    CHECK(rows == std::vector<std::int32_t>{6, 6, 6, 0, 0, 0, 0, 0, 10, 0, 0, 0});
    CHECK(part_keys == std::vector<std::int32_t>{10, 10, 5, 0, 0, 0, 0, 0, 10, 0, 0, 0});
    split.first_query = 2, split.most_queries = 2, split.first_key = 12;
    run(split, {queries.data(), keys.data(), rows.data(), part_keys.data()});
    CHECK(rows == std::vector<std::int32_t>{2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    CHECK(part_keys == std::vector<std::int32_t>{10, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("tables of slots are not made of lengths out of range, each of which is named") {
    rewrite::SlotTables tables;
    tables.sequences = {view({2, 1, 1, 1}, DataType_t::INT32), view({2, 1, 1, 1}, DataType_t::INT32), 2, 5, 7};
    tables.queries = tables.keys = view({4, 1, 1, 1}, DataType_t::INT32);
    std::vector<std::int32_t> given_q{5, -1}, given_k{8, 7}, queries(4, -9), keys(4, -9);
    std::vector<void*> const pointers{given_q.data(), given_k.data(), queries.data(), keys.data()};
    std::string const error = cpu::join(tables)->launch({nullptr, pointers, nullptr}).get_message();
    CHECK(error.find("[run.r01]") != error.npos);
    CHECK(error.find("the length -1 for batch entry 1") != error.npos);
    CHECK(error.find("the length 8 for batch entry 0") != error.npos);
    CHECK(queries == std::vector<std::int32_t>(4, -9));
    given_q[1] = 2, given_k[0] = 0;
    run(tables, pointers);
    CHECK(queries == std::vector<std::int32_t>{5, 2, 0, 0});
    CHECK(keys == std::vector<std::int32_t>{0, 7, 0, 0});
}

namespace {

// Three documents of 3, 0 and 4 tokens from 1, 5 and 5 of 10, whose tokens have 8 elements.
struct Documents {
    std::vector<std::int64_t> starts{4, 20, 20, 40};  // in units of two elements
    std::vector<std::int32_t> key_starts{1, 5, 5, 10}, lengths{3, 0, 4};
    std::vector<std::int32_t> used_q = std::vector<std::int32_t>(3, -9), totals_q = std::vector<std::int32_t>(4, -9);
    std::vector<std::int32_t> used_k = used_q, totals_k = totals_q;
    std::vector<std::int64_t> elements_q = std::vector<std::int64_t>(4, -9), elements_k = elements_q;
    rewrite::DocumentTables tables;

    Documents() {
        auto const list = [](std::int64_t count, DataType_t type = DataType_t::INT32) {
            return view({count, 1, 1, 1}, type);
        };
        tables.batches = 3;
        tables.queries = {list(4, DataType_t::INT64), list(3), 2, 8, 0, 10, 10, list(3), list(4)};
        tables.keys = {list(4), list(3), 8, 8, 0, 10, 10, list(3), list(4)};
        tables.starts = {{list(4, DataType_t::INT64), 16, false}, {list(4, DataType_t::INT64), 4, true}};
    }
    std::vector<void*> pointers() {
        return {starts.data(),  lengths.data(), used_q.data(),   totals_q.data(),   key_starts.data(),
                lengths.data(), used_k.data(),  totals_k.data(), elements_q.data(), elements_k.data()};
    }
    std::string refusal() { return cpu::join(tables)->launch({nullptr, pointers(), nullptr}).get_message(); }
};

}  // namespace

TEST_CASE("tables of documents say how much of each a part has, and where that starts") {
    Documents all;
    all.tables.start_together = true;
    REQUIRE(all.refusal() == "");
    CHECK(all.used_q == std::vector<std::int32_t>{3, 0, 4});
    CHECK(all.totals_q == std::vector<std::int32_t>{1, 5, 5, 10});
    CHECK(all.elements_q == std::vector<std::int64_t>{16, 80, 80, 160});
    CHECK(all.elements_k == std::vector<std::int64_t>{4, 20, 20, 40});

    // Queries 3 to 6 and keys 0 to 6: the last token of the first document, and two of the third one.
    all.tables.queries.first = 3, all.tables.queries.end = all.tables.keys.end = 7;
    REQUIRE(all.refusal() == "");
    CHECK(all.used_q == std::vector<std::int32_t>{1, 0, 2});
    CHECK(all.used_k == std::vector<std::int32_t>{3, 0, 2});
    CHECK(all.totals_q == std::vector<std::int32_t>{0, 2, 2, 4});
    CHECK(all.totals_k == std::vector<std::int32_t>{1, 5, 5, 7});

    // A document of which the part has keys alone is empty.
    all.tables.queries.first = 5;
    REQUIRE(all.refusal() == "");
    CHECK(all.used_q == std::vector<std::int32_t>{0, 0, 2});
    CHECK(all.used_k == std::vector<std::int32_t>{0, 0, 2});
}

TEST_CASE("tables of documents say how many tokens lie before a part") {
    Documents cut;
    cut.tables.queries.first = 3, cut.tables.keys.first = 2;
    cut.tables.queries.before.emplace(view({3, 1, 1, 1}, DataType_t::INT32));
    cut.tables.keys.before.emplace(view({3, 1, 1, 1}, DataType_t::INT32));
    std::vector<void*> pointers = cut.pointers();
    std::vector<std::int32_t> queries_before(3, -9), keys_before(3, -9);
    pointers.insert(pointers.begin() + 4, queries_before.data());
    pointers.insert(pointers.begin() + 9, keys_before.data());
    run(cut.tables, pointers);
    CHECK(queries_before == std::vector<std::int32_t>{2, 0, 0});
    CHECK(keys_before == std::vector<std::int32_t>{1, 0, 0});
}

TEST_CASE("documents without room, and those that start elsewhere in the keys, are named") {
    Documents late;
    late.starts[3] = 44;
    CHECK(late.refusal().find("document 2 of 4 tokens from 5, and the next from 11; expected documents in order, each "
                              "with room for its tokens, in 10 tokens") != std::string::npos);
    Documents moved;
    moved.key_starts[1] = 4;
    CHECK(moved.refusal() == "");
    moved.tables.start_together = true;
    CHECK(moved.refusal().find("[run.r02] tensor 'K': found document 1 from token 4, and from 5 in Q") !=
          std::string::npos);
}

TEST_CASE("the mask of a part is that of the whole attention there") {
    constexpr std::int64_t kHeads = 3, kQueries = 7, kKeys = 10;
    std::int64_t const seed = 1234567890123;
    std::int32_t const offset = -5;
    auto const draw = [&](rewrite::DropoutMask joint, core::Dims const& dim, std::vector<void*> const& before = {}) {
        joint.seed = view({1, 1, 1, 1}, DataType_t::INT64);
        joint.offset = view({1, 1, 1, 1}, DataType_t::INT32);
        joint.mask = view(dim);
        joint.scale = view({1, 1, 1, 1});
        joint.inverse = view({1, 1, 1, 1});
        joint.probability = 0.25;
        joint.heads = kHeads, joint.queries = kQueries, joint.keys = kKeys;
        std::vector<float> mask(static_cast<std::size_t>(dim[0] * dim[1] * dim[2] * dim[3]), -9.0f), numbers(2);
        auto key = seed;
        auto counter = offset;
        std::vector<void*> pointers{&key, &counter, mask.data(), &numbers[0], &numbers[1]};
        pointers.insert(pointers.end(), before.begin(), before.end());
        run(joint, pointers);
        CHECK(numbers == std::vector<float>{static_cast<float>(1.0 / 0.75), 0.75f});
        return mask;
    };
    std::vector<float> const whole = draw({}, {2, kHeads, kQueries, kKeys});
    attention::PhiloxMask const expected(seed, offset, 0.75, kKeys);
    for (std::int64_t row = 0; row < 2 * kHeads * kQueries; ++row) {
        for (std::int64_t key = 0; key < kKeys; ++key) {
            REQUIRE(whole[static_cast<std::size_t>(row * kKeys + key)] == (expected.keeps(row, key) ? 1.0f : 0.0f));
        }
    }
    rewrite::DropoutMask part;
    part.first_head = 1, part.first_query = 3, part.first_key = 2;
    auto const check = [&](std::vector<float> const& found, auto const& first_query, auto const& first_key) {
        for (std::size_t i = 0; i < 2 * 2 * 4 * 7; ++i) {
            std::size_t const head = i / 28 % 2 + 1, batch = i / 56;
            auto const key = i % 7 + static_cast<std::size_t>(first_key[batch]);
            auto const query = i / 7 % 4 + static_cast<std::size_t>(first_query[batch]);
            CHECK(found[i] == whole[((batch * kHeads + head) * kQueries + query) * kKeys + key]);
        }
    };
    check(draw(part, {2, 2, 4, 7}), std::vector{3, 3}, std::vector{2, 2});

    // Documents start in places of their own.
    std::vector<std::int32_t> queries_before{3, 0}, keys_before{1, 3};
    part.first_query = part.first_key = 0;
    part.queries_before.emplace(view({2, 1, 1, 1}, DataType_t::INT32));
    part.keys_before.emplace(view({2, 1, 1, 1}, DataType_t::INT32));
    check(draw(part, {2, 2, 4, 7}, {queries_before.data(), keys_before.data()}), queries_before, keys_before);
}
