// Tiles of a bias in shared memory, and of its gradient, where the copy engine can move them (ScoreNumbers::is_boxed).
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/attention_tiles.cuh>
#include <attention/score_options.cuh>

constexpr bool kFetchesBias = has_bias_memory(COLUMNS_OF_KEYS, kHasBias ? static_cast<int>(sizeof(BiasElement)) : 0);
constexpr bool kStoresBiasGradient =
    kFetchesBias && kHasBiasGradient && !kSumsBiasGradient && sizeof(BiasGradientElement) == 2;

// Where a box begins in a bias. The head or the batch is 0 where all share it.
inline BoxPlace bias_place(ScoreNumbers const& bias, int key, int query, int head, int batch) {
    return {key, query, bias.head == 0 ? 0 : head, bias.batch == 0 ? 0 : batch};
}

// Barriers for each warpgroup's tile of bias: whether it has been fetched, and whether it has been read.
template <int WARPGROUPS>
struct QueryBiasRounds {
    Arrivals are_here[WARPGROUPS], are_read[WARPGROUPS];

    void make() {
        for (int i = 0; i < WARPGROUPS; ++i) {
            are_here[i].make(1);
            are_read[i].make(kThreadsOfWarpgroup / 32);
        }
    }
};

// For each warpgroup of queries, the bias of its rows and one block of keys. `block` counts the blocks of keys that the
// thread block has gone through, over all its tiles.
template <int WARPGROUPS, int KEYS, bool IS_FETCHED>
struct QueryBias {
    using Rounds = QueryBiasRounds<WARPGROUPS>;

    Panels<BiasElement, kWarpgroupQueries, KEYS> tiles[WARPGROUPS];

    void fetch(TensorMap const& map, BoxPlace place, Rounds& rounds, int block) {
        for (int i = 0; i < WARPGROUPS; ++i) {
            if (block > 0) rounds.are_read[i].wait_for(block - 1);
            start_fetching(tiles[i], map, place, rounds.are_here[i]);
            place.row += kWarpgroupQueries;
        }
    }
    // Reads the lane's two rows of a warpgroup's tile, two keys in a word. The words must be used before the warp
    // arrives at are_read: before that, a read may still be running.
    void read(unsigned (&words)[KEYS / 8][2], int warpgroup, Rounds& rounds, int block) {
        int const lane = lane_index();
        rounds.are_here[warpgroup].wait_for(block);
#pragma unroll
        for (int i = 0; i < KEYS / 16; ++i) {
            MatrixBlock const part =
                load_block(tiles[warpgroup].panels[i / 4].piece(row_of_warp() + lane % 16, i % 4 * 16 + lane / 16 * 8));
#pragma unroll
            for (int j = 0; j < 4; ++j) words[2 * i + j / 2][j % 2] = part.words[j];
        }
    }
};
template <int WARPGROUPS, int KEYS>
struct QueryBias<WARPGROUPS, KEYS, false> {};

// For each warpgroup of keys, the bias of its keys, which are columns, and a tile of queries, which are rows. A
// gradient of 2 bytes overwrites it.
template <int WARPGROUPS, int QUERIES, bool IS_FETCHED>
struct KeyBias {
    static constexpr int kBytes = WARPGROUPS * QUERIES * kPanelRowBytes;

    Panel<BiasElement, QUERIES> panels[WARPGROUPS];

    // Starts to fetch it, with one thread. Its bytes count for the barrier's round, which a later arrival ends.
    void fetch(TensorMap const& map, BoxPlace place, Arrivals& arrivals) {
        arrivals.expect(kBytes);
        for (auto& panel : panels) {
            start_box_copy(&panel, map, place, arrivals);
            place.column += kPanelColumns;
        }
    }
    // The bias of 16 queries and the lane's two keys, in the order in which a product's sums have them.
    void read(float (&bias)[2][4], int warpgroup, int first_query) {
        MatrixBlock const block = load_transposed_block(own_row(warpgroup, first_query));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) bias[i][j] = to_float<BiasElement>(block.words[2 * i + j / 2] >> 16 * (j % 2));
        }
    }
    void write(MatrixBlock const& gradients, int warpgroup, int first_query) {
        store_transposed_block(own_row(warpgroup, first_query), gradients);
    }

   private:
    // The row that the lane passes for a block of 16 queries and its warp's keys.
    BiasElement* own_row(int warpgroup, int first_query) {
        int const lane = lane_index();
        return panels[warpgroup].piece(first_query + lane % 8 + lane / 16 * 8, row_of_warp() + lane / 8 % 2 * 8);
    }
};
template <int WARPGROUPS, int QUERIES>
struct KeyBias<WARPGROUPS, QUERIES, false> {};
