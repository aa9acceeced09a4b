#include "kernels/attention/attention_costs.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::kernels {
namespace {

std::string name_of(int columns, char const* pass) { return std::to_string(columns) + "_" + pass; }

std::string name_of_rates(AttentionKernelProblem const& problem) {
    char const* const pass = !problem.is_backward ? "forward" : problem.is_deterministic ? "deterministic" : "backward";
    return name_of(class_of(problem)->columns, pass);
}

// The number of blocks of the tile whose first row that is: of queries in forward, of keys in gradients.
std::int64_t blocks_of_tile(AttentionKernelProblem const& problem, std::int64_t first, TileSizes const& sizes) {
    std::int64_t const diagonal = problem.is_bottom_right ? problem.keys() - problem.queries() : 0;
    if (!problem.is_backward) {
        std::int64_t const last = std::min(first + sizes.rows, problem.queries()) - 1;
        std::int64_t const end = problem.right ? last + diagonal + 1 : problem.keys();
        return tiles_of(std::clamp<std::int64_t>(end, 0, problem.keys()), sizes.rows_of_block);
    }
    std::int64_t const begin = problem.right ? std::clamp<std::int64_t>(first - diagonal, 0, problem.queries()) : 0;
    return tiles_of(problem.queries(), sizes.rows_of_block) - begin / sizes.rows_of_block;
}

}  // namespace

std::vector<std::string> names_of_attention_rates() {
    std::vector<std::string> names;
    for (AttentionClass const& of_columns : kAttentionClasses) {
        for (char const* const pass : {"forward", "backward", "deterministic"})
            names.push_back(name_of(of_columns.columns, pass));
    }
    return names;
}

// Forward without a mask runs in whole rounds of tiles, one for each multiprocessor. Otherwise the work counts as
// spread evenly over the multiprocessors.
std::optional<double> attention_cost(AttentionKernelProblem const& problem, AttentionRates const& rates, double start,
                                     int multiprocessors) {
    if (!is_fast_and_plain(problem)) return {};
    auto const measured = rates.find(name_of_rates(problem));
    if (measured == rates.end()) return {};
    TileSizes const sizes = tile_sizes(problem);
    std::int64_t const heads = problem.is_backward ? problem.all_key_heads() : problem.all_heads();
    std::int64_t const sharing = problem.is_backward ? problem.heads_of_key_head() : 1;
    std::int64_t tiles = 0, blocks = 0;  // of a head
    for (std::int64_t first = 0; first < rows_of_tiles(problem); first += sizes.rows, ++tiles)
        blocks += sharing * blocks_of_tile(problem, first, sizes);
    auto const [block, extra] = measured->second;
    double const mean_of_tile = block * static_cast<double>(blocks) / static_cast<double>(tiles) + extra;
    double const rounds = static_cast<double>(tiles * heads) / multiprocessors;
    bool const runs_in_rounds = !problem.is_backward && !problem.right;
    return static_cast<double>(works_of(problem).size()) * start +
           (runs_in_rounds ? std::ceil(rounds) : rounds) * mean_of_tile;
}

}  // namespace cudnn_frontend::kernels
