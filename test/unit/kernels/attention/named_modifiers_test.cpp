// The score modifiers of support/modifiers by the kernels of attention, on the host.
#include "host_attention.h"
#include "support/catch.h"
#include "support/modifiers/modifier_problem.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace sdpa_test;

namespace {

namespace kernels = cudnn_frontend::kernels;

cudnn_frontend::error_t run_on_kernels(cudnn_frontend::graph::Graph& graph, ModifierProblem const& problem) {
    return run_on_host(graph, kernels::AttentionOffer::Alone,
                       [&](std::int64_t uid) { return problem.tensor(uid).data(); });
}

void check_modifier(NamedModifier const& modifier, ModifierSizes const& sizes) {
    INFO(modifier.name);
    auto const [forward, backward] =
        compare_with_reference(modifier, DataType_t::BFLOAT16, sizes, RunModifier(run_on_kernels));
    CHECK(forward.failure == "");
    CHECK(forward.error < kRoundedModifierError);
    CHECK(backward.failure == "");
    CHECK(backward.error < kRoundedModifierError);
}

// Masks whose hidden blocks do not follow from bounds: a remainder or a table decides.
struct ScatteredMask {
    char const* name;
    bool (*shows)(std::int64_t query, std::int64_t key);
};
constexpr ScatteredMask kScattered[] = {
    {"causal chunks", [](std::int64_t query, std::int64_t key) { return key <= query && key / 16 == query / 16; }},
    {"neighbors in an image",
     [](std::int64_t query, std::int64_t key) {
         return std::abs(query % 8 - key % 8) <= 2 && std::abs(query / 8 - key / 8) <= 2;
     }},
    {"tree by a table",
     [](std::int64_t query, std::int64_t key) {
         while (query > key) query = (query - 1) / 2;
         return query == key;
     }},
};

NamedModifier const& named(char const* name) {
    return *std::ranges::find(named_modifiers(), std::string(name), &NamedModifier::name);
}

// The text that found_blocks() should give where tiles and blocks have so many rows.
std::string blocks_of(ScatteredMask const& mask, ModifierSizes const& sizes, std::int64_t tile_rows,
                      std::int64_t block_rows, bool has_tiles_of_keys) {
    std::int64_t const rows = has_tiles_of_keys ? sizes.keys : sizes.queries;
    std::int64_t const other_rows = has_tiles_of_keys ? sizes.queries : sizes.keys;
    std::string text;
    for (std::int64_t tile = 0; tile < rows; tile += tile_rows) {
        for (std::int64_t block = 0; block < other_rows; block += block_rows) {
            bool shows_any = false, shows_all = true;
            for (std::int64_t row = tile; row < std::min(tile + tile_rows, rows); ++row) {
                for (std::int64_t other = block; other < std::min(block + block_rows, other_rows); ++other) {
                    bool const shows = has_tiles_of_keys ? mask.shows(other, row) : mask.shows(row, other);
                    shows_any = shows_any || shows;
                    shows_all = shows_all && shows;
                }
            }
            text += !shows_any ? '.' : shows_all ? '#' : '+';
        }
        text += '\n';
    }
    return text;
}

std::string found_blocks(cudnn_frontend::graph::Graph& graph, std::function<void*(std::int64_t)> const& address) {
    std::string text;
    auto const find = [&](kernels::AttentionKernelProblem const& problem, kernels::Pointers pointers) {
        find_hidden_blocks(problem, pointers);
        text = text_of_blocks(problem, pointers);
    };
    auto const error = visit_problem(graph, kernels::AttentionOffer::Alone, address, find);
    return error.is_good() ? text : error.get_message();
}

// The code of the last kernel that looks for hidden blocks, for a graph of 8 heads for each batch.
kernels::CodeName code_of_blocks(ScatteredMask const& mask, std::int64_t batches) {
    ModifierProblem problem(&named(mask.name), DataType_t::BFLOAT16,
                            {.batches = batches, .heads = 8, .queries = 64, .keys = 64, .columns = 64});
    auto graph = problem.forward();
    kernels::CodeName code;
    auto const find = [&](kernels::AttentionKernelProblem const& read, kernels::Pointers) {
        REQUIRE(kernels::looks_at_scores(read) == (batches == 2));
        code = batches == 2 ? code_of(read, kernels::AttentionWork::BlockScores)
                            : code_of(read, kernels::AttentionWork::BlockBits);
    };
    auto const address = [&](std::int64_t uid) { return problem.tensor(uid).data(); };
    REQUIRE(visit_problem(graph, kernels::AttentionOffer::Alone, address, find).is_good());
    return code;
}

}  // namespace

TEST_CASE("blocks that a mask hides are found where only a look at their scores shows it") {
    ModifierSizes const sizes{.batches = 2, .heads = 8, .queries = 500, .keys = 700, .columns = 64};
    for (ScatteredMask const& mask : kScattered) {
        INFO(mask.name);
        ModifierProblem problem(&named(mask.name), DataType_t::BFLOAT16, sizes);
        auto const address = [&](std::int64_t uid) { return problem.tensor(uid).data(); };
        auto forward = problem.forward(), backward = problem.backward();
        std::string const of_queries = blocks_of(mask, sizes, 128, 128, false);
        std::string const of_keys = blocks_of(mask, sizes, 128, 64, true);
        CHECK(found_blocks(forward, address) == of_queries);
        CHECK(found_blocks(backward, address) == of_keys);
        CHECK(std::ranges::count(of_queries, '.') > 6);
    }
}

TEST_CASE("graphs share the code that finds blocks, whether or not it looks at scores") {
    if (kernels::check_compiler().is_bad()) return;
    for (ScatteredMask const& mask : kScattered) {
        INFO(mask.name);
        kernels::CodeName const of_few = code_of_blocks(mask, 1), of_many = code_of_blocks(mask, 2);
        REQUIRE(of_few.text() == of_many.text());
        auto const code = kernels::find_code(of_few);
        REQUIRE(code.error().get_message() == "");
        CHECK(code.value()->name().functions == of_many.functions);
    }
}

TEST_CASE("attention by warpgroups is right where a look at scores found blocks hidden") {
    for (ScatteredMask const& mask : kScattered) {
        check_modifier(named(mask.name),
                       {.batches = 1, .heads = 16, .key_heads = 8, .queries = 260, .keys = 200, .columns = 64});
    }
}

TEST_CASE("attention by warpgroups runs every named modifier, forward and backward") {
    ModifierSizes const sizes{.heads = 2, .key_heads = 1, .queries = 140, .keys = 200, .columns = 64};
    for (NamedModifier const& modifier : named_modifiers()) check_modifier(modifier, sizes);
}

TEST_CASE("terms of the distance are right with every number of columns, forward and backward") {
    // Blocks have rows behind both tensors.
    ModifierSizes sizes{.batches = 1, .heads = 2, .key_heads = 1, .queries = 100, .keys = 100, .columns = 64};
    for (NamedModifier const& modifier : distance_modifiers()) check_modifier(modifier, sizes);
    for (auto const& [columns, value_columns] : {std::pair{128, 128}, {192, 128}, {256, 256}}) {
        INFO(columns << " columns");
        sizes.columns = columns;
        sizes.value_columns = value_columns;
        for (NamedModifier const& modifier : distance_modifiers()) check_modifier(modifier, sizes);
    }
}

TEST_CASE("terms of the distance are right next to a bias of 2 bytes, forward and backward") {
    ModifierSizes const sizes{.batches = 1, .heads = 2, .queries = 100, .keys = 136, .columns = 64, .has_bias = true};
    for (NamedModifier const& modifier : distance_modifiers()) check_modifier(modifier, sizes);
}

TEST_CASE("terms of the distance are computed for the blocks of scores that the modifier changes") {
    // The first two of four blocks of keys are a prefix, and so are the first two tiles of keys of gradients.
    ModifierSizes const sizes{.batches = 1, .heads = 1, .key_heads = 1, .queries = 200, .keys = 512, .columns = 64};
    check_modifier(modifier_behind_prefix(), sizes);
    std::vector<std::int64_t> counts;
    ModifierProblem problem(&modifier_behind_prefix(), DataType_t::BFLOAT16, sizes);
    for (auto graph : {problem.forward(), problem.backward()}) {
        std::int64_t const before = distances_until_now();
        CHECK(run_on_kernels(graph, problem).get_message() == "");
        counts.push_back(distances_until_now() - before);
    }
    constexpr std::int64_t kWarps = 8, kTilesOfQueries = 2, kBlocksOfKeys = 2, kTilesOfKeys = 2, kBlocksOfQueries = 4;
    CHECK(counts[0] == kTilesOfQueries * kBlocksOfKeys * kWarps * (16 + 128 - 1));
    CHECK(counts[1] == kTilesOfKeys * kBlocksOfQueries * kWarps * (16 + 64 - 1));
}
