// Backward attention. Each gradient element is summed by one thread in a fixed order, so that results are the same for
// any number of threads: a pass assigns disjoint regions, and regions of different passes sum in the same order.
#include "cpu/attention/attention_backward.h"

#include "core/threads.h"
#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cudnn_frontend::cpu {
namespace {

// Keys, and for dBias queries, of a region where a pass splits them.
constexpr std::int64_t kSpan = 256;

BackwardRun make_backward(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads) {
    constexpr std::int64_t kMostQueries = 512;
    return {make_run(tensors, modifier,
                     {{Port::Q, Port::K, Port::V, Port::DO}, {Port::DQ, Port::DK, Port::DV}, kMostQueries}, threads)};
}

// Query heads that share key and value heads with no other query heads.
std::int64_t heads_of_unit(AttentionShape const& shape) {
    return shape.heads / std::gcd(shape.key_heads, shape.value_heads);
}
std::int64_t units(AttentionShape const& shape) { return shape.batches * shape.heads / heads_of_unit(shape); }

// A range split into pieces of a given size.
struct RangeCut {
    std::int64_t whole, piece;

    std::int64_t count() const { return (whole + piece - 1) / piece; }
    Range at(std::int64_t index) const { return {index * piece, std::min((index + 1) * piece, whole)}; }
};

// Disjoint regions, one task for each.
struct BackwardPass {
    WantedGradients wanted;
    RangeCut heads, queries, keys;

    std::int64_t tasks_of_batch() const { return heads.count() * queries.count() * keys.count(); }
    // The last queries and keys go first: under causal masks the queries' regions are the largest then.
    Region region(std::int64_t b, std::int64_t index) const {
        std::int64_t const query = queries.count() - 1 - index % queries.count();
        std::int64_t const key = index / queries.count() % keys.count();
        return {b, heads.at(index / queries.count() / keys.count()), queries.at(query), keys.at(key), wanted};
    }
};

struct BackwardPlan {
    BackwardPass queries;  // only dQ, or all three
    BackwardPass keys;     // dK and dV if separate
    BackwardPass bias;
};

bool any(WantedGradients const& wanted) { return wanted.d_q || wanted.d_k || wanted.d_v || wanted.d_bias; }

// One pass for all three computes 5 matrix products, but only units are independent; separate passes compute 3 and 4
// and spread over any number of threads.
bool takes_one_pass(AttentionShape const& shape, int threads) {
    std::int64_t const rounds = (units(shape) + threads - 1) / threads;
    return 5 * rounds * threads <= 7 * units(shape);
}

BackwardPlan make_plan(BackwardRun const& run, int threads) {
    AttentionTensors const& tensors = run.tensors;
    AttentionShape const& shape = run.shape;
    RangeCut const all_queries{shape.queries, shape.queries}, all_keys{shape.keys, shape.keys};
    RangeCut const by_unit{shape.heads, heads_of_unit(shape)}, by_head{shape.heads, 1};
    bool const d_q{tensors[Port::DQ]}, d_k{tensors[Port::DK]}, d_v{tensors[Port::DV]}, d_bias{tensors[Port::DBias]};

    BackwardPlan plan{};
    if (takes_one_pass(shape, threads)) {
        plan.queries = {{d_q, d_k, d_v, false}, by_unit, all_queries, all_keys};
    } else {
        plan.queries = {{d_q, false, false, false}, by_head, {shape.queries, run.block}, all_keys};
        plan.keys = {{false, d_k, d_v, false}, by_unit, all_queries, {shape.keys, kSpan}};
    }
    auto const& dim = tensors[Port::DBias].dim;
    plan.bias = {{false, false, false, d_bias},
                 dim[1] == 1 ? RangeCut{shape.heads, shape.heads} : by_head,
                 dim[2] == 1 ? all_queries : RangeCut{shape.queries, kSpan},
                 dim[3] == 1 ? all_keys : RangeCut{shape.keys, kSpan}};
    return plan;
}

void take_key_sums(BackwardRun const& run, BackwardPass const& pass, Arena& arena, BackwardScratch& scratch) {
    AttentionShape const& shape = run.shape;
    std::int64_t const keys = run.key_padded(std::min(pass.keys.piece, shape.keys));
    std::int64_t const heads = heads_of_unit(shape);
    if (pass.wanted.d_k) {
        std::int64_t const key_heads = heads / (shape.heads / shape.key_heads);
        scratch.d_k = arena.take<float>(saturating_multiply(key_heads, keys), run.lane_padded(shape.width));
    }
    if (pass.wanted.d_v) {
        std::int64_t const value_heads = heads / (shape.heads / shape.value_heads);
        scratch.d_v = arena.take<float>(saturating_multiply(value_heads, keys), run.lane_padded(shape.value_width));
    }
}

void take_bias_sum(BackwardRun const& run, BackwardPass const& pass, Arena& arena, BackwardScratch& scratch) {
    if (!pass.wanted.d_bias) return;
    auto const& dim = run.tensors[Port::DBias].dim;
    std::int64_t const queries = dim[2] == 1 ? 1 : kSpan, keys = dim[3] == 1 ? 1 : kSpan;
    scratch.d_bias = {arena.take<double>(keys, queries), dim[3] == 1 ? 0 : queries, dim[2] == 1 ? 0 : 1};
}

PairScratch take_pairs(BackwardRun const& run, Arena& arena) {
    std::int64_t const width = run.shape.width, value_width = run.shape.value_width, keys = run.tile.keys;
    auto const take = [&](std::int64_t rows, std::int64_t columns) { return arena.take<std::uint32_t>(rows, columns); };
    return {take(run.block, run.tile.pairs_of(width)),
            take(run.block, run.tile.pairs_of(value_width)),
            take(keys, run.tile.pairs_of(width)),
            take(keys, run.tile.pairs_of(value_width)),
            take(run.block / 2, run.lane_padded(width)),
            take(run.block / 2, run.lane_padded(value_width)),
            take(keys / 2, run.row_padded(width)),
            run.has_pair_blocks() ? take(PairBlocks::size(run.row_padded(width), keys / 2), 1) : nullptr,
            take(PairBlocks::size(keys, run.kept_pairs()), 1),
            take(PairBlocks::size(keys, run.kept_pairs()), 1),
            take(2 * (keys / 2), run.lanes())};
}

BackwardScratch take_scratch(BackwardRun const& run, BackwardPass const& pass, Arena& arena) {
    AttentionShape const& shape = run.shape;
    BackwardScratch scratch{};
    scratch.q_panels = arena.take<float>(run.block, shape.width);
    scratch.d_o_panels = arena.take<float>(run.block, shape.value_width);
    scratch.d_q_panels = arena.take<float>(run.block, run.row_padded(shape.width));
    scratch.q = arena.take<float>(run.block, run.lane_padded(shape.width));
    scratch.d_o = arena.take<float>(run.block, run.lane_padded(shape.value_width));
    scratch.o_panel = arena.take<float>(run.lanes(), shape.value_width);
    scratch.stats = arena.take<float>(run.block, 1);
    scratch.row_dots = arena.take<float>(run.block, 1);
    scratch.k_columns = arena.take<float>(run.tile.keys, shape.width);
    scratch.v_columns = arena.take<float>(run.tile.keys, shape.value_width);
    scratch.k = arena.take<float>(run.tile.keys, run.row_padded(shape.width));
    scratch.scores = arena.take<float>(run.tile.keys, run.lanes());
    scratch.gradients = arena.take<float>(run.tile.keys, run.lanes());
    scratch.spare = arena.take<float>(run.tile.keys, run.lanes());
    scratch.modifier = arena.take<std::byte>(run.modifier.scratch_bytes(run.lanes()), 1);
    scratch.hidden = arena.take<std::byte>(HiddenTiles::memory_bytes(run.modifier, run.block, run.lanes()), 1);
    if (run.pairs != nullptr) scratch.pairs = take_pairs(run, arena);
    take_key_sums(run, pass, arena, scratch);
    take_bias_sum(run, pass, arena, scratch);
    return scratch;
}

std::int64_t scratch_bytes(BackwardRun const& run, BackwardPass const& pass) {
    Arena arena(nullptr, 0);
    take_scratch(run, pass, arena);
    return arena.used();
}

// How many tasks the pass has.
std::int64_t tasks(BackwardRun const& run, BackwardPass const& pass) {
    if (!any(pass.wanted)) return 0;
    return pass.tasks_of_batch() * (pass.wanted.d_bias ? run.tensors[Port::DBias].dim[0] : run.shape.batches);
}

std::int64_t pass_bytes(BackwardRun const& run, BackwardPass const& pass, int threads) {
    std::int64_t const count = tasks(run, pass);
    return count == 0 ? 0 : saturating_multiply(std::min<std::int64_t>(threads, count), scratch_bytes(run, pass));
}

void run_pass(BackwardRun const& run, AttentionProblem const& problem, BackwardPass const& pass, int threads,
              void* workspace) {
    std::int64_t const count = tasks(run, pass);
    if (count == 0) return;
    std::int64_t const bytes = scratch_bytes(run, pass);
    core::parallel_for(threads, count, [&](int worker, std::int64_t index) {
        Arena arena(workspace, worker * bytes);
        BackwardScratch const scratch = take_scratch(run, pass, arena);
        std::int64_t const of_batch = pass.tasks_of_batch();
        walk_region(run, problem, pass.region(index / of_batch, index % of_batch), scratch);
    });
}

void store_bias_gradient(DataView const& d_bias, Region const& region, BiasSum const& sum) {
    Range const queries = d_bias.dim[2] == 1 ? Range{0, 1} : region.queries;
    Range const keys = d_bias.dim[3] == 1 ? Range{0, 1} : region.keys;
    for (std::int64_t i = queries.begin; i < queries.end; ++i) {
        for (std::int64_t j = keys.begin; j < keys.end; ++j) {
            double const value = sum.data[(j - keys.begin) * sum.key_step + (i - queries.begin) * sum.query_step];
            core::store(d_bias.type, d_bias.data, d_bias.at(region.b, region.heads.begin, i, j), value);
        }
    }
}

// A task sums one piece of dBias over all scores to which it is broadcast.
void run_bias_pass(BackwardRun const& run, AttentionProblem const& problem, BackwardPass const& pass, int threads,
                   void* workspace) {
    std::int64_t const count = tasks(run, pass);
    if (count == 0) return;
    DataView const& d_bias = run.tensors[Port::DBias];
    std::int64_t const bytes = scratch_bytes(run, pass);
    core::parallel_for(threads, count, [&](int worker, std::int64_t index) {
        Arena arena(workspace, worker * bytes);
        BackwardScratch const scratch = take_scratch(run, pass, arena);
        std::fill_n(scratch.d_bias.data, (d_bias.dim[2] == 1 ? 1 : kSpan) * (d_bias.dim[3] == 1 ? 1 : kSpan), 0.0);
        std::int64_t const of_batch = pass.tasks_of_batch(), b = index / of_batch;
        Range const batches = d_bias.dim[0] == 1 ? Range{0, run.shape.batches} : Range{b, b + 1};
        Region region = pass.region(b, index % of_batch);
        region.is_careful = true;  // the sum continues across regions, so none can be computed again
        for (region.b = batches.begin; region.b < batches.end; ++region.b) walk_region(run, problem, region, scratch);
        region.b = b;
        store_bias_gradient(d_bias, region, scratch.d_bias);
    });
}

}  // namespace

std::int64_t backward_workspace(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads) {
    threads = std::max(threads, 1);
    BackwardRun const run = make_backward(tensors, modifier, threads);
    BackwardPlan const plan = make_plan(run, threads);
    return Arena::workspace_bytes(std::max({pass_bytes(run, plan.queries, threads), pass_bytes(run, plan.keys, threads),
                                            pass_bytes(run, plan.bias, threads)}));
}

error_t attention_backward(AttentionWork work, int threads, void* workspace) {
    threads = std::max(threads, 1);
    AttentionTensors const& tensors = work.tensors;
    AttentionProblem const problem = make_problem(tensors, work.options, std::move(work.modifier));
    BackwardRun const run = make_backward(tensors, problem.modifier, threads);
    BackwardPlan const plan = make_plan(run, threads);
    int const used = std::min(threads, work.most_threads);
    run_pass(run, problem, plan.queries, used, workspace);
    run_pass(run, problem, plan.keys, used, workspace);
    run_bias_pass(run, problem, plan.bias, used, workspace);
    store_sink_gradients(run, problem, used);
    if (tensors[Port::RngDump] && problem.generator) dump_dropout_mask(problem, tensors[Port::RngDump], used);
    return {};
}

}  // namespace cudnn_frontend::cpu
