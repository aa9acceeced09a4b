// The joint of the parts of programs on the CPU targets, where parts have no keys.
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
