// Neighborhood attention, a block for each tile of queries; tensors: Queries, Keys, Values, Bias, Output, Stats, of
// which Bias and Stats may be missing. Options define X, the type of the elements, and TILE_COLUMNS, their number
// rounded up.
#include <neighborhood_tiles.cuh>

// Attention of the warp's queries over the keys so far. Scores count in powers of 2.
template <class Element, int COLUMNS>
struct Attention {
    static constexpr int kKeys = KeyStages<Element, COLUMNS>::kRows;

    float largest[2] = {-infinity(), -infinity()};  // of each of the lane's rows
    float sum[2] = {};                              // of the lane's weights
    RowSums<Element, COLUMNS> output;

    // Scores become weights, and what was summed before is scaled to the new largest score.
    void weigh(float (&scores)[kKeys / 8][4]) {
        float factors[2], bases[2];
        for (int half = 0; half < 2; ++half) {
            float found = largest[half];
            for (auto const& score : scores) found = fmaxf(found, fmaxf(score[2 * half], score[2 * half + 1]));
            found = fmaxf(found, from_lane_across(found, 1));
            found = fmaxf(found, from_lane_across(found, 2));
            bases[half] = found == -infinity() ? 0.0f : found;
            factors[half] = power_of_2(largest[half] - bases[half]);
            largest[half] = found;
        }
        if (ballot(factors[0] != 1 || factors[1] != 1) != 0) {
            for (auto& columns : output.sums) {
                for (int i = 0; i < 4; ++i) columns[i] *= factors[i / 2];
            }
        }
        for (int half = 0; half < 2; ++half) sum[half] *= factors[half];
        for (auto& score : scores) {
            for (int i = 0; i < 4; ++i) {
                score[i] = power_of_2(score[i] - bases[i / 2]);
                sum[i / 2] += score[i];
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

template <class Element, int COLUMNS>
inline void neighborhood_forward_tiles(NeighborhoodArguments const& arguments) {
    using Stages = KeyStages<Element, COLUMNS>;
    constexpr int kKeys = Stages::kRows;
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    NeighborhoodAccess const* const tensors = arguments.tensors;
    unsigned const guards = arguments.tiles.guards;
    QueryRows const rows(tile, arguments.tiles);
    float const scale = arguments.scale * kLog2OfE;
    bool const has_bias = tensors[kBias].start != nullptr;
    int const bias_before[2] = {static_cast<int>(tile.bias_before(rows.places[0])),
                                static_cast<int>(tile.bias_before(rows.places[1]))};
    RowsInRegisters<Element, COLUMNS> queries;
    queries.load(tensors[kQueries],
                 {tile.offset_of(tensors[kQueries], rows.places[0]), tile.offset_of(tensors[kQueries], rows.places[1])},
                 arguments.columns);
    Attention<Element, COLUMNS> attention;

    auto const score_group = [&](float(&scores)[2][4], bool all_see, int first, typename Stages::Table const& table) {
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 4; ++j) {
                int const key = first + 8 * i + 2 * (lane_index() % 4) + j % 2;
                scores[i][j] *= scale;
                if (!all_see && !has(rows.keys[j / 2], table.places[key], guards)) {
                    scores[i][j] = -infinity();
                } else if (has_bias) {
                    Element const* const bias = static_cast<Element const*>(tensors[kBias].start);
                    scores[i][j] += kLog2OfE * to_float(bias[table.biases[key] - bias_before[j / 2]]);
                }
            }
        }
    };
    for_each_key_stage<Element, COLUMNS>(
        arguments, tile,
        [&](Row<Element, COLUMNS> const* keys, Row<Element, COLUMNS> const* values,
            typename Stages::Table const& table) {
            Meeting meetings[kKeys / 32];
            for (int i = 0; i < kKeys / 32; ++i) meetings[i] = rows.meeting(table.places + 32 * i, guards);
            float scores[kKeys / 8][4];
#pragma unroll
            for (int group = 0; group < kKeys / 16; ++group) {
                auto& of_group = reinterpret_cast<float(&)[2][4]>(scores[2 * group]);
                if (meetings[group / 2].any_of(group % 2)) {
                    multiply_by_rows<COLUMNS, 2, Element>(of_group, queries, keys + 16 * group);
                    score_group(of_group, meetings[group / 2].all_of(group % 2), 16 * group, table);
                } else {
                    for (int i = 0; i < 8; ++i) of_group[i / 4][i % 4] = -infinity();
                }
            }
            attention.weigh(scores);
#pragma unroll
            for (int group = 0; group < kKeys / 16; ++group) {
                if (!meetings[group / 2].any_of(group % 2)) continue;
                attention.output.add(weights_of<Element>(scores[2 * group], scores[2 * group + 1]),
                                     values + 16 * group);
            }
        });
    attention.finish();
    for (int half = 0; half < 2; ++half) {
        if (!rows.is_there[half]) continue;
        attention.output.store(tensors[kOutput], half, tile.offset_of(tensors[kOutput], rows.places[half]),
                               arguments.columns, 1 / attention.sum[half]);
        if (tensors[kStats].start == nullptr || lane_index() % 4 != 0) continue;
        static_cast<float*>(tensors[kStats].start)[tile.offset_of(tensors[kStats], rows.places[half])] =
            kLnOf2 * (attention.largest[half] + log2f(attention.sum[half]));
    }
}

extern "C" __global__ void __launch_bounds__(kTileThreads, 2)
    neighborhood_forward_tiles(__grid_constant__ NeighborhoodArguments const arguments) {
    neighborhood_forward_tiles<X, TILE_COLUMNS>(arguments);
}
