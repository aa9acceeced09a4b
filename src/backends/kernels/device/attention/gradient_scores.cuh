// The terms of scores in attention_gradients.cu, their gradients, and the weights that dropout keeps.
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/distance_terms.cuh>
#include <attention/dropout.cuh>

constexpr int kTileKeys = gradient_keys(COLUMNS_OF_KEYS);
constexpr int kTileQueries = gradient_queries(COLUMNS_OF_KEYS, kNeedsRegisters);

// Makes scores of the products of queries and keys of a head.
class ScoreTerms {
   public:
    ScoreTerms(GradientArguments const& arguments, int batch, int head)
        : arguments_(arguments), batch_(batch), head_(head) {
        ScoreNumbers const& bias = arguments.bias;
        if (kHasBias) start_ = static_cast<BiasElement const*>(bias.start) + batch * bias.batch + head * bias.head;
        if (kHasAlibi) slope_ = kLog2OfE * alibi_slope(head, arguments.sequences.heads);
    }

    // The score of a product, less the log-sum-exp, times log2(e), which `log_sum` has been multiplied by already.
    template <bool IS_MODIFIED>
    float of(float product, float log_sum, float bias, int query, int key, DistanceTerms const& distance) const {
        if (!kHasTerms) return fmaf(product, arguments_.scale_as_power, -log_sum);
        float term = -log_sum;
        if (kHasAlibi) term += slope_ * static_cast<float>(key - query);
        if (kHasBias) term += kLog2OfE * bias;
        if (!IS_MODIFIED) return fmaf(product, arguments_.scale_as_power, term);
        ScorePlace const at = with_distance(place(query, key), distance, arguments_.inputs);
        return power_of(modified_score({product, arguments_.scale, 0.0f}, at, arguments_.inputs), term);
    }
    float bias_of(int query, int key) const {
        ScorePlace const at = place(query, key);
        return to_float(start_[at.query * arguments_.bias.row + at.key * arguments_.bias.column]);
    }
    // The gradient of a scaled product, from that of its modified score.
    float gradient_of(float product, float gradient, int query, int key, DistanceTerms const& distance) const {
        ScorePlace const at = with_distance(place(query, key), distance, arguments_.inputs);
        return modified_gradient({product, arguments_.scale, 0.0f}, gradient, at, arguments_.inputs);
    }

    // Stores the gradients of the bias, which are those of the scores, of the lane's two keys.
    template <int COUNT>
    void store_bias_gradients(float const (&gradients)[COUNT][4], int first_query, int const (&keys)[2]) const {
        ScoreResults const& to = arguments_.bias_gradient;
        Sequences const& all = arguments_.sequences;
        auto* const start = static_cast<BiasGradientElement*>(to.start) + batch_ * to.batch + head_ * to.head;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                int const query = first_query + 8 * i + 2 * (lane_index() % 4) + j;
                if (query >= all.query_rows) continue;
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    if (keys[half] >= all.key_rows) continue;
                    assign(start[query * to.row + keys[half] * to.column], gradients[i][2 * half + j]);
                }
            }
        }
    }

   private:
    // The place, with the last row and key in place of those behind them.
    ScorePlace place(int query, int key) const {
        Sequences const& all = arguments_.sequences;
        return {batch_, head_, smaller(query, all.query_rows - 1), smaller(key, all.key_rows - 1), {}};
    }

    GradientArguments const& arguments_;
    int batch_, head_;
    BiasElement const* start_;
    float slope_;
};

// Which weights of a block dropout keeps. Four lanes have a group's four keys, in two rows and of two queries: each
// draws one of these four groups, so that a call of the generator decides on as many scores as it has words.
class KeptWeights {
   public:
    // The first query is that of the warpgroup, the first key that of the warp.
    KeptWeights(Generator const& generator, Sequence const& sequence, int head, int first_query, int first_key)
        : generator_(generator) {
        int const lane = lane_index(),
                  drawn = lane / 4 % 4;  // its number among the lane's four weights of eight queries
        int const query = first_query + 2 * (lane % 4) + drawn % 2;
        group_ = generator.first_group(sequence.batch, head, query) + (first_key / 4 + lane / 16 + drawn / 2 * 2);
    }

    // One byte for each of the lane's four weights: its bit i, of COUNT, is for the group of eight queries with index
    // i.
    template <int COUNT>
    unsigned draw() const {
        static_assert(!kHasDropout || (COUNT <= 8 && COUNT % kDrawsAtOnce == 0));
        unsigned const step = 8u * static_cast<unsigned>(generator_.groups_of_row());
        unsigned long long group = group_;
        unsigned kept = 0;  // at first a byte for each of the four lanes
#pragma unroll 1
        for (int first = 0; first < COUNT; first += kDrawsAtOnce) {
            PhiloxBlock drawn[kDrawsAtOnce];
            generator_.draw(drawn, group, step);
            group += static_cast<unsigned long long>(step) * kDrawsAtOnce;
            unsigned bits = 0;
#pragma unroll
            for (int i = 0; i < kDrawsAtOnce; ++i) {
#pragma unroll
                for (int k = 0; k < 4; ++k) bits |= generator_.keeps(drawn[i].words[k]) << (8 * k + i);
            }
            kept |= bits << first;
        }
        return transposed(kept);
    }

   private:
    // The lane whose number among the four is i gets the bytes with number i, in order of lanes.
    static unsigned transposed(unsigned bytes) {
        bool const is_odd = (lane_index() & 4) != 0, is_upper = (lane_index() & 8) != 0;
        unsigned other = from_lane_across(bytes, 4);
        bytes = is_odd ? (bytes & 0xff00ff00u) | (other >> 8 & 0x00ff00ffu)
                       : (bytes & 0x00ff00ffu) | (other << 8 & 0xff00ff00u);
        other = from_lane_across(bytes, 8);
        return is_upper ? (bytes & 0xffff0000u) | other >> 16 : (bytes & 0x0000ffffu) | other << 16;
    }

    Generator const& generator_;
    unsigned long long group_;
};

// --- Sums of the gradients of a bias that scores share

constexpr int kBiasTile = kTileKeys * kTileQueries;

inline float* bias_sum_tile(BiasSums const& sums, int batch, int head, int key, int query) {
    int const tile = batch * sums.batch + head * sums.head + key / kTileKeys * sums.key_tile +
                     query / kTileQueries * sums.query_tile;
    return sums.start + static_cast<long long>(tile) * kBiasTile;
}

// The place of the four that a thread of a warpgroup has of eight queries.
constexpr int place_in_bias_tile(int warpgroup, int eighth, int thread) {
    return ((warpgroup * (kTileQueries / 8) + eighth) * kThreadsOfWarpgroup + thread) * 4;
}
// The place of a key and a query, which are counted from the first ones of the tile.
constexpr int place_of_score(int key, int query) {
    int const row = key % kWarpgroupQueries, lane = row % 8 * 4 + query % 8 / 2;
    return place_in_bias_tile(key / kWarpgroupQueries, query / 8, row / 16 * 32 + lane) + row % 16 / 8 * 2 + query % 2;
}

inline bool is_kept(unsigned kept, int i, int j) { return (kept >> (8 * j + i) & 1) != 0; }
