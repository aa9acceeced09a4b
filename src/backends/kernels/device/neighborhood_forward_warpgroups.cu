// Neighborhood attention, a block of two warpgroups for each tile of queries; tensors: Queries, Keys, Values, Output,
// Stats, which may be missing. Options define X, the type of the elements, and GROUP_COLUMNS, their number rounded up.
#include <neighborhood_warpgroups.cuh>

constexpr int kForwardTokens = kGroups * kGroupRows;

template <class Element, int COLUMNS>
struct GroupKeyStages {
    // Not in registers, where products could read them, too: ptxas of CUDA 13.0 then gives theirs to weights.
    Panels<Element, kForwardTokens, COLUMNS> queries;
    Panels<Element, kGroupRows, COLUMNS> keys[2], values[2];
    Element const* rows[3][2][kGroupRows];  // of keys and values; null past the last one
    Element const* own_rows[1][kForwardTokens];
};

// Attention of the warpgroup's queries over the keys so far.
template <class Element, int COLUMNS>
struct GroupAttention {
    float scale;                                    // of scores, which then count in powers of 2; above 0
    float largest[2] = {-infinity(), -infinity()};  // score of each of the lane's rows
    float sum[2] = {};                              // of the lane's weights
    GroupSums<Element, COLUMNS> output;

    // Scores become weights, and what was summed before is scaled to the new largest score.
    void weigh(float (&scores)[8][4], Seen const& seen) {
        if (!seen.all) {
            for (int i = 0; i < 8; ++i) {
                for (int j = 0; j < 4; ++j) scores[i][j] = seen.has(i, j) ? scores[i][j] : -infinity();
            }
        }
        float factors[2], bases[2];
        for (int half = 0; half < 2; ++half) {
            float found = largest[half];
            for (auto const& score : scores) found = fmaxf(found, fmaxf(score[2 * half], score[2 * half + 1]));
            found = fmaxf(found, from_lane_across(found, 1));
            found = fmaxf(found, from_lane_across(found, 2));
            bases[half] = found == -infinity() ? 0.0f : found * scale;
            factors[half] = power_of_2(largest[half] * scale - bases[half]);
            largest[half] = found;
            sum[half] *= factors[half];
        }
        if (ballot(factors[0] != 1 || factors[1] != 1) != 0) {
            for (auto& panel : output.panels) {
                for (auto& columns : panel) {
                    for (int j = 0; j < 4; ++j) columns[j] *= factors[j / 2];
                }
            }
        }
        for (auto& score : scores) {
            for (int j = 0; j < 4; ++j) {
                score[j] = power_of_2(score[j] * scale - bases[j / 2]);
                sum[j / 2] += score[j];
            }
        }
    }

    // Adds up what lanes with the same rows have.
    void finish() {
        for (float& of_row : sum) {
            of_row += from_lane_across(of_row, 1);
            of_row += from_lane_across(of_row, 2);
        }
    }
};

// Copies the tile's queries, multiplied by the sign of the scale, so that a larger score stands for a larger weight;
// with 0 in place of them all weights are equal.
template <class Element, int COLUMNS>
inline void copy_queries(NeighborhoodArguments const& arguments, Tile const& tile,
                         GroupKeyStages<Element, COLUMNS>& shared) {
    constexpr int kPieces = COLUMNS / 8, kRowsAtOnce = kGroupTileThreads / kPieces;
    constexpr unsigned kSigns = 0x80008000;
    look_up_own(arguments, tile, shared.own_rows, kQueries);
    __syncthreads();
    int const first = static_cast<int>(threadIdx.x) / kPieces, column = static_cast<int>(threadIdx.x) % kPieces * 8;
    bool const is_there = column < arguments.columns && arguments.scale != 0;
    unsigned const turned = arguments.scale < 0 ? kSigns : 0;
#pragma unroll
    for (int row = 0; row < kForwardTokens; row += kRowsAtOnce) {
        uint4 piece{};
        if (is_there) piece = *reinterpret_cast<uint4 const*>(shared.own_rows[0][first + row] + column);
        *reinterpret_cast<uint4*>(shared.queries.piece(first + row, column)) = {piece.x ^ turned, piece.y ^ turned,
                                                                                piece.z ^ turned, piece.w ^ turned};
    }
    show_to_products();
}

// Calls use(stage) for all keys that the tile's queries see, and which are then in shared memory.
template <class Element, int COLUMNS, class Use>
inline void for_each_group_key_stage(NeighborhoodArguments const& arguments, Tile const& tile, Box const& box,
                                     GroupKeyStages<Element, COLUMNS>& shared, Use const& use) {
    int const thread = threadIdx.x, row = thread % kGroupRows, which = thread / kGroupRows % 2;
    NeighborhoodAccess const& tensor = arguments.tensors[which == 0 ? kKeys : kValues];
    Element const* const first = static_cast<Element const*>(tensor.start) + tile.offset_of(tensor, box.first);
    auto const look_up = [&](int stage) {
        if (thread >= 2 * kGroupRows) return;
        int const number = stage * kGroupRows + row;
        shared.rows[stage % 3][which][row] =
            number < box.count() ? first + Tile::offset_from_first(tensor, place_in(box, number)) : nullptr;
    };
    auto const start_copies = [&](int stage) {
        auto const& rows = shared.rows[stage % 3];
        stage_rows<kGroupTileThreads>(thread, shared.keys[stage % 2], rows[0], arguments.columns);
        stage_rows<kGroupTileThreads>(thread, shared.values[stage % 2], rows[1], arguments.columns);
    };
    for_each_stage<kGroupRows>(box.count(), look_up, start_copies, wait_for_rows, use);
}

template <class Element, int COLUMNS>
inline void neighborhood_forward_warpgroups(NeighborhoodArguments const& arguments) {
    using Stages = GroupKeyStages<Element, COLUMNS>;
    static_assert(sizeof(Stages) == group_shared_bytes(COLUMNS, false));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Stages& shared = *reinterpret_cast<Stages*>(shared_memory);
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    NeighborhoodAccess const* const tensors = arguments.tensors;
    int const first_row = group_index() * kGroupRows;
    auto const met_by = [&](Box const& queries) { return tile.keys_of(queries); };
    GroupRows<1, decltype(met_by)> rows(tile, met_by, first_row);
    GroupAttention<Element, COLUMNS> attention{arguments.scale == 0 ? 1.0f : fabsf(arguments.scale) * kLog2OfE};
    copy_queries(arguments, tile, shared);
    for_each_group_key_stage<Element, COLUMNS>(arguments, tile, rows.all(), shared, [&](int stage) {
        if (!rows.meet(0, stage)) return;
        float scores[8][4];
        begin_products();
        start_products_of_rows(scores, shared.queries, first_row, shared.keys[stage % 2]);
        end_products();
        rows.look_at(stage);
        Seen const seen = rows.seen(0);
        wait_for_products<0>();
        hold(scores);
        attention.weigh(scores, seen);
        Weights const weights(scores, Element());
        begin_products();
        attention.output.start_adding(weights, shared.values[stage % 2]);
        end_products();
        wait_for_products<0>();
        attention.output.finish();
    });
    attention.finish();
    for (int half = 0; half < 2; ++half) {
        bool is_there;
        Coordinates const place = place_of_half(tile, first_row, half, is_there);
        if (!is_there) continue;
        attention.output.store(tensors[kOutput], half, tile.offset_of(tensors[kOutput], place), arguments.columns,
                               inverse_of_sum(attention.sum[half]));
        if (tensors[kStats].start == nullptr || lane_index() % 4 != 0) continue;
        static_cast<float*>(tensors[kStats].start)[tile.offset_of(tensors[kStats], place)] =
            kLnOf2 * (attention.largest[half] * attention.scale + log2f(attention.sum[half]));
    }
}

constexpr int kForwardBlocks = GROUP_COLUMNS <= 64 ? 2 : 1;  // of a multiprocessor, at least

extern "C" __global__ void __launch_bounds__(kGroupTileThreads, kForwardBlocks)
    neighborhood_forward_warpgroups(__grid_constant__ NeighborhoodArguments const arguments) {
    neighborhood_forward_warpgroups<X, GROUP_COLUMNS>(arguments);
}
