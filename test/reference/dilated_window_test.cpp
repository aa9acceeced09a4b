// A dilated window at distances where floating point is close to not knowing a multiple from its neighbours.
#include "support/catch.h"

#include <cudnn_frontend.h>
#include <cudnn_frontend/score_modifiers.h>

#include <cmath>
#include <map>

namespace fe = cudnn_frontend;

namespace {

constexpr std::int64_t kFurthest = std::int64_t{1} << 20, kWidth = 8;

// Stats, and how many keys each row keeps, of scores that are all 0.
struct Kept {
    std::vector<float> stats, counts;
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
    auto of_queries = zeros(queries * kWidth), of_keys = zeros(keys * kWidth), of_o = of_queries,
         of_max = zeros(queries);
    Kept result{zeros(queries), zeros(queries)};
    std::map<std::int64_t, void*> pack{{1, of_queries.data()},   {2, of_keys.data()},      {3, of_keys.data()},
                                       {4, of_o.data()},         {5, result.stats.data()}, {6, of_max.data()},
                                       {7, result.counts.data()}};
    std::vector<std::byte> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    auto const error = graph.execute(nullptr, pack, workspace.data());
    INFO(error.err_msg);
    REQUIRE(error.is_good());
    return result;
}

// Steps that floating point divides by, and the largest reach of which it does; then one that integers are divided for.
struct Window {
    std::int64_t rows;
    std::int32_t reach, step;
};
constexpr Window kWindows[] = {
    {kFurthest, 1 << 20, 3},       {kFurthest, 1 << 20, 7},           {kFurthest, 1 << 20, 1023},
    {kFurthest, 1 << 20, 1048575}, {kFurthest + 9, (1 << 20) + 5, 3},
};

}  // namespace

TEST_CASE("A dilated window keeps the multiples of its step alone, whatever the distance", "[modifiers]") {
    for (auto const& [rows, reach, step] : kWindows) {
        CAPTURE(reach, step);
        // The keys after the one query, then the one key before the queries.
        CHECK(kept(1, rows, reach, step).counts[0] == static_cast<float>((reach - 1) / step + 1));
        auto const stats = kept(rows, 1, reach, step).stats;
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            bool const is_kept = i < reach && i % step == 0;
            wrong += std::isinf(stats[static_cast<std::size_t>(i)]) == is_kept ? 1 : 0;
        }
        CHECK(wrong == 0);
    }
}
