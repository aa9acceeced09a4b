// The terms of a score modifier that depend on the distance between a query and a key alone. A warp computes them once
// for each distance between its rows and those of a block. There are 13 or 14 times as many scores.
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/bias_boxes.cuh>

// Whether warps keep them in shared memory. Otherwise they are computed for each score.
constexpr bool kKeepsDistanceTerms = kDistanceTerms > 0 && has_distance_memory(COLUMNS_OF_KEYS, kFetchesBias);

// The terms of a warp's rows and the rows of a block, which are columns of its scores.
template <int COLUMNS, bool IS_THERE = kKeepsDistanceTerms>
struct DistanceNumbers {
    static constexpr int kFirst = kRowsOfWarp - 1, kCount = kRowsOfWarp + COLUMNS - 1;  // kFirst: that of 0

    float numbers[kMostDistanceTerms][kRowsOfWarp + COLUMNS];

    // `first` is the distance from the warp's first row to the block's. Rows behind the tensors have the terms of the
    // last rows: beyond the tensors a term may be infinite, and gradients multiply it by weights of 0.
    template <bool ROWS_ARE_QUERIES>
    void compute(int batch, int head, int first, Sequences const& all, ScoreInputs const& inputs) {
        wait_for_warp();  // other lanes may still read those of the block before
#pragma unroll 1
        for (int i = lane_index(); i < kCount; i += 32) {
            int const distance = first + i - kFirst;
            int const keys_behind =
                larger(smaller(ROWS_ARE_QUERIES ? distance : -distance, all.key_rows - 1), 1 - all.query_rows);
            ScorePlace const place{batch, head, larger(-keys_behind, 0), larger(keys_behind, 0), {}};
            DistanceTerms const terms = distance_terms(place, inputs);
#pragma unroll
            for (int term = 0; term < kDistanceTerms; ++term) numbers[term][i] = terms.numbers[term];
        }
        wait_for_warp();
    }
    // The terms of the lane's score with index j in the group of eight columns with index i.
    DistanceTerms at(int i, int j) const {
        int const lane = lane_index(), own = kFirst + 2 * (lane % 4) - lane / 4;
        DistanceTerms terms{};
#pragma unroll
        for (int term = 0; term < kDistanceTerms; ++term) {
            terms.numbers[term] = numbers[term][own + (8 * (i - j / 2) + j % 2)];
        }
        return terms;
    }
};
template <int COLUMNS>
struct DistanceNumbers<COLUMNS, false> {
    template <bool ROWS_ARE_QUERIES>
    void compute(int, int, int, Sequences const&, ScoreInputs const&) {}
    DistanceTerms at(int, int) const { return {}; }
};

// A place with its terms of the distance: those that the warp keeps, or computed here.
inline ScorePlace with_distance(ScorePlace at, DistanceTerms const& kept, ScoreInputs const& inputs) {
    at.of_distance = kKeepsDistanceTerms ? kept : distance_terms(at, inputs);
    return at;
}
