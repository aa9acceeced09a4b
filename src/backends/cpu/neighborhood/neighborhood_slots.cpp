// Products and sums over the pairs of queries and keys whose numbers are in memory, a slot for each.
#include "cpu/neighborhood/neighborhood_passes.h"
#include "cpu/neighborhood/neighborhood_run.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

struct SlotScratch {
    SlotScratch(NeighborhoodRun const& run, Division const& division, Arena& arena)
        : panel(arena.take<float>(run.row_padded(run.width()), run.lanes())),
          query_rows(arena.take<float>(run.lanes(), run.lane_padded(run.width()))),
          key_columns(arena.take<float>(run.width(), kTileKeys)),
          key_rows(arena.take<float>(kTileKeys, run.lane_padded(run.width()))),
          tile(arena.take<float>(kTileKeys, run.lanes())),
          seen(arena.take<LaneMask>(division.greatest_extents(), 1)),
          d_bias(run.problem, arena) {}

    float *panel, *query_rows;      // width x lanes, lanes x width
    float *key_columns, *key_rows;  // width x keys, keys x width
    float* tile;
    LaneMask* seen;
    DistanceSums d_bias;
};

// Calls visit(keys, tile) for the tiles of keys that are visible to the block's queries.
template <class Visit>
void for_each_key_tile(TokenBlock const& block, QueryLanes const& lanes, LaneMask* memory, Visit visit) {
    Box const keys = block.group.keys_of(block.box);
    Visibility const visibility(block.group, lanes, keys, memory);
    for (std::int64_t key = 0; key < keys.count(); key += kTileKeys) {
        Tokens const tokens = tile_of(block, keys, key);
        VisibleKeys const tile = key_tile(tokens, visibility);
        if (tile.is_seen) visit(tokens, tile);
    }
}

struct SlotTask {
    NeighborhoodRun const& run;
    SlotPass const& pass;
    TokenBlock const& block;
    SlotScratch const& scratch;

    Tokens all() const { return {block, block.box, 0, block.box.count()}; }
};

void dot_pairs_of_block(SlotTask const& task, TokenView const& bias, float empty) {
    NeighborhoodRun const& run = task.run;
    TokenView const& slots = task.pass.slots;
    SlotScratch const& scratch = task.scratch;
    QueryLanes const lanes = lanes_of(task.block.group, task.block.box, 0, run.lanes());
    PairOffsets const in_slots = slot_offsets(slots, task.block, lanes);
    load_columns(task.pass.queries, task.all(), run.width(), scratch.panel, run.lanes());
    fill_empty_slots(slots, task.block, lanes, empty);
    for_each_key_tile(task.block, lanes, scratch.seen, [&](Tokens const& keys, VisibleKeys const& tile) {
        load_columns(task.pass.keys, keys, run.width(), scratch.key_columns, kTileKeys);
        multiply_columns(run, scratch.key_columns, scratch.panel, tile.count, scratch.tile);
        if (bias) add_pairs(bias, distance_offsets(bias, task.block, lanes), tile, run.lanes(), scratch.tile);
        store_pairs(scratch.tile, run.lanes(), slots, in_slots, tile);
    });
}

// Returns whether the sums have NaN.
bool sum_over_keys_of_block(SlotTask const& task, bool is_careful) {
    NeighborhoodRun const& run = task.run;
    SlotScratch const& scratch = task.scratch;
    std::int64_t const stride = run.row_padded(run.width()), elements = stride * run.lanes();
    QueryLanes const lanes = lanes_of(task.block.group, task.block.box, 0, run.lanes());
    PairOffsets const in_slots = slot_offsets(task.pass.slots, task.block, lanes);
    std::fill_n(scratch.panel, elements, 0.0f);
    for_each_key_tile(task.block, lanes, scratch.seen, [&](Tokens const& keys, VisibleKeys const& tile) {
        load_pairs(task.pass.slots, in_slots, tile, run.lanes(), scratch.tile);
        load_rows(task.pass.keys, keys, run.width(), scratch.key_rows, stride);
        add_rows_times_tile(run, scratch.key_rows, scratch.tile, tile.count, is_careful, scratch.panel);
    });
    return run.kernels.holds_nan(scratch.panel, elements);
}

bool sum_over_queries_of_block(SlotTask const& task, bool is_careful) {
    NeighborhoodRun const& run = task.run;
    SlotScratch const& scratch = task.scratch;
    std::int64_t const stride = run.lane_padded(run.width()), elements = kTileKeys * stride;
    Tokens const keys = task.all();
    Box const queries = task.block.group.queries_of(task.block.box);
    std::fill_n(scratch.key_rows, elements, 0.0f);
    for (std::int64_t query = 0; query < queries.count(); query += run.lanes()) {
        QueryLanes const lanes = lanes_of(task.block.group, queries, query, run.lanes());
        VisibleKeys const tile = key_tile(keys, Visibility(task.block.group, lanes, task.block.box, scratch.seen));
        if (!tile.is_seen) continue;
        load_pairs(task.pass.slots, slot_offsets(task.pass.slots, task.block, lanes), tile, run.lanes(), scratch.tile);
        load_rows(task.pass.queries, {task.block, queries, query, lanes.count}, run.width(), scratch.query_rows,
                  stride);
        add_tile_times_rows(run, scratch.tile, scratch.query_rows, keys.count, lanes.count, is_careful,
                            scratch.key_rows);
    }
    return run.kernels.holds_nan(scratch.key_rows, elements);
}

}  // namespace

void dot_pairs(SlotPass const& pass, TokenView const& bias, float empty, int threads, void* workspace) {
    NeighborhoodRun const run(pass.problem);
    for_each_block<SlotScratch>(run, run.blocks_of_queries(), threads, workspace, 0,
                                [&](TokenBlock const& block, SlotScratch const& scratch) {
                                    dot_pairs_of_block({run, pass, block, scratch}, bias, empty);
                                });
}

// NaN can come from 0 times infinity or NaN of a pair of a query and a key that is not visible to it. That is rare;
// only then are a block's sums computed again, skipping zeros, which leaves all others as they are.
void sum_over_keys(SlotPass const& pass, int threads, void* workspace) {
    NeighborhoodRun const run(pass.problem);
    for_each_block<SlotScratch>(run, run.blocks_of_queries(), threads, workspace, 0,
                                [&](TokenBlock const& block, SlotScratch const& scratch) {
                                    SlotTask const task{run, pass, block, scratch};
                                    if (sum_over_keys_of_block(task, false)) sum_over_keys_of_block(task, true);
                                    store_columns(scratch.panel, run.lanes(), pass.queries, task.all(), run.width());
                                });
}

void sum_over_queries(SlotPass const& pass, int threads, void* workspace) {
    NeighborhoodRun const run(pass.problem);
    for_each_block<SlotScratch>(
        run, run.blocks_of_keys(), threads, workspace, 0, [&](TokenBlock const& block, SlotScratch const& scratch) {
            SlotTask const task{run, pass, block, scratch};
            if (sum_over_queries_of_block(task, false)) sum_over_queries_of_block(task, true);
            store_rows(scratch.key_rows, run.lane_padded(run.width()), pass.keys, task.all(), run.width());
        });
}

void sum_over_pairs(SlotPass const& pass, int threads, void* workspace) {
    NeighborhoodRun const run(pass.problem);
    auto const sum_head = [&](std::int64_t h, SlotScratch scratch, auto const& blocks) {
        scratch.d_bias.clear();
        blocks([&](TokenBlock const& block) {
            QueryLanes const lanes = lanes_of(block.group, block.box, 0, run.lanes());
            PairOffsets const in_slots = slot_offsets(pass.slots, block, lanes);
            PairOffsets const in_sums = scratch.d_bias.offsets_of(block, lanes);
            for_each_key_tile(block, lanes, scratch.seen, [&](Tokens const&, VisibleKeys const& tile) {
                load_pairs(pass.slots, in_slots, tile, run.lanes(), scratch.tile);
                scratch.d_bias.add(scratch.tile, run.lanes(), tile, in_sums);
            });
        });
        scratch.d_bias.store(h);
    };
    for_each_head<SlotScratch>(run, run.blocks_of_queries(), threads, workspace, 0, sum_head);
}

std::int64_t slot_bytes(NeighborhoodProblem const& problem, int threads) {
    NeighborhoodRun const run(problem);
    return std::max(workers_bytes<SlotScratch>(run, run.blocks_of_queries(), threads),
                    workers_bytes<SlotScratch>(run, run.blocks_of_keys(), threads));
}

}  // namespace cudnn_frontend::cpu
