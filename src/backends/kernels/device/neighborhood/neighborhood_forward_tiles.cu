// Neighborhood attention, a block for each tile of queries; tensors: Queries, Keys, Values, Bias, Output, Stats, of
// which Bias and Stats may be missing. Options define X, the type of the elements, and TILE_COLUMNS, their number
// rounded up.
#include <neighborhood/neighborhood_warps.cuh>

// Attention of the warp's queries over the keys so far. Scores count in powers of 2.
template <class Element, int COLUMNS>
struct TileAttention {
    static constexpr int kKeys = KeyStages<Element, COLUMNS>::kRows;

    float largest[2] = {-infinity(), -infinity()};  // for each of the lane's rows
    float sum[2] = {};                              // of the lane's weights
    RowSums<Element, COLUMNS> output;

    // Scores become weights, and earlier sums are scaled to the new largest score.
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

    // Adds up the sums of lanes with the same rows.
    void finish() {
        for (float& of_row : sum) {
            of_row += from_lane_across(of_row, 1);
            of_row += from_lane_across(of_row, 2);
        }
    }
};

// Products become scores. The score of a key that is not visible to the query is -inf.
template <class Element, int COLUMNS, bool WITH_BIAS>
class Scores {
   public:
    static constexpr int kKeys = KeyStages<Element, COLUMNS>::kRows;
    using Table = typename KeyStages<Element, COLUMNS>::KeyTable;

    Scores(NeighborhoodArguments const& arguments, Tile const& tile, QueryRows const& rows)
        : arguments_(arguments), rows_(rows), scale_(arguments.scale * kLog2OfE) {
        if (!WITH_BIAS) return;
        for (int half = 0; half < 2; ++half) bias_before_[half] = static_cast<int>(tile.bias_before(rows.places[half]));
    }

    void make(float (&products)[kKeys / 8][4], bool all_see, Table const& table) const {
        for (auto& of_keys : products) {
            for (float& product : of_keys) product *= scale_;
        }
        if (WITH_BIAS) add_bias(products, table);
        if (!all_see) mask(products, table);
    }

   private:
    static int key_of(int i, int j) { return 8 * i + 2 * (lane_index() % 4) + j % 2; }

    void add_bias(float (&scores)[kKeys / 8][4], Table const& table) const {
        Element const* const bias = static_cast<Element const*>(arguments_.tensors[NeighborhoodTensor::Bias].start);
        for (int i = 0; i < kKeys / 8; ++i) {
            for (int j = 0; j < 4; ++j) {
                int const key = key_of(i, j);
                if (!has(rows_.keys[j / 2], table.places[key], arguments_.tiles.guards)) continue;
                scores[i][j] += kLog2OfE * to_float(bias[table.biases[key] - bias_before_[j / 2]]);
            }
        }
    }
    void mask(float (&scores)[kKeys / 8][4], Table const& table) const {
        for (int i = 0; i < kKeys / 8; ++i) {
            for (int j = 0; j < 4; ++j) {
                bool const is_seen = has(rows_.keys[j / 2], table.places[key_of(i, j)], arguments_.tiles.guards);
                scores[i][j] = is_seen ? scores[i][j] : -infinity();
            }
        }
    }

    NeighborhoodArguments const& arguments_;
    QueryRows const& rows_;
    float scale_;
    int bias_before_[2] = {};
};

template <class Element, int COLUMNS, bool WITH_BIAS>
inline void neighborhood_forward_tiles(NeighborhoodArguments const& arguments) {
    using Stages = KeyStages<Element, COLUMNS>;
    constexpr int kKeys = Stages::kRows;
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    NeighborhoodAccess const* const tensors = arguments.tensors;
    QueryRows const rows(tile, arguments.tiles);
    Scores<Element, COLUMNS, WITH_BIAS> const scores(arguments, tile, rows);
    RowsInRegisters<Element, COLUMNS> queries;
    queries.load(tensors[NeighborhoodTensor::Queries],
                 {tile.offset_of(tensors[NeighborhoodTensor::Queries], rows.places[0]),
                  tile.offset_of(tensors[NeighborhoodTensor::Queries], rows.places[1])},
                 arguments.columns);
    TileAttention<Element, COLUMNS> attention;
    for_each_key_stage<Element, COLUMNS, WITH_BIAS>(
        arguments, tile,
        [&](TileRow<Element, COLUMNS> const* keys, TileRow<Element, COLUMNS> const* values,
            typename Stages::KeyTable const& table) {
            StageVisibility const visibility = rows.template visibility<kKeys>(table.places, arguments.tiles.guards);
            if (!visibility.any) return;
            float weights[kKeys / 8][4];
            multiply_by_rows<COLUMNS, kKeys / 8, Element>(weights, queries, keys);
            scores.make(weights, visibility.all, table);
            attention.weigh(weights);
#pragma unroll
            for (int strip = 0; strip < kKeys / 16; ++strip) {
                attention.output.add(weights_of<Element>(weights[2 * strip], weights[2 * strip + 1]),
                                     values + 16 * strip);
            }
        });
    attention.finish();
    for (int half = 0; half < 2; ++half) {
        if (!rows.is_there[half]) continue;
        attention.output.store(tensors[NeighborhoodTensor::Output], half,
                               tile.offset_of(tensors[NeighborhoodTensor::Output], rows.places[half]),
                               arguments.columns, inverse_of_sum(attention.sum[half]));
        if (tensors[NeighborhoodTensor::Stats].start == nullptr || lane_index() % 4 != 0) continue;
        static_cast<float*>(tensors[NeighborhoodTensor::Stats]
                                .start)[tile.offset_of(tensors[NeighborhoodTensor::Stats], rows.places[half])] =
            kLnOf2 * (attention.largest[half] + log2f(attention.sum[half]));
    }
}

extern "C" __global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    neighborhood_forward_tiles(__grid_constant__ NeighborhoodArguments const arguments) {
    neighborhood_forward_tiles<X, TILE_COLUMNS, HAS_BIAS>(arguments);
}
