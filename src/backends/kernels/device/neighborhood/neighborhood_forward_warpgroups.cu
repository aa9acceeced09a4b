// Neighborhood attention, a block of two warpgroups for each tile of queries; tensors: Queries, Keys, Values, Output,
// Stats, which may be missing. Options define X, the type of the elements, and WARPGROUP_COLUMNS, their number rounded
// up.
#include <hopper/greatest_scores.cuh>
#include <neighborhood/neighborhood_warpgroups.cuh>

template <class Element, int COLUMNS>
struct WarpgroupKeyStages {
    // Queries are not in registers, where products could read them, too: ptxas of CUDA 13.0 then gives weights the same
    // registers.
    Panels<Element, kWarpgroupTileTokens, COLUMNS> queries;
    Panels<Element, kStagedKeys, COLUMNS> keys[kRowBuffers], values[kRowBuffers];
    Element const* rows[kTableBuffers][2][kStagedKeys];  // for keys and for values
    Element const* own_rows[kWarpgroupTileTokens];
    long long result_rows[2][kWarpgroupTileTokens];  // of output and Stats; below 0 past the last one
};

// Attention of the warpgroup's queries over the keys so far. Scores count in powers of 2. Weights are powers of the
// excess over a base, which follows the largest score only where weights could get large, since sums have to be scaled
// then.
template <class Element, int COLUMNS>
struct WarpgroupAttention {
    static constexpr float kMostAboveBase = 8;

    float scale;                                 // above 0
    float base[2] = {-infinity(), -infinity()};  // for each of the lane's rows
    float sum[2] = {};                           // of the lane's weights
    WarpgroupSums<Element, COLUMNS> output;

    void weigh(float (&scores)[8][4], Seen const& seen) {
        if (!seen.all) {
            for (int i = 0; i < 8; ++i) {
                for (int j = 0; j < 4; ++j) scores[i][j] = seen.has(i, j) ? scores[i][j] : -infinity();
            }
        }
        if (ballot(may_exceed(scores, scale, base, kMostAboveBase)) != 0) move_bases(scores);
        float bases[2];
        for (int half = 0; half < 2; ++half) bases[half] = base[half] == -infinity() ? 0.0f : base[half];
        for (auto& score : scores) {
            for (int j = 0; j < 4; ++j) score[j] = power_of_2(score[j] * scale - bases[j / 2]);
            sum[0] += score[0] + score[1];
            sum[1] += score[2] + score[3];
        }
    }

    void move_bases(float const (&scores)[8][4]) {
        float factors[2];
        for (int half = 0; half < 2; ++half) {
            float largest = -infinity();
            for (auto const& score : scores) largest = fmaxf(largest, fmaxf(score[2 * half], score[2 * half + 1]));
            largest = fmaxf(largest, from_lane_across(largest, 1));
            largest = scale * fmaxf(largest, from_lane_across(largest, 2));
            bool const moves = largest > base[half] + kMostAboveBase;
            factors[half] = moves ? power_of_2(base[half] - largest) : 1.0f;
            if (moves) base[half] = largest;
        }
        if (ballot(factors[0] != 1 || factors[1] != 1) == 0) return;
        for (int half = 0; half < 2; ++half) sum[half] *= factors[half];
        for (auto& panel : output.panels) {
            for (auto& columns : panel) {
                for (int j = 0; j < 4; ++j) columns[j] *= factors[j / 2];
            }
        }
    }

    // Adds up the sums of lanes with the same rows.
    void finish() {
        for (float& of_row : sum) {
            of_row += from_lane_across(of_row, 1);
            of_row += from_lane_across(of_row, 2);
        }
    }
};

// The offset from the first place of a box to the one of that number, or to the last one.
inline long long offset_in(TokenBox const& box, NeighborhoodAccess const& tensor, int number) {
    if (number >= box.count()) number = box.count() - 1;
    if (box.is_line()) return number * tensor.steps[kMostAxes - 1];
    return Tile::offset_from_first(tensor, place_in(box, number));
}

// Looks up, with all threads, where the tile's queries are and where output and Stats go. Rows past the last query
// repeat it.
template <class Element, int COLUMNS>
inline void look_up_own(NeighborhoodArguments const& arguments, Tile const& tile,
                        WarpgroupKeyStages<Element, COLUMNS>& shared) {
    int const row = static_cast<int>(threadIdx.x) % kWarpgroupTileTokens;
    bool is_there;
    Coordinates const place = tile.place_of(row, is_there);
    auto const offset = [&](NeighborhoodTensor tensor) { return tile.offset_of(arguments.tensors[tensor], place); };
    if (static_cast<int>(threadIdx.x) < kWarpgroupTileTokens) {
        shared.own_rows[row] = static_cast<Element const*>(arguments.tensors[NeighborhoodTensor::Queries].start) +
                               offset(NeighborhoodTensor::Queries);
        shared.result_rows[1][row] = is_there ? offset(NeighborhoodTensor::Stats) : -1;
    } else {
        shared.result_rows[0][row] = is_there ? offset(NeighborhoodTensor::Output) : -1;
    }
}

// Multiplies the tile's queries, of which this thread copied some, by the sign of the scale, so that a larger score
// means a larger weight. If the scale is 0, they become 0 and all weights are equal.
template <class Element, int COLUMNS>
inline void turn_queries(Panels<Element, kWarpgroupTileTokens, COLUMNS>& queries, float scale) {
    if (scale > 0) return;
    wait_for_copies();
    auto const turn = [&](unsigned two) { return scale < 0 ? two ^ 0x80008000 : 0; };
    for_each_own_piece<kWarpgroupTileTokens, kWarpgroupTileThreads>(
        queries, 0, threadIdx.x, [&](unsigned, unsigned, unsigned, Element* piece) {
            uint4& four = *reinterpret_cast<uint4*>(piece);
            four = {turn(four.x), turn(four.y), turn(four.z), turn(four.w)};
        });
}

// Calls use(stage, first) for all keys that are visible to the tile's queries: 64 of a stage, which is in shared
// memory, from the row `first` on.
template <class Element, int COLUMNS, class Use>
inline void for_each_warpgroup_key_stage(NeighborhoodArguments const& arguments, Tile const& tile, TokenBox const& box,
                                         WarpgroupKeyStages<Element, COLUMNS>& shared, Use const& use) {
    int const thread = threadIdx.x, row = thread % kStagedKeys, which = thread / kStagedKeys;
    static_assert(kWarpgroupTileThreads == 2 * kStagedKeys);
    NeighborhoodAccess const& tensor =
        arguments.tensors[which == 0 ? NeighborhoodTensor::Keys : NeighborhoodTensor::Values];
    Element const* const first_row = static_cast<Element const*>(tensor.start) + tile.offset_of(tensor, box.first);
    auto const look_up = [&](int stage) {
        shared.rows[stage % kTableBuffers][which][row] = first_row + offset_in(box, tensor, stage * kStagedKeys + row);
    };
    auto const start_copies = [&](int stage) {
        auto const& rows = shared.rows[stage % kTableBuffers];
        auto const number = static_cast<unsigned>(computed_here(thread));
        stage_rows<kStagedKeys, kWarpgroupTileThreads>(shared.keys[stage % kRowBuffers], 0, number, rows[0],
                                                       arguments.columns);
        stage_rows<kStagedKeys, kWarpgroupTileThreads>(shared.values[stage % kRowBuffers], 0, number, rows[1],
                                                       arguments.columns);
        if (stage > 0) return;
        stage_rows<kWarpgroupTileTokens, kWarpgroupTileThreads>(shared.queries, 0, number, shared.own_rows,
                                                                arguments.columns);
        turn_queries(shared.queries, arguments.scale);
    };
    look_up_own(arguments, tile, shared);
    for_each_stage<kStagedKeys>(box.count(), look_up, start_copies, wait_for_rows, [&](int stage) {
#pragma unroll
        for (int first = 0; first < kStagedKeys; first += kWarpgroupRows) use(stage, first);
    });
}

template <class Element, int COLUMNS>
inline void neighborhood_forward_warpgroups(NeighborhoodArguments const& arguments) {
    using Stages = WarpgroupKeyStages<Element, COLUMNS>;
    static_assert(sizeof(Stages) == warpgroup_shared_bytes(COLUMNS, false));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Stages& shared = *reinterpret_cast<Stages*>(shared_memory);
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    NeighborhoodAccess const* const tensors = arguments.tensors;
    auto const visible_to = [&](TokenBox const& queries) { return tile.keys_of(queries); };
    TokenBox const all = visible_to(tile.tokens());
    WarpgroupRows<VisiblePlaces> rows(tile, all, visible_to, {});
    WarpgroupAttention<Element, COLUMNS> attention{arguments.scale == 0 ? 1.0f : fabsf(arguments.scale) * kLog2OfE};
    for_each_warpgroup_key_stage<Element, COLUMNS>(arguments, tile, all, shared, [&](int stage, int first) {
        int const part = (stage * kStagedKeys + first) / kWarpgroupRows;
        if (!rows.have_visible(part)) return;
        float scores[8][4];
        begin_products();
        start_products_of_rows(scores, shared.queries, warpgroup_index() * kWarpgroupRows,
                               shared.keys[stage % kRowBuffers], first);
        end_products();
        Seen const seen = rows.seen(part);
        wait_for_products<0>();
        hold(scores);
        attention.weigh(scores, seen);
        Weights const weights(scores, Element());
        attention.output.hold_all();
        begin_products();
        attention.output.start_adding(weights, shared.values[stage % kRowBuffers], first);
        end_products();
        wait_for_products<0>();
        attention.output.hold_all();
    });
    attention.finish();
    __syncthreads();
    attention.output.store(tensors[NeighborhoodTensor::Output], shared.result_rows[0], arguments.columns,
                           {inverse_of_sum(attention.sum[0]), inverse_of_sum(attention.sum[1])}, shared.queries);
    if (tensors[NeighborhoodTensor::Stats].start == nullptr || lane_index() % 4 != 0) return;
    for (int half = 0; half < 2; ++half) {
        long long const row = shared.result_rows[1][first_row_of_warp() + lane_index() / 4 + 8 * half];
        if (row < 0) continue;
        static_cast<float*>(tensors[NeighborhoodTensor::Stats].start)[row] =
            kLnOf2 * (attention.base[half] + log2f(attention.sum[half]));
    }
}

constexpr int kForwardBlocks = WARPGROUP_COLUMNS <= 64 ? 2 : 1;  // on a multiprocessor, at least

extern "C" __global__ void __launch_bounds__(kWarpgroupTileThreads, kForwardBlocks)
    neighborhood_forward_warpgroups(__grid_constant__ NeighborhoodArguments const arguments) {
    neighborhood_forward_warpgroups<X, WARPGROUP_COLUMNS>(arguments);
}
