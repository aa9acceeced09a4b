// A dilated window on a CPU target at the distances where it changes from floating-point to integer division.
#include "support/catch.h"

#include <cudnn_frontend.h>
#include <cudnn_frontend/score_modifiers.h>

#include <cmath>
#include <map>

namespace fe = cudnn_frontend;

namespace {

constexpr std::int64_t kFurthest = std::int64_t{1} << 20, kWidth = 8;

// Results for scores that are all 0: Stats, which give the number of keys that each row keeps, and O for values of 1 on
// the grid and -1 elsewhere.
struct Kept {
    std::vector<float> stats, counts, o;
};

Kept kept(std::int64_t queries, std::int64_t keys, std::int32_t reach, std::int32_t step) {
    fe::graph::Graph graph;
    graph.set_io_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
    graph.set_intermediate_data_type(fe::DataType_t::FLOAT);
    auto const rows = [&](std::int64_t uid, std::int64_t count, std::int64_t width) {
        return graph.tensor(fe::graph::Tensor_attributes()
                                .set_uid(uid)
                                .set_dim({1, 1, count, width})
                                .set_stride({count * width, count * width, width, 1}));
    };
    auto const q = rows(1, queries, kWidth), k = rows(2, keys, kWidth), v = rows(3, keys, kWidth);
    auto const max = rows(6, queries, 1), sum = rows(7, queries, 1);
    for (auto const& result : {max, sum}) result->set_output(true);
    auto options = fe::graph::SDPA_attributes().set_generate_stats(true).set_logit_max(max).set_score_sum_exp(sum);
    options.set_score_mod(fe::graph::attn::score_modifiers::dilated_window(reach, step));
    auto [o, stats] = graph.sdpa(q, k, v, options);
    o->set_output(true).set_uid(4);
    stats->set_output(true).set_uid(5);
    REQUIRE(graph.build(fe::Target::cpu()).is_good());

    auto const zeros = [](std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count)); };
    auto of_queries = zeros(queries * kWidth), of_keys = zeros(keys * kWidth), values = of_keys,
         of_max = zeros(queries);
    for (std::int64_t i = 0; i < keys * kWidth; ++i)
        values[static_cast<std::size_t>(i)] = i / kWidth % step == 0 ? 1.0f : -1.0f;
    Kept result{zeros(queries), zeros(queries), zeros(queries * kWidth)};
    std::map<std::int64_t, void*> pack{{1, of_queries.data()},   {2, of_keys.data()},      {3, values.data()},
                                       {4, result.o.data()},     {5, result.stats.data()}, {6, of_max.data()},
                                       {7, result.counts.data()}};
    std::vector<std::byte> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    auto const error = graph.execute(nullptr, pack, workspace.data());
    INFO(error.err_msg);
    REQUIRE(error.is_good());
    return result;
}

}  // namespace

TEST_CASE("A dilated window keeps the multiples of its step alone at the furthest distances", "[modifiers]") {
    constexpr std::int32_t kStep = 3;
    for (std::int32_t const reach : {std::int32_t{kFurthest}, std::int32_t{kFurthest} + 5}) {
        CAPTURE(reach);
        Kept const after = kept(1, kFurthest + 9, reach, kStep);  // the keys after the one query
        CHECK(after.counts[0] == static_cast<float>((reach - 1) / kStep + 1));
        CHECK(after.o[0] == 1.0f);
        auto const stats = kept(kFurthest + 9, 1, reach, kStep).stats;  // the one key before the queries
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < kFurthest + 9; ++i) {
            bool const is_kept = i < reach && i % kStep == 0;
            wrong += std::isinf(stats[static_cast<std::size_t>(i)]) == is_kept ? 1 : 0;
        }
        CHECK(wrong == 0);
    }
}
