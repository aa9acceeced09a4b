// The gradients of attention by warpgroups, for compute capability 9.0. A block has 128 keys of one head, or 64 with
// 256 columns, and goes through the queries that see any of them, of all heads that share the keys. One warp has the
// copy engine fetch the queries, their output's gradients and their statistics, some stages ahead. Each of two
// warpgroups has 64 of the 128 keys. With 256 columns both work on the same 64 keys: each computes the scores of half
// of a block's queries, and the gradients of half of the columns. They add up the gradients of keys and values in
// registers, and those of queries in memory, which blocks share: in any order, or in the one that a warp of its own
// keeps.
#include <attention/gradient_memory.cuh>
#include <hopper/launch_registers.cuh>

constexpr int kRegistersInAll = kGradientWarpgroups * kGradientRegisters + kGradientFetcherRegisters;
static_assert(has_registers(kGradientWarpgroups + 1, kRegistersInAll));

// Each of two warpgroups adds up the gradients of queries for half of a tile's queries, or half of their columns.
constexpr bool kHasHalfOfQueries = kTileQueries > kWarpgroupQueries;
constexpr int kSumColumns = kHasHalfOfQueries ? COLUMNS_OF_KEYS : COLUMNS_OF_KEYS / kGradientWarpgroups;
constexpr bool kSplitsColumns = splits_columns(COLUMNS_OF_KEYS);
static_assert(!kSplitsColumns || !kFetchesBias);  // a box of bias has all queries of a block
// Whether gradients of weights are computed for half of a tile's queries at a time, as registers do not suffice for
// all.
constexpr bool kAddsInHalves = COLUMNS_OF_KEYS > 128 && !kSplitsColumns;
// Whether these columns are one panel and half of another.
constexpr bool kHasHalfOfPanel = kSumColumns > kPanelColumns&& kSumColumns % kPanelColumns != 0;
constexpr int kSumsOfTile = kTileQueries * COLUMNS_OF_KEYS, kSumsOfWarpgroup = kSumsOfTile / kGradientWarpgroups;

struct alignas(8) FloatPair {
    float numbers[2];
};

// A block of queries of one head, which a tile of keys goes through.
struct QueryBlock {
    KeyTile const& tile;
    int head, number, first;  // the first query
    bool is_full, changes;    // whether all queries see all keys, and whether the modifier changes scores
    ScoreTerms const& terms;
    KeptWeights const& kept;
};

template <int FIRST, int COUNT, int ALL>
inline float (&part_of(float (&sums)[ALL][4]))[COUNT][4] {
    static_assert(FIRST + COUNT <= ALL);
    return reinterpret_cast<float(&)[COUNT][4]>(sums[FIRST]);
}

template <class Element, int COLUMNS, int VALUE_COLUMNS>
class KeyWarpgroup {
   public:
    using Memory = GradientMemory<Element, COLUMNS, VALUE_COLUMNS>;
    static constexpr int kQueries = Memory::kQueries;
    static constexpr int kSplits = kSplitsColumns ? kGradientWarpgroups : 1;
    // The queries whose scores a warpgroup computes, and the columns whose gradients it adds up.
    static constexpr int kOwnQueries = kQueries / kSplits, kOwnColumns = COLUMNS / kSplits,
                         kOwnValueColumns = VALUE_COLUMNS / kSplits;

    KeyWarpgroup(GradientArguments const& arguments, Memory& memory, int warpgroup)
        : arguments_(arguments),
          memory_(memory),
          warpgroup_(warpgroup),
          first_row_(kSplitsColumns ? 0 : warpgroup * kWarpgroupQueries),
          first_query_(kSplitsColumns ? warpgroup * kOwnQueries : 0) {}

    void compute(KeyTile const& tile) {
        int const own_row = first_row_ + row_of_warp();
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const key = tile.first + own_row + lane_index() / 4 + 8 * half;
            keys_[half] = key;
            queries_[half] = key < tile.keys ? tile.queries_of(key) : RowRange{0, 0};
        }
        float key_sums[kOwnColumns / 8][4], value_sums[kOwnValueColumns / 8][4];
        set_zero(key_sums);
        set_zero(value_sums);
        QueryBlocks<kQueries> const blocks(tile);
        Generator const generator(arguments_.dropout, arguments_.sequences);
        memory_.keys_are_here.wait_for(0);
        memory_.values_are_here.wait_for(0);
        for_each_block<kQueries>(arguments_, tile, [&](int head, int block, bool is_modified) {
            ScoreTerms const terms(arguments_, tile.batch, head);
            KeptWeights const kept(generator, tile, head, block * kQueries + first_query_, tile.first + own_row);
            bool const changes = kHasRegion && (is_modified || !kLeavesBlocks);
            QueryBlock const queries{tile, head, block, block * kQueries, blocks.is_full(block), changes, terms, kept};
            if constexpr (kSplitsColumns) add_columns(key_sums, value_sums, queries);
            else if constexpr (kAddsInHalves) add_in_halves(key_sums, value_sums, queries);
            else add(key_sums, value_sums, queries);
        });
        wait_for_turn(kMeeting);  // products of both warpgroups read keys
        EntryMaps const& entries = arguments_.entries;
        BoxPlace const place{0, tile.first + own_row, tile.head, batch_for(tile, entries)};
        store(memory_.values, map_for(tile, arguments_, ValueGradientMap), place, own_row, value_sums,
              kHasDropout ? arguments_.dropout.scale : 1.0f);
        store(memory_.keys, map_for(tile, arguments_, KeyGradientMap), place, own_row, key_sums, arguments_.scale);
        if (lane_index() == 0) wait_for_box_stores();
    }

   private:
    static constexpr int kMeeting = 1;  // a named barrier

    using KeySums = float[kOwnColumns / 8][4];
    using ValueSums = float[kOwnValueColumns / 8][4];
    using Weights = float[kOwnQueries / 8][4];

    // Adds what the queries of a block contribute.
    void add(KeySums& key_sums, ValueSums& value_sums, QueryBlock const& queries) {
        int const stage = ring_.stage(), round = ring_.round(), buffer = ring_.number % kScoreGradientStages;
        float weights[kQueries / 8][4], gradients[kQueries / 8][4];
        memory_.queries_are_here[stage].wait_for(round);
        start_scores(weights, memory_.keys, memory_.queries[stage]);
        memory_.output_gradients_are_here[stage].wait_for(round);
        start_scores(gradients, memory_.values, memory_.output_gradients[stage]);
        unsigned const kept = kHasDropout ? queries.kept.template draw<kOwnQueries / 8>() : 0;
        compute_distances(queries);
        wait_for_products<1>();
        hold(weights);
        Products products;
        make_weights(weights, products, stage, queries);
        MatrixBlock weight_blocks[kQueries / 16], gradient_blocks[kQueries / 16];
        pack_weights(weight_blocks, weights, kept);
        wait_for_products<0>();
        hold(gradients);
        make_gradients(gradients, weights, products, stage, queries, kept);
        pack_blocks<Element>(gradient_blocks, gradients);
        store_for_both(memory_.score_gradients[buffer], gradient_blocks);
        start_sums(value_sums, weight_blocks, memory_.output_gradients[stage]);
        wait_for_turn(kMeeting);
        start_bias_gradient_store(stage, queries);
        float own_query_sums[kSumColumns / 8][4];
        start_query_sums(own_query_sums, buffer);
        start_sums(key_sums, gradient_blocks, memory_.queries[stage]);
        wait_for_products<1>();
        hold(value_sums);
        hold(own_query_sums);
        for (MatrixBlock& words : weight_blocks) hold(words);
        add_to_memory(sums_of(queries), own_query_sums);
        wait_for_products<0>();
        hold(key_sums);
        for (MatrixBlock& words : gradient_blocks) hold(words);
        if (kStoresBiasGradient && starts_stores()) wait_for_box_stores();
        memory_.are_read[stage].arrive();
        ring_.go_on();
    }

    // The same with gradients of half of the queries at a time, and without products that go on next to each other.
    void add_in_halves(KeySums& key_sums, ValueSums& value_sums, QueryBlock const& queries) {
        int const stage = ring_.stage(), buffer = ring_.number % kScoreGradientStages;
        float weights[kQueries / 8][4];
        memory_.queries_are_here[stage].wait_for(ring_.round());
        start_scores(weights, memory_.keys, memory_.queries[stage]);
        unsigned const kept = kHasDropout ? queries.kept.template draw<kOwnQueries / 8>() : 0;
        compute_distances(queries);
        wait_for_products<0>();
        hold(weights);
        Products products;
        make_weights(weights, products, stage, queries);
        memory_.output_gradients_are_here[stage].wait_for(ring_.round());
#pragma unroll
        for (int first = 0; first < kQueries / 8; first += kQueries / 16) {
            float gradients[kQueries / 16][4];
            start_scores(gradients, memory_.values, memory_.output_gradients[stage], 8 * first);
            wait_for_products<0>();
            hold(gradients);
            make_gradients(gradients, weights, products, stage, queries, kept, first);
            MatrixBlock weight_blocks[kQueries / 32], gradient_blocks[kQueries / 32];
            pack_weights(weight_blocks, weights, kept, first);
            pack_blocks<Element>(gradient_blocks, gradients);
            store_for_both(memory_.score_gradients[buffer], gradient_blocks, first);
            start_sums(value_sums, weight_blocks, memory_.output_gradients[stage], 8 * first);
            start_sums(key_sums, gradient_blocks, memory_.queries[stage], 8 * first);
            wait_for_products<0>();
            hold(value_sums);
            hold(key_sums);
            for (MatrixBlock& words : weight_blocks) hold(words);
            for (MatrixBlock& words : gradient_blocks) hold(words);
        }
        wait_for_turn(kMeeting);
        float own_query_sums[kSumColumns / 8][4];
        start_query_sums(own_query_sums, buffer);
        wait_for_products<0>();
        hold(own_query_sums);
        add_to_memory(sums_of(queries), own_query_sums);
        memory_.are_read[stage].arrive();
        ring_.go_on();
    }

    // Adds what the queries of a block contribute, where each warpgroup has half of the columns: warpgroups pass each
    // other weights and gradients of scores through shared memory.
    void add_columns(KeySums& key_sums, ValueSums& value_sums, QueryBlock const& queries) {
        int const stage = ring_.stage(), round = ring_.round(), buffer = ring_.number % kScoreGradientStages;
        float weights[kOwnQueries / 8][4], gradients[kOwnQueries / 8][4];
        memory_.queries_are_here[stage].wait_for(round);
        start_scores(weights, memory_.keys, memory_.queries[stage], first_query_);
        memory_.output_gradients_are_here[stage].wait_for(round);
        start_scores(gradients, memory_.values, memory_.output_gradients[stage], first_query_);
        unsigned const kept = kHasDropout ? queries.kept.template draw<kOwnQueries / 8>() : 0;
        wait_for_products<1>();
        hold(weights);
        Products products;
        make_weights(weights, products, stage, queries);
        MatrixBlock blocks[kOwnQueries / 16];
        pack_weights(blocks, weights, kept);
        store_for_both(memory_.shared_weights(buffer), blocks);
        wait_for_turn(kMeeting);
        start_own_sums(value_sums, memory_.shared_weights(buffer), memory_.output_gradients[stage]);
        wait_for_products<1>();
        hold(gradients);
        make_gradients(gradients, weights, products, stage, queries, kept);
        pack_blocks<Element>(blocks, gradients);
        store_for_both(memory_.score_gradients[buffer], blocks);
        wait_for_turn(kMeeting);
        float own_query_sums[kSumColumns / 8][4];
        start_query_sums(own_query_sums, buffer);
        start_own_sums(key_sums, memory_.score_gradients[buffer], memory_.queries[stage]);
        wait_for_products<1>();
        hold(value_sums);
        hold(own_query_sums);
        add_to_memory(sums_of(queries), own_query_sums);
        wait_for_products<0>();
        hold(key_sums);
        memory_.are_read[stage].arrive();
        ring_.go_on();
    }

    // The products that a modifier's gradient needs.
    using Products = float[kChangesGradients ? kOwnQueries / 8 : 1][4];

    // Products of keys and queries become weights.
    void make_weights(Weights& weights, Products& products, int stage, QueryBlock const& queries) {
        int const first_query = queries.first + first_query_;
        if constexpr (kChangesGradients) copy(products, weights);
        if (queries.changes) weigh<true>(weights, stage, queries.terms, first_query);
        else weigh<false>(weights, stage, queries.terms, first_query);
        if (!queries.is_full) set_outside(weights, queries_, first_query, 0.0f);
    }
    // Products of values and gradients of output, from the group of eight own queries with index `first` on, become
    // gradients of scores.
    template <int COUNT>
    void make_gradients(float (&gradients)[COUNT][4], Weights const& weights, Products const& products, int stage,
                        QueryBlock const& queries, unsigned kept, int first = 0) {
        int const first_query = queries.first + first_query_ + 8 * first;
        multiply(gradients, weights, memory_.statistics[stage][1], kept, first);
        if constexpr (kSumsBiasGradient) add_bias_gradients(gradients, queries, first);
        else if (kHasBiasGradient) write_bias_gradients(gradients, stage, queries.terms, first_query);
        if constexpr (kChangesGradients) {
            if (queries.changes) change(gradients, products, queries.terms, first_query, first);
        }
    }

    // Products of the warpgroup's rows and those of a tile, from its row `first` on.
    template <int COUNT, class Own, class Other>
    void start_scores(float (&scores)[COUNT][4], Own const& own, Other const& other, int first = 0) {
        begin_products();
#pragma unroll
        for (int k = 0; k < Own::kColumns / 16; ++k) {
            int const panel = 16 * k / kPanelColumns, column = 16 * k % kPanelColumns;
            start_product<false, false>(scores, Factor(own.panels[panel], first_row_, column),
                                        Factor(other.panels[panel], first, column), k > 0, Element());
        }
        end_products();
    }

    // Sums of a tile's rows, from its row `first` on, with these weights.
    template <int COUNT, class Other>
    static void start_sums(float (&sums)[Other::kColumns / 8][4], MatrixBlock const (&weights)[COUNT],
                           Other const& other, int first = 0) {
        begin_products();
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            start_product<true>(sums, weights[k], Factor(other.panels[0], first + 16 * k, 0), true, Element());
        }
        end_products();
    }

    // Adds to own columns of the sums for all keys of a tile, with weights or gradients of scores from shared memory.
    template <int COUNT, class Other>
    void start_own_sums(float (&sums)[COUNT][4], typename Memory::Scores const& weights, Other const& other) {
        begin_products();
#pragma unroll
        for (int k = 0; k < kQueries / 16; ++k) {
            start_product<false, true>(sums, Factor(weights.panels[0], 0, 16 * k),
                                       Factor(other.panels[warpgroup_ * COUNT * 8 / kPanelColumns], 16 * k, 0), true,
                                       Element());
        }
        end_products();
    }

    // Columns of a warpgroup that begin or end within a panel need a product of their own: a product goes on from panel
    // to panel at the first column alone.
    void start_query_sums(float (&sums)[kSumColumns / 8][4], int buffer) {
        begin_products();
        if constexpr (kHasHalfOfPanel) {
            start_query_product(part_of<0, kPanelColumns / 8>(sums), buffer, warpgroup_ * 2 * kPanelColumns);
            start_query_product(part_of<kPanelColumns / 8, kPanelColumns / 16>(sums), buffer,
                                kPanelColumns + warpgroup_ * kPanelColumns / 2);
        } else {
            start_query_product(sums, buffer, kHasHalfOfQueries ? 0 : warpgroup_ * kSumColumns);
        }
        end_products();
    }
    template <int COUNT>
    void start_query_product(float (&sums)[COUNT][4], int buffer, int first_column) {
        auto const& queries = memory_.score_gradients[buffer].panels[kHasHalfOfQueries ? warpgroup_ : 0];
        auto const& columns = memory_.keys.panels[first_column / kPanelColumns];
#pragma unroll
        for (int k = 0; k < kTileKeys / 16; ++k) {
            start_product<true, true>(sums, Factor(queries, 16 * k, 0),
                                      Factor(columns, 16 * k, first_column % kPanelColumns), k > 0, Element());
        }
    }
    float* sums_of(QueryBlock const& queries) const {
        return arguments_.tiles.sums + query_tile(arguments_, queries.tile, queries.head, queries.number) * kSumsOfTile;
    }
    // The sums of a whole panel come first in registers. In memory columns are in their order.
    void add_to_memory(float* sums, float const (&own)[kSumColumns / 8][4]) {
        memory_.sum_steps.begin(ring_.number);
        float* const to = sums + warpgroup_ * kSumsOfWarpgroup + threadIdx.x % kThreadsOfWarpgroup * 4;
        constexpr int kWhole = kPanelColumns / 8, kHalf = kWhole / 2;
#pragma unroll
        for (int i = 0; i < kSumColumns / 8; ++i) {
            int const moved = !kHasHalfOfPanel || warpgroup_ == 0 ? 0 : i < kWhole ? kHalf : -kWhole;
            add_four(to + (i + moved) * (4 * kThreadsOfWarpgroup), own[i]);
        }
        memory_.sum_steps.end();
    }

    DistanceNumbers<kQueries>& distances() const {
        return memory_.distances[(warpgroup_ * kWarpgroupQueries + row_of_warp()) / kRowsOfWarp];
    }
    void compute_distances(QueryBlock const& queries) const {
        if (!queries.changes) return;
        distances().template compute<false>(queries.tile.batch, queries.head,
                                            queries.first - (queries.tile.first + first_row_ + row_of_warp()),
                                            arguments_.sequences, arguments_.inputs);
    }

    static int query_of(int first_query, int i, int j) { return first_query + 8 * i + 2 * (lane_index() % 4) + j % 2; }
    // The lane's two of the numbers of the group of eight own queries with that index.
    FloatPair pair_of(float const (&numbers)[kQueries], int i) const {
        return *reinterpret_cast<FloatPair const*>(&numbers[first_query_ + 8 * i + 2 * (lane_index() % 4)]);
    }
    template <bool IS_MODIFIED>
    void weigh(Weights& scores, int stage, ScoreTerms const& terms, int first_query) {
        float bias[2][4];  // of 16 queries
#pragma unroll
        for (int i = 0; i < kOwnQueries / 8; ++i) {
            if (kHasBias && i % 2 == 0) read_bias(bias, stage, terms, first_query, 8 * i);
            FloatPair const pair = pair_of(memory_.statistics[stage][0], i);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                scores[i][j] =
                    power_of_2(terms.of<IS_MODIFIED>(scores[i][j], pair.numbers[j % 2], bias[i % 2][j],
                                                     query_of(first_query, i, j), keys_[j / 2], distances().at(i, j)));
            }
        }
    }
    // The bias of 16 queries, from that row of the tile on.
    void read_bias(float (&bias)[2][4], int stage, ScoreTerms const& terms, int first_query, int row) {
        if constexpr (kFetchesBias) {
            if (arguments_.bias.is_boxed) return memory_.bias[stage].read(bias, warpgroup_, row);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) bias[i][j] = terms.bias_of(query_of(first_query + row, i, j), keys_[j / 2]);
        }
    }

    // Gradients of eight queries each, from number `first` on.
    template <int COUNT>
    void add_bias_gradients(float const (&gradients)[COUNT][4], QueryBlock const& queries, int first) {
        KeyTile const& tile = queries.tile;
        float* const to = bias_sum_tile(arguments_.bias_sums, tile.batch, queries.head, tile.first, queries.first) +
                          place_in_bias_tile(first_row_ / kWarpgroupQueries, first_query_ / 8 + first,
                                             threadIdx.x % kThreadsOfWarpgroup);
#pragma unroll
        for (int i = 0; i < COUNT; ++i) add_four(to + place_in_bias_tile(0, i, 0), gradients[i]);
    }
    // Where the copy engine stores them, they replace the bias in shared memory.
    template <int COUNT>
    void write_bias_gradients(float const (&gradients)[COUNT][4], int stage, ScoreTerms const& terms, int first_query) {
        if constexpr (kStoresBiasGradient) {
            if (arguments_.bias_gradient.is_boxed) {
                MatrixBlock blocks[COUNT / 2];
                pack_blocks<BiasGradientElement>(blocks, gradients);
#pragma unroll
                for (int i = 0; i < COUNT / 2; ++i) memory_.bias[stage].write(blocks[i], warpgroup_, 16 * i);
                return;
            }
        }
        terms.store_bias_gradients(gradients, first_query, keys_);
    }
    // The thread of its warpgroup that starts stores of gradients of the bias.
    static bool starts_stores() { return threadIdx.x % kThreadsOfWarpgroup == 0; }
    void start_bias_gradient_store(int stage, QueryBlock const& queries) {
        if constexpr (kStoresBiasGradient) {
            if (!arguments_.bias_gradient.is_boxed || !starts_stores()) return;
            KeyTile const& tile = queries.tile;
            start_box_store(arguments_.bias_gradient_map,
                            {tile.first + first_row_, queries.first, queries.head, tile.batch},
                            &memory_.bias[stage].panels[warpgroup_]);
            end_box_stores();
        }
    }
    // Gradients of weights, from number `first` on, become those of scores.
    template <int COUNT>
    void multiply(float (&gradients)[COUNT][4], Weights const& weights, float const (&deltas)[kQueries], unsigned kept,
                  int first = 0) const {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            FloatPair const pair = pair_of(deltas, first + i);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                float const delta = pair.numbers[j % 2];
                float& gradient = gradients[i][j];
                if (kHasDropout && !is_kept(kept, first + i, j)) gradient = 0;
                gradient = kHasDropout ? fmaf(gradient, arguments_.dropout.scale, -delta) : gradient - delta;
                gradient *= weights[first + i][j];
            }
        }
    }
    // Gradients of modified scores become those of the products, by which these are as large as the scale.
    template <int COUNT>
    void change(float (&gradients)[COUNT][4], Weights const& products, ScoreTerms const& terms, int first_query,
                int first = 0) const {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                gradients[i][j] =
                    terms.gradient_of(products[first + i][j], gradients[i][j], query_of(first_query, i, j),
                                      keys_[j / 2], distances().at(first + i, j));
            }
        }
    }
    static void copy(Weights& to, Weights const& from) {
#pragma unroll
        for (int i = 0; i < kOwnQueries / 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) to[i][j] = from[i][j];
        }
    }
    // Packs those that dropout keeps, and 0 for others, from number `first` on.
    template <int COUNT>
    static void pack_weights(MatrixBlock (&blocks)[COUNT], Weights const& weights, unsigned kept, int first = 0) {
        if (!kHasDropout) return pack_blocks<Element>(blocks, weights, first);
        float numbers[2 * COUNT][4];
#pragma unroll
        for (int i = 0; i < 2 * COUNT; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) numbers[i][j] = is_kept(kept, first + i, j) ? weights[first + i][j] : 0.0f;
        }
        pack_blocks<Element>(blocks, numbers);
    }
    template <class Type, int COUNT, int ALL>
    static void pack_blocks(MatrixBlock (&blocks)[COUNT], float const (&numbers)[ALL][4], int first = 0) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) blocks[i] = block_of<Type>(numbers[first + 2 * i], numbers[first + 2 * i + 1]);
    }
    template <int COUNT>
    void store_for_both(typename Memory::Scores& to, MatrixBlock const (&blocks)[COUNT], int first = 0) {
        int const lane = lane_index(), row = first_row_ + row_of_warp();
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            int const column = first_query_ + 8 * first + 16 * i;
            auto& panel = to.panels[column / kPanelColumns];
            store_block(panel.piece(row + lane % 16, column % kPanelColumns + lane / 16 * 8), blocks[i]);
        }
        show_to_products();
    }

    // Each warp stores its warpgroup's columns of its 16 rows, through shared memory that products no longer read.
    template <class AllPanels, int COUNT>
    void store(AllPanels& memory, TensorMap const& map, BoxPlace place, int own_row, float (&sums)[COUNT][4],
               float factor) const {
        constexpr int kPanels = COUNT * 8 / kPanelColumns;
        auto* const panels = memory.panels + (kSplitsColumns ? warpgroup_ * kPanels : 0);
        if (kSplitsColumns) place.column = warpgroup_ * kPanels * kPanelColumns;
        int const lane = computed_here(lane_index());
#pragma unroll
        for (int i = 0; i < COUNT / 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                sums[2 * i][j] *= factor;
                sums[2 * i + 1][j] *= factor;
            }
            store_block(panels[i / 4].piece(own_row + lane % 16, i % 4 * 16 + lane / 16 * 8),
                        block_of<Element>(sums[2 * i], sums[2 * i + 1]));
        }
        show_to_products();
        wait_for_warp();
        if (lane != 0) return;
        for (int i = 0; i < kPanels; ++i) {
            start_box_store(map, place, panels[i].piece(own_row, 0));
            place.column += kPanelColumns;
        }
        end_box_stores();
    }

    GradientArguments const& arguments_;
    Memory& memory_;
    int warpgroup_;
    int first_row_, first_query_;  // the first of its keys in the tile, and of its queries in a block
    int keys_[2];                  // the lane's
    RowRange queries_[2];          // that see them
    Ring<kQueryStages> ring_;
};

template <class Element, int COLUMNS, int VALUE_COLUMNS>
inline void compute_gradients(GradientArguments const& arguments) {
    using Memory = GradientMemory<Element, COLUMNS, VALUE_COLUMNS>;
    static_assert(sizeof(Memory) <=
                  gradient_shared_bytes(COLUMNS, VALUE_COLUMNS, kTileQueries, kFetchesBias, kHasRegion));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Memory& memory = *reinterpret_cast<Memory*>(shared_memory);
    if (threadIdx.x == 0) {
        memory.make_barriers();
        memory.sum_steps.take_place(arguments);
    }
    __syncthreads();
    KeyTile const tile(arguments, memory.sum_steps.place_of_block());
    if (arguments.entries.start != nullptr && tile.first >= tile.keys) return;
    int const warpgroup = static_cast<int>(from_lane(threadIdx.x / kThreadsOfWarpgroup, 0));
    if (warpgroup == 0) {
        leave_registers<kGradientFetcherRegisters>();
        if (threadIdx.x < 32) QueryFetcher<Element, COLUMNS, VALUE_COLUMNS>(arguments, memory).fetch_all(tile);
        else if (threadIdx.x < 64) keep_order(arguments, memory.sum_steps);
    } else {
        take_registers<kGradientRegisters>();
        KeyWarpgroup<Element, COLUMNS, VALUE_COLUMNS> rows(arguments, memory, warpgroup - 1);
        // Each of the two calls spills fewer registers in its own code than the other one would.
        if constexpr (kIsDeterministic) rows.compute(tile);
        else rows.compute(KeyTile(arguments, memory.sum_steps.place_of_block()));
    }
}

extern "C" __global__ void __launch_bounds__(kGradientThreads, 1)
    attention_gradients(__grid_constant__ GradientArguments const arguments) {
    compute_gradients<X, COLUMNS_OF_KEYS, COLUMNS_OF_VALUES>(arguments);
}

#include <attention/gradient_borders.cuh>
