// Attention forward by warpgroups, for compute capability 9.0. A block goes on from tile of queries to tile of queries.
// One warp has the copy engine fetch the tile's queries and all keys and values that are visible to any of them, some
// stages ahead; the other warpgroups have 64 queries each, and take turns with their products.
#include <attention/forward_tiles.cuh>
#include <attention/paged_rows.cuh>
#include <hopper/greatest_scores.cuh>
#include <hopper/launch_registers.cuh>

// Scores may exceed the base of their weights by this much, as powers of 2, before the sums move to a new base. Where
// maxima are results, the base is the greatest score.
constexpr float kMostAboveBase = kStoresMaxima ? 0.0f : 8.0f;

// Whether a warpgroup computes the next weights while its products of the last weights and values go on. With other
// numbers of columns, products of other warpgroups suffice, and instructions during own products only take longer.
constexpr bool kOverlapsOwnProducts = COLUMNS_OF_KEYS == 128;
constexpr int kRegisters = attention_registers(kWarpgroups, kHasPages),
              kFetcherRegisters = attention_fetcher_registers(kWarpgroups, kHasPages),
              kRegistersInAll = kWarpgroups * kRegisters + kFetcherRegisters;
static_assert(has_registers(kWarpgroups + 1, kRegistersInAll));
static_assert(!kHasBlockMask || tile_keys(COLUMNS_OF_KEYS) == kBlockMaskRows);

template <class Element, int ROWS, int COLUMNS, bool HAS_MEMORY>
struct OutputPanels : Panels<Element, ROWS, COLUMNS> {};
template <class Element, int ROWS, int COLUMNS>
struct OutputPanels<Element, ROWS, COLUMNS, false> {};

template <class Element, int COLUMNS, int VALUE_COLUMNS>
struct ForwardMemory {
    static constexpr int kQueries = tile_queries(kWarpgroups), kKeys = tile_keys(COLUMNS);
    static constexpr bool kHasOutput = has_output_memory(COLUMNS);

    Panels<Element, kQueries, COLUMNS> queries;
    Panels<Element, kKeys, COLUMNS> keys[kKeyStages];
    Panels<Element, kKeys, VALUE_COLUMNS> values[kKeyStages];
    OutputPanels<Element, kQueries, VALUE_COLUMNS, kHasOutput> own_output;
    QueryBias<kWarpgroups, kKeys, kFetchesBias> bias;
    DistanceNumbers<kKeys> distances[kWarpgroups * 4];
    Arrivals queries_are_here, queries_are_read;
    Arrivals keys_are_here[kKeyStages], keys_are_read[kKeyStages];
    Arrivals values_are_here[kKeyStages], values_are_read[kKeyStages];
    Arrivals cut_values_are_here;  // those of a block that goes beyond its sequence
    QueryBiasRounds<kWarpgroups> bias_rounds;
    Arrivals place_is_here, place_is_read;
    int place;  // of a tile, from the warp that fetches

    Panel<Element, kQueries>* output() {
        if constexpr (kHasOutput) return own_output.panels;
        else return queries.panels;
    }
    void make_barriers() {
        constexpr int kWarps = kWarpgroups * 4;
        queries_are_here.make(1);
        queries_are_read.make(kWarps);
        cut_values_are_here.make(1);
        for (int stage = 0; stage < kKeyStages; ++stage) {
            keys_are_here[stage].make(1);
            values_are_here[stage].make(1);
            keys_are_read[stage].make(kWarps);
            values_are_read[stage].make(kWarps);
        }
        bias_rounds.make();
        place_is_here.make(1);
        place_is_read.make(kWarps);
        show_barriers_to_copies();
    }
};

// --- The warp that fetches

template <class Element, int COLUMNS, int VALUE_COLUMNS>
class Fetcher {
   public:
    using Memory = ForwardMemory<Element, COLUMNS, VALUE_COLUMNS>;

    Fetcher(AttentionArguments const& arguments, Memory& memory) : arguments_(arguments), memory_(memory) {}

    void fetch_tiles() {
        OwnPlaces<Memory> places(arguments_, memory_);
        for (;;) {
            int const place = places.take();
            if (place >= arguments_.order.places) return places.pass(place);
            TilePlace const of_tile(arguments_.order, place);
            if (of_tile.is_empty) continue;
            QueryTile const tile(arguments_, of_tile);
            acquire_maps(tile, arguments_);
            places.pass(place);
            fetch(tile);
        }
    }

   private:
    void fetch(QueryTile const& tile) {
        KeyBlocks<Memory::kKeys> const blocks(arguments_, tile);
        // Where outputs use their memory, queries are fetched for all tiles: so rounds count those without keys, too.
        if (blocks.are_none() && Memory::kHasOutput) return;
        if (is_behind(arguments_, tile, tile.first_query(arguments_))) return;
        if (tiles_ > 0) memory_.queries_are_read.wait_for(tiles_ - 1);
        EntryMaps const& entries = arguments_.entries;
        Pages const &key_pages = arguments_.key_pages, &value_pages = arguments_.value_pages;
        TensorMap const& key_map = map_of_rows(tile, arguments_, key_pages, KeyMap);
        TensorMap const& value_map = map_of_rows(tile, arguments_, value_pages, ValueMap);
        int const batch = batch_for(tile, entries);
        start_fetching(memory_.queries, map_for(tile, arguments_, QueryMap),
                       {0, tile.first_query(arguments_), tile.head, batch}, memory_.queries_are_here);
        ++tiles_;
        // Rows that a map of an entry does not have are 0.
        bool const has_rows_behind =
            arguments_.sequences.key_lengths != nullptr && (entries.start == nullptr || are_in_pages(value_pages));
        int const key_head = tile.head / arguments_.sequences.heads_of_key_head;
        BlockPages<Memory::kKeys> own_pages(arguments_, tile, blocks.last());
        for (int block = blocks.last(), next; blocks.has(block); block = next) {
            next = blocks.before(block);
            BlockPages<Memory::kKeys> const next_pages(arguments_, tile, next);
            BoxPlace const place{0, block * Memory::kKeys, key_head, batch};
            int const stage = ring_.stage(), rows = tile.keys - place.row;
            if (ring_.round() > 0) memory_.keys_are_read[stage].wait_for(ring_.round() - 1);
            start_fetching(memory_.keys[stage], key_map, key_pages, own_pages.of_keys, place,
                           memory_.keys_are_here[stage]);
            fetch_bias(tile, place.row);
            if (ring_.round() > 0) memory_.values_are_read[stage].wait_for(ring_.round() - 1);
            bool const is_cut = has_rows_behind && rows < Memory::kKeys;
            Arrivals& values_are_here = memory_.values_are_here[stage];
            start_fetching(memory_.values[stage], value_map, value_pages, own_pages.of_values, place,
                           is_cut ? memory_.cut_values_are_here : values_are_here);
            if (is_cut) {
                memory_.cut_values_are_here.wait_for(cuts_++);
                clear_rows(memory_.values[stage], rows);
                values_are_here.arrive();
            }
            own_pages = next_pages;
            ring_.go_on();
        }
    }
    void fetch_bias(QueryTile const& tile, int first_key) {
        if constexpr (kFetchesBias) {
            ScoreNumbers const& bias = arguments_.bias;
            if (!bias.is_boxed) return;
            BoxPlace const place = bias_place(bias, first_key, tile.first_query(arguments_), tile.head, tile.batch);
            memory_.bias.fetch(arguments_.bias_map, place, memory_.bias_rounds, ring_.number);
        }
    }

    AttentionArguments const& arguments_;
    Memory& memory_;
    Ring<kKeyStages> ring_;
    int tiles_ = 0, cuts_ = 0;
};

// --- The warpgroups that have queries

// A result of a row: its log-sum-exp; or its greatest score, and the sum relative to that one.
enum class RowNumber { LogSum, Maximum, Sum };

// The number of a row without visible keys, which has a sink alone: minus infinity where there is none.
template <RowNumber NUMBER>
inline float number_of_sink(float sink) {
    if (NUMBER != RowNumber::Sum) return sink;
    return sink == minus_infinity() ? 0.0f : 1.0f;
}

// The weights of a lane's two rows, relative to a power of 2.
template <int KEYS>
struct RowWeights {
    float base[2] = {minus_infinity(), minus_infinity()};
    float sum[2] = {0, 0};

    // Scores become weights. Where one of the warp's rows has a new base, returns true, and in `factors` what earlier
    // sums must be multiplied by. `are_below` says that bases need not move.
    bool weigh(float (&scores)[KEYS / 8][4], float scale, bool are_below, float (&factors)[2]) {
        bool const may_move =
            kStoresMaxima || (!are_below && ballot(may_exceed(scores, scale, base, kMostAboveBase)) != 0);
        bool const moves = may_move && move_bases(scores, scale, factors);
        float negated[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) negated[half] = base[half] == minus_infinity() ? 0.0f : -base[half];
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                scores[i][j] = power_of_2(fmaf(scores[i][j], scale, negated[j / 2]));
                sum[j / 2] += scores[i][j];
            }
        }
        return moves;
    }
    // A logit without a value. Returns what earlier sums must be multiplied by.
    void add_sink(float logit, float (&factors)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float const most = fmaxf(base[half], logit);
            bool const is_nothing = most == minus_infinity();
            factors[half] = is_nothing ? 1.0f : power_of_2(base[half] - most);
            if (!is_nothing) sum[half] = sum[half] * factors[half] + power_of_2(logit - most);
            base[half] = most;
        }
    }
    // Adds up the sums of lanes with the same rows.
    void finish() {
#pragma unroll
        for (float& of_row : sum) {
            of_row += from_lane_across(of_row, 1);
            of_row += from_lane_across(of_row, 2);
        }
    }
    template <RowNumber NUMBER>
    float number(int half) const {
        if (NUMBER == RowNumber::LogSum) return kLnOf2 * (base[half] + log2f(sum[half]));
        if (NUMBER == RowNumber::Sum) return sum[half];
        bool const has_nan = sum[half] != sum[half] && base[half] < -minus_infinity();  // which maxima pass over
        return has_nan ? sum[half] : kLnOf2 * base[half];
    }

   private:
    // Moves the bases of rows whose greatest score is too far above them. Returns whether the warp has such rows.
    bool move_bases(float const (&scores)[KEYS / 8][4], float scale, float (&factors)[2]) {
        float largest[2] = {minus_infinity(), minus_infinity()};
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) largest[j / 2] = fmaxf(largest[j / 2], scores[i][j]);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float& most = largest[half];
            most = fmaxf(most, from_lane_across(most, 1));
            most = fmaxf(most, from_lane_across(most, 2)) * scale;
            bool const moves = most > base[half] + kMostAboveBase;
            factors[half] = moves ? power_of_2(base[half] - most) : 1.0f;
            if (moves) base[half] = most;
            sum[half] *= factors[half];
        }
        return ballot(factors[0] != 1 || factors[1] != 1) != 0;
    }
};

template <int COUNT>
inline void multiply_rows(float (&sums)[COUNT][4], float const (&factors)[2]) {
#pragma unroll
    for (auto& four : sums) {
#pragma unroll
        for (int j = 0; j < 4; ++j) four[j] *= factors[j / 2];
    }
}

// The lane's rows of a tile.
template <int KEYS>
struct OwnRows {
    RowRange visible[2];

    OwnRows(QueryTile const& tile, int first_query) {
#pragma unroll
        for (int half = 0; half < 2; ++half) visible[half] = tile.visible_to(first_query + lane_index() / 4 + 8 * half);
    }

    void hide(float (&scores)[KEYS / 8][4], int block) const {
        set_outside(scores, visible, block * KEYS, minus_infinity());
    }
};

template <class Element, int COLUMNS, int VALUE_COLUMNS>
class QueryWarpgroup {
   public:
    using Memory = ForwardMemory<Element, COLUMNS, VALUE_COLUMNS>;
    static constexpr int kKeys = Memory::kKeys, kQueries = Memory::kQueries;

    QueryWarpgroup(AttentionArguments const& arguments, Memory& memory, int warpgroup)
        : arguments_(arguments), memory_(memory), warpgroup_(warpgroup) {}

    void attend_to_tiles() {
        if (warpgroup_ == kWarpgroups - 1) give_turn(1);
        OwnPlaces<Memory> places(arguments_, memory_);
        for (int place = places.read(); place < arguments_.order.places; place = places.read()) {
            if (TilePlace const tile(arguments_.order, place); !tile.is_empty) attend(QueryTile(arguments_, tile));
        }
        if (warpgroup_ == 0) wait_for_turn(1);
        if (lane_index() == 0) wait_for_box_stores();
    }

   private:
    static constexpr int kFirstOwnBarrier = 1 + kWarpgroups;  // named barriers, behind those of turns

    void attend(QueryTile tile) {
        int const own_row = warpgroup_ * kWarpgroupQueries + row_of_warp();
        int const own_head = kMayShareTiles ? own_row / queries_of_tile(arguments_) : 0;  // among those of the tile
        int const first_of_tile = tile.first_query(arguments_);
        int const first_query = first_of_tile + own_row - own_head * queries_of_tile(arguments_);
        tile.head += own_head;
        if (is_behind(arguments_, tile, first_of_tile)) return store_rows(tile, first_query, {});
        KeyBlocks<kKeys> const blocks(arguments_, tile);
        OwnRows<kKeys> const own(tile, first_query);
        ScoreTerms<kKeys> terms(arguments_, tile, first_query);
        KeptWeights<kKeys> kept(arguments_, tile, first_query);
        RowWeights<kKeys> rows;
        float output[VALUE_COLUMNS / 8][4];
        if (blocks.are_none()) {
            if (!Memory::kHasOutput) memory_.queries_are_here.wait_for(tiles_++);
            set_zero(output);
        } else {
            add_blocks(blocks, own, terms, kept, rows, output);
        }
        rows.finish();
        if (arguments_.sinks.start != nullptr) {
            float factors[2];
            rows.add_sink(kLog2OfE * arguments_.sinks[tile.head], factors);
            multiply_rows(output, factors);
        }
        store(tile, own_row, first_query, rows, output);
    }

    void add_blocks(KeyBlocks<kKeys> const& blocks, OwnRows<kKeys> const& own, ScoreTerms<kKeys>& terms,
                    KeptWeights<kKeys>& kept, RowWeights<kKeys>& rows, float (&output)[VALUE_COLUMNS / 8][4]) {
        float scores[kKeys / 8][4], factors[2];
        MatrixBlock weights[kKeys / 16];
        memory_.queries_are_here.wait_for(tiles_++);
        int block = blocks.last();
        wait_for_keys(true);
        wait_for_turn(1 + warpgroup_);
        start_scores(scores);
        terms.prepare(block, blocks.is_modified(block), memory_, warpgroup_, keys_.number);
        if (kHasDropout) kept.draw(block);
        wait_for_products<0>();
        give_turn(1 + (warpgroup_ + 1) % kWarpgroups);
        hold(scores);
        memory_.keys_are_read[keys_.stage()].arrive();
        keys_.go_on();
        weigh(scores, block, blocks, own, terms, kept, rows, factors);
        pack_weights(weights, scores);
        bool adds = false;
        block = blocks.before(block);
        wait_for_keys(blocks.has(block));
        while (blocks.has(block)) {
            wait_for_turn(1 + warpgroup_);
            start_scores(scores);
            start_output(output, weights, adds);
            adds = true;
            give_turn(1 + (warpgroup_ + 1) % kWarpgroups);
            terms.prepare(block, blocks.is_modified(block), memory_, warpgroup_, keys_.number);
            if (kHasDropout) kept.draw(block);
            wait_for_products<1>();
            hold(scores);
            memory_.keys_are_read[keys_.stage()].arrive();
            keys_.go_on();
            bool const moves = weigh(scores, block, blocks, own, terms, kept, rows, factors);
            int const next = blocks.before(block);
            if (kOverlapsOwnProducts) wait_for_keys(blocks.has(next));
            finish_output(output, weights);
            if (moves) multiply_rows(output, factors);
            pack_weights(weights, scores);
            if (!kOverlapsOwnProducts) wait_for_keys(blocks.has(next));
            block = next;
        }
        if (Memory::kHasOutput) memory_.queries_are_read.arrive();
        start_output(output, weights, adds);
        finish_output(output, weights);
    }

    bool weigh(float (&scores)[kKeys / 8][4], int block, KeyBlocks<kKeys> const& blocks, OwnRows<kKeys> const& own,
               ScoreTerms<kKeys> const& terms, KeptWeights<kKeys> const& kept, RowWeights<kKeys>& rows,
               float (&factors)[2]) {
        float const greatest = kHasShortScore && terms.is_modified() ? terms.greatest_of(scores) : 0.0f;
        float scale = arguments_.scale_as_power;
        bool are_below = false;
        if (!terms.is_modified()) {
            if (kHasTerms) scale = terms.template add<ScoreForm::Unchanged>(scores, block);
        } else if (kHasShortScore && terms.are_short(greatest)) {
            scale = terms.template add<ScoreForm::Short>(scores, block);
            are_below = terms.are_below(rows.base, kMostAboveBase, greatest, scale);
        } else {
            scale = terms.template add<ScoreForm::Modified>(scores, block);
        }
        if (kFetchesBias && arguments_.bias.is_boxed) memory_.bias_rounds.are_read[warpgroup_].arrive();
        if (!blocks.is_full(block)) own.hide(scores, block);
        bool const moves = rows.weigh(scores, scale, are_below, factors);
        if (kHasDropout) kept.drop(scores);
        return moves;
    }

    // Waits for the keys of the next block, if there is one. Without a branch after the weights, which this is, the
    // compiler moves the wait for own products ahead of the weights, so that nothing is computed while products go on.
    void wait_for_keys(bool has_block) {
        if (has_block) memory_.keys_are_here[keys_.stage()].wait_for(keys_.round());
    }

    void start_scores(float (&scores)[kKeys / 8][4]) {
        int const stage = keys_.stage();
        begin_products();
#pragma unroll
        for (int k = 0; k < COLUMNS / 16; ++k) {
            int const panel = 16 * k / kPanelColumns, column = 16 * k % kPanelColumns;
            start_product<false, false>(scores,
                                        Factor(memory_.queries.panels[panel], warpgroup_ * kWarpgroupQueries, column),
                                        Factor(memory_.keys[stage].panels[panel], 0, column), k > 0, Element());
        }
        end_products();
    }

    void start_output(float (&output)[VALUE_COLUMNS / 8][4], MatrixBlock const (&weights)[kKeys / 16], bool adds) {
        int const stage = values_.stage();
        memory_.values_are_here[stage].wait_for(values_.round());
        begin_products();
#pragma unroll
        for (int k = 0; k < kKeys / 16; ++k) {
            start_product<true>(output, weights[k], Factor(memory_.values[stage].panels[0], 16 * k, 0), adds || k > 0,
                                Element());
        }
        end_products();
    }
    void finish_output(float (&output)[VALUE_COLUMNS / 8][4], MatrixBlock (&weights)[kKeys / 16]) {
        wait_for_products<0>();
        hold(output);
#pragma unroll
        for (MatrixBlock& block : weights) hold(block);
        memory_.values_are_read[values_.stage()].arrive();
        values_.go_on();
    }

    static void pack_weights(MatrixBlock (&weights)[kKeys / 16], float const (&scores)[kKeys / 8][4]) {
#pragma unroll
        for (int i = 0; i < kKeys / 16; ++i) weights[i] = block_of<Element>(scores[2 * i], scores[2 * i + 1]);
    }

    // Each warp stores its 16 rows.
    void store(QueryTile const& tile, int own_row, int first_query, RowWeights<kKeys> const& rows,
               float (&output)[VALUE_COLUMNS / 8][4]) {
        int const lane = computed_here(lane_index());
        float inverses[2];
        bool is_there[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            is_there[half] = first_query + lane / 4 + 8 * half < tile.queries && rows.sum[half] != 0;
            inverses[half] = (kHasDropout ? arguments_.dropout.scale : 1.0f) / rows.sum[half];
        }
        // The output takes the memory of queries that other warps' products may still read.
        if (!Memory::kHasOutput) wait_for_warpgroup(kFirstOwnBarrier + warpgroup_);
        if (lane == 0) wait_for_box_stores();
        wait_for_warp();
        Panel<Element, kQueries>* const panels = memory_.output();
#pragma unroll
        for (int i = 0; i < VALUE_COLUMNS / 16; ++i) {
            float results[2][4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                results[0][j] = is_there[j / 2] ? output[2 * i][j] * inverses[j / 2] : 0.0f;
                results[1][j] = is_there[j / 2] ? output[2 * i + 1][j] * inverses[j / 2] : 0.0f;
            }
            store_block(panels[i / 4].piece(own_row + lane % 16, i % 4 * 16 + lane / 16 * 8),
                        block_of<Element>(results[0], results[1]));
        }
        show_to_products();
        wait_for_warp();
        if (lane == 0) {
            TensorMap const& map = map_for(tile, arguments_, OutputMap);
            int const batch = batch_for(tile, arguments_.entries);
#pragma unroll
            for (int panel = 0; panel < VALUE_COLUMNS / kPanelColumns; ++panel) {
                start_box_store(map, {panel * kPanelColumns, first_query, tile.head, batch},
                                panels[panel].piece(own_row, 0));
            }
            end_box_stores();
            if (!Memory::kHasOutput) wait_for_box_stores();
        }
        if (!Memory::kHasOutput) memory_.queries_are_read.arrive();
        store_rows(tile, first_query, rows);
    }

    void store_rows(QueryTile const& tile, int first_query, RowWeights<kKeys> const& rows) {
        store_numbers<RowNumber::LogSum>(arguments_.stats, tile, first_query, rows);
        if constexpr (kStoresMaxima) {
            store_numbers<RowNumber::Maximum>(arguments_.maxima, tile, first_query, rows);
            store_numbers<RowNumber::Sum>(arguments_.sums, tile, first_query, rows);
        }
    }
    // Stores a number for each of the lane's two rows.
    template <RowNumber NUMBER>
    void store_numbers(RowNumbers const& to, QueryTile const& tile, int first_query, RowWeights<kKeys> const& rows) {
        if (to.start == nullptr || lane_index() % 4 != 0) return;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const query = first_query + lane_index() / 4 + 8 * half;
            bool const is_behind = to.offsets.start != nullptr && query >= tile.queries;
            if (query >= arguments_.sequences.query_rows || is_behind) continue;
            bool const is_there = query < tile.queries && rows.sum[half] != 0;
            float const without_keys =
                arguments_.sinks.start == nullptr ? minus_infinity() : arguments_.sinks[tile.head];
            to.start[start_of_entry(to, tile.batch) + tile.head * to.head + query * to.row] =
                is_there ? rows.template number<NUMBER>(half) : number_of_sink<NUMBER>(without_keys);
        }
    }

    AttentionArguments const& arguments_;
    Memory& memory_;
    int warpgroup_;
    int tiles_ = 0;
    Ring<kKeyStages> keys_, values_;
};

template <class Element, int COLUMNS, int VALUE_COLUMNS>
inline void attend(AttentionArguments const& arguments) {
    using Memory = ForwardMemory<Element, COLUMNS, VALUE_COLUMNS>;
    static_assert(sizeof(Memory) <=
                  attention_shared_bytes(COLUMNS, VALUE_COLUMNS, kWarpgroups, kFetchesBias, kHasRegion));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Memory& memory = *reinterpret_cast<Memory*>(shared_memory);
    if (threadIdx.x == 0) memory.make_barriers();
    __syncthreads();
    int const warpgroup = static_cast<int>(from_lane(threadIdx.x / kThreadsOfWarpgroup, 0));
    if (warpgroup == 0) {
        leave_registers<kFetcherRegisters>();
        if (threadIdx.x < 32) Fetcher<Element, COLUMNS, VALUE_COLUMNS>(arguments, memory).fetch_tiles();
    } else {
        take_registers<kRegisters>();
        QueryWarpgroup<Element, COLUMNS, VALUE_COLUMNS>(arguments, memory, warpgroup - 1).attend_to_tiles();
    }
}

extern "C" __global__ void __launch_bounds__(attention_threads(kWarpgroups), 1)
    attention_forward(__grid_constant__ AttentionArguments const arguments) {
    attend<X, COLUMNS_OF_KEYS, COLUMNS_OF_VALUES>(arguments);
}
