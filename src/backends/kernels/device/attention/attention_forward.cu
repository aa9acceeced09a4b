// Attention forward by warpgroups, for compute capability 9.0. A block goes on from tile of queries to tile of queries.
// One warp has the copy engine fetch the tile's queries and all keys and values that are visible to any of them, some
// stages ahead; the other warpgroups have 64 queries each. While a warpgroup's products of the last weights and values
// go on, it computes the next weights.
#include <attention/attention_arguments.h>
#include <hopper/bulk_copies.cuh>

using namespace cudnn_frontend::kernels;

constexpr float kLnOf2 = 0.6931471805599453f;
// Scores may exceed the base of their weights by this much, as powers of 2, before the sums move to a new base.
constexpr float kMostAboveBase = 8.0f;

inline float minus_infinity() { return __uint_as_float(0xff800000u); }

#ifndef TAKES_TURNS
#define TAKES_TURNS (COLUMNS_OF_KEYS <= 64)
#endif

template <class Element, int ROWS, int COLUMNS>
struct Panels {
    static constexpr int kRows = ROWS, kBytes = ROWS * ((COLUMNS + kPanelColumns - 1) / kPanelColumns) * kPanelRowBytes;

    Panel<Element, ROWS> panels[(COLUMNS + kPanelColumns - 1) / kPanelColumns];
};

template <class Element, int ROWS, int COLUMNS, bool HAS_MEMORY>
struct OutputPanels : Panels<Element, ROWS, COLUMNS> {};
template <class Element, int ROWS, int COLUMNS>
struct OutputPanels<Element, ROWS, COLUMNS, false> {};

// Numbers the stages of a ring.
template <int STAGES>
struct Ring {
    int number = 0;

    int stage() const { return number % STAGES; }
    int round() const { return number / STAGES; }
    void go_on() { ++number; }
};

template <class Element, int COLUMNS, int VALUE_COLUMNS>
struct ForwardMemory {
    static constexpr int kQueries = tile_queries(COLUMNS), kKeys = tile_keys(COLUMNS);
    static constexpr bool kHasOutput = has_output_memory(COLUMNS);

    Panels<Element, kQueries, COLUMNS> queries;
    Panels<Element, kKeys, COLUMNS> keys[kKeyStages];
    Panels<Element, kKeys, VALUE_COLUMNS> values[kKeyStages];
    OutputPanels<Element, kQueries, VALUE_COLUMNS, kHasOutput> own_output;
    Arrivals queries_are_here, queries_are_read;
    Arrivals keys_are_here[kKeyStages], keys_are_read[kKeyStages];
    Arrivals values_are_here[kKeyStages], values_are_read[kKeyStages];

    Panel<Element, kQueries>* output() {
        if constexpr (kHasOutput) return own_output.panels;
        else return queries.panels;
    }
    void make_barriers() {
        constexpr int kWarps = attention_warpgroups(COLUMNS) * 4;
        queries_are_here.make(1);
        queries_are_read.make(kWarps);
        for (int stage = 0; stage < kKeyStages; ++stage) {
            keys_are_here[stage].make(1);
            values_are_here[stage].make(1);
            keys_are_read[stage].make(kWarps);
            values_are_read[stage].make(kWarps);
        }
        show_barriers_to_copies();
    }
};

inline int smaller(int a, int b) { return a < b ? a : b; }
inline int larger(int a, int b) { return a > b ? a : b; }

// Keys from begin on, without end.
struct KeyRange {
    int begin, end;
};

// A tile of queries of one head.
struct QueryTile {
    int number, head, batch;
    int queries, keys;  // of the sequence
    int diagonal;
    VisibleBand band;

    QueryTile(AttentionArguments const& arguments, int place) : band(arguments.band) {
        TileOrder const& order = arguments.order;
        int const section = place / (order.tiles * order.heads_of_section);
        int const first_head = section * order.heads_of_section;
        int const heads = smaller(order.heads_of_section, arguments.batches * arguments.heads - first_head);
        int const in_section = place - first_head * order.tiles;
        number = in_section / heads;
        int const head_of_all = first_head + in_section - number * heads;
        if (order.is_backwards) number = order.tiles - 1 - number;
        batch = head_of_all / arguments.heads;
        head = head_of_all - batch * arguments.heads;
        queries = arguments.query_lengths == nullptr ? arguments.query_rows : arguments.query_lengths[batch];
        keys = arguments.key_lengths == nullptr ? arguments.key_rows : arguments.key_lengths[batch];
        diagonal = band.is_bottom_right ? keys - queries : 0;
    }

    KeyRange visible_to(int query) const {
        return {larger(0, query + diagonal - band.left), smaller(keys, query + diagonal + band.right + 1)};
    }
};

// The blocks of keys that are visible to a tile, and those of them that are visible to all of its queries.
template <int QUERIES, int KEYS>
struct KeyBlocks {
    int first, end;
    int full_first, full_end;

    explicit KeyBlocks(QueryTile const& tile) {
        int const first_query = tile.number * QUERIES, last_query = smaller(first_query + QUERIES, tile.queries) - 1;
        KeyRange const of_first = tile.visible_to(first_query), of_last = tile.visible_to(last_query);
        first = of_first.begin / KEYS;
        end = (of_last.end + KEYS - 1) / KEYS;
        if (last_query < first_query || of_last.end <= of_first.begin) end = first;
        full_first = (of_last.begin + KEYS - 1) / KEYS;
        full_end = of_first.end / KEYS;
    }
    int count() const { return end - first; }
    bool is_full(int block) const { return block >= full_first && block < full_end; }
};

// --- The warp that fetches

template <class Element, int COLUMNS, int VALUE_COLUMNS>
inline void fetch_tiles(AttentionArguments const& arguments, ForwardMemory<Element, COLUMNS, VALUE_COLUMNS>& memory) {
    using Memory = ForwardMemory<Element, COLUMNS, VALUE_COLUMNS>;
    auto const fetch = [](auto& panels, TensorMap const& map, BoxPlace place, Arrivals& arrivals) {
        arrivals.arrive_and_expect(sizeof(panels));
#pragma unroll
        for (auto& panel : panels.panels) {
            start_box_copy(&panel, map, place, arrivals);
            place.column += kPanelColumns;
        }
    };
    Ring<kKeyStages> ring;
    int tiles = 0;
    for (int place = blockIdx.x; place < arguments.order.count; place += gridDim.x) {
        QueryTile const tile(arguments, place);
        KeyBlocks<Memory::kQueries, Memory::kKeys> const blocks(tile);
        // Where outputs take their memory, queries are fetched for all tiles: so rounds count those without keys, too.
        if (blocks.count() == 0 && Memory::kHasOutput) continue;
        if (tiles > 0) memory.queries_are_read.wait_for(tiles - 1);
        fetch(memory.queries, arguments.queries, {0, tile.number * Memory::kQueries, tile.head, tile.batch},
              memory.queries_are_here);
        ++tiles;
        int const key_head = tile.head / arguments.heads_of_key_head;
        for (int block = blocks.end - 1; block >= blocks.first; --block) {
            BoxPlace const at{0, block * Memory::kKeys, key_head, tile.batch};
            int const stage = ring.stage();
            if (ring.round() > 0) memory.keys_are_read[stage].wait_for(ring.round() - 1);
            fetch(memory.keys[stage], arguments.keys, at, memory.keys_are_here[stage]);
            if (ring.round() > 0) memory.values_are_read[stage].wait_for(ring.round() - 1);
            fetch(memory.values[stage], arguments.values, at, memory.values_are_here[stage]);
            ring.go_on();
        }
    }
}

// --- The warpgroups that have queries

// The weights of a lane's two rows, relative to a power of 2.
template <int KEYS>
struct RowWeights {
    float base[2] = {minus_infinity(), minus_infinity()};
    float sum[2] = {0, 0};

    // Scores become weights. Returns in `factors` what earlier sums must be multiplied by.
    void weigh(float (&scores)[KEYS / 8][4], float scale, float (&factors)[2]) {
        float largest[2] = {minus_infinity(), minus_infinity()};
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) largest[j / 2] = fmaxf(largest[j / 2], scores[i][j]);
        }
        float negated[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float& most = largest[half];
            most = fmaxf(most, from_lane_across(most, 1));
            most = fmaxf(most, from_lane_across(most, 2)) * scale;
            bool const moves = most > base[half] + kMostAboveBase;
            factors[half] = moves ? power_of_2(base[half] - most) : 1.0f;
            if (moves) base[half] = most;
            sum[half] *= factors[half];
            negated[half] = base[half] == minus_infinity() ? 0.0f : -base[half];
        }
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                scores[i][j] = power_of_2(fmaf(scores[i][j], scale, negated[j / 2]));
                sum[j / 2] += scores[i][j];
            }
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
};

template <int COUNT>
inline void multiply_rows(float (&sums)[COUNT][4], float const (&factors)[2]) {
    if (ballot(factors[0] != 1 || factors[1] != 1) == 0) return;
#pragma unroll
    for (auto& four : sums) {
#pragma unroll
        for (int j = 0; j < 4; ++j) four[j] *= factors[j / 2];
    }
}

template <int COUNT>
inline void set_zero(float (&sums)[COUNT][4]) {
#pragma unroll
    for (auto& four : sums) {
#pragma unroll
        for (float& sum : four) sum = 0;
    }
}

template <class Element>
inline MatrixBlock block_of(float const (&left)[4], float const (&right)[4]) {
    Element const type{};
    return {{pack(left[0], left[1], type), pack(left[2], left[3], type), pack(right[0], right[1], type),
             pack(right[2], right[3], type)}};
}

// The lane's rows of a tile.
template <int KEYS>
struct OwnRows {
    KeyRange visible[2];

    OwnRows(QueryTile const& tile, int first_query) {
#pragma unroll
        for (int half = 0; half < 2; ++half) visible[half] = tile.visible_to(first_query + lane_index() / 4 + 8 * half);
    }

    void hide(float (&scores)[KEYS / 8][4], int block) const {
        int const first = block * KEYS + 2 * (lane_index() % 4);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const begin = visible[half].begin - first, end = visible[half].end - first;
#pragma unroll
            for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    bool const is_visible = 8 * i + j >= begin && 8 * i + j < end;
                    if (!is_visible) scores[i][2 * half + j] = minus_infinity();
                }
            }
        }
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
        if (TAKES_TURNS && warpgroup_ == kWarpgroups - 1) give_turn(1);
        for (int place = blockIdx.x; place < arguments_.order.count; place += gridDim.x) {
            attend(QueryTile(arguments_, place));
        }
        if (TAKES_TURNS && warpgroup_ == 0) wait_for_turn(1);
        if (lane_index() == 0) wait_for_box_stores();
    }

   private:
    static constexpr int kWarpgroups = attention_warpgroups(COLUMNS);
    static constexpr int kFirstOwnBarrier = 1 + kWarpgroups;  // named barriers, behind those of turns

    void attend(QueryTile const& tile) {
        int const own_row =
            warpgroup_ * kWarpgroupQueries + static_cast<int>(threadIdx.x) % kThreadsOfWarpgroup / 32 * 16;
        int const first_query = tile.number * kQueries + own_row;
        KeyBlocks<kQueries, kKeys> const blocks(tile);
        OwnRows<kKeys> const own(tile, first_query);
        RowWeights<kKeys> rows;
        float output[VALUE_COLUMNS / 8][4];
        if (blocks.count() == 0) {
            if (!Memory::kHasOutput) memory_.queries_are_here.wait_for(tiles_++);
            set_zero(output);
        } else {
            add_blocks(blocks, own, rows, output);
        }
        rows.finish();
        store(tile, own_row, first_query, rows, output);
    }

    void add_blocks(KeyBlocks<kQueries, kKeys> const& blocks, OwnRows<kKeys> const& own, RowWeights<kKeys>& rows,
                    float (&output)[VALUE_COLUMNS / 8][4]) {
        float scores[kKeys / 8][4], factors[2];
        MatrixBlock weights[kKeys / 16];
        memory_.queries_are_here.wait_for(tiles_++);
        int block = blocks.end - 1;
        if (TAKES_TURNS) wait_for_turn(1 + warpgroup_);
        start_scores(scores);
        wait_for_products<0>();
        if (TAKES_TURNS) give_turn(1 + (warpgroup_ + 1) % kWarpgroups);
        hold(scores);
        memory_.keys_are_read[keys_.stage()].arrive();
        keys_.go_on();
        if (!blocks.is_full(block)) own.hide(scores, block);
        rows.weigh(scores, arguments_.scale, factors);
        pack_weights(weights, scores);
        bool adds = false;
        while (--block >= blocks.first) {
            if (TAKES_TURNS) wait_for_turn(1 + warpgroup_);
            start_scores(scores);
            start_output(output, weights, adds);
            adds = true;
            if (TAKES_TURNS) give_turn(1 + (warpgroup_ + 1) % kWarpgroups);
            wait_for_products<1>();
            hold(scores);
            memory_.keys_are_read[keys_.stage()].arrive();
            keys_.go_on();
            if (!blocks.is_full(block)) own.hide(scores, block);
            rows.weigh(scores, arguments_.scale, factors);
            finish_output(output, weights);
            multiply_rows(output, factors);
            pack_weights(weights, scores);
        }
        if (Memory::kHasOutput) memory_.queries_are_read.arrive();
        start_output(output, weights, adds);
        finish_output(output, weights);
    }

    void start_scores(float (&scores)[kKeys / 8][4]) {
        int const stage = keys_.stage();
        memory_.keys_are_here[stage].wait_for(keys_.round());
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
            inverses[half] = 1.0f / rows.sum[half];
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
#pragma unroll
            for (int panel = 0; panel < VALUE_COLUMNS / kPanelColumns; ++panel) {
                start_box_store(arguments_.output, {panel * kPanelColumns, first_query, tile.head, tile.batch},
                                panels[panel].piece(own_row, 0));
            }
            end_box_stores();
            if (!Memory::kHasOutput) wait_for_box_stores();
        }
        if (!Memory::kHasOutput) memory_.queries_are_read.arrive();
        store_stats(tile, first_query, rows);
    }

    void store_stats(QueryTile const& tile, int first_query, RowWeights<kKeys> const& rows) {
        RowNumbers const& stats = arguments_.stats;
        if (stats.start == nullptr || lane_index() % 4 != 0) return;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const query = first_query + lane_index() / 4 + 8 * half;
            if (query >= arguments_.query_rows) continue;
            bool const is_there = query < tile.queries && rows.sum[half] != 0;
            stats.start[tile.batch * stats.batch + tile.head * stats.head + query * stats.row] =
                is_there ? kLnOf2 * (rows.base[half] + log2f(rows.sum[half])) : minus_infinity();
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
    static_assert(sizeof(Memory) <= attention_shared_bytes(COLUMNS, VALUE_COLUMNS));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Memory& memory = *reinterpret_cast<Memory*>(shared_memory);
    if (threadIdx.x == 0) memory.make_barriers();
    __syncthreads();
    int const warpgroup = static_cast<int>(from_lane(threadIdx.x / kThreadsOfWarpgroup, 0));
    if (warpgroup == 0) {
        leave_registers<attention_fetcher_registers(COLUMNS)>();
        if (threadIdx.x == 0) fetch_tiles(arguments, memory);
    } else {
        take_registers<attention_registers(COLUMNS)>();
        QueryWarpgroup<Element, COLUMNS, VALUE_COLUMNS>(arguments, memory, warpgroup - 1).attend_to_tiles();
    }
}

extern "C" __global__ void __launch_bounds__(attention_threads(COLUMNS_OF_KEYS), 1)
    attention_forward(__grid_constant__ AttentionArguments const arguments) {
    attend<X, COLUMNS_OF_KEYS, COLUMNS_OF_VALUES>(arguments);
}
