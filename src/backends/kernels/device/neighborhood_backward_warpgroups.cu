// The gradients of neighborhood attention in one pass: a block of two warpgroups for each tile of keys, whose queries'
// gradients it adds to sums in memory; passes over rows before and after it. Tensors: Queries, Keys, Values, Output,
// Stats, OutputGradient; QueryStatistics and QuerySums, which are in between; QueryGradient, KeyGradient, ValueGradient. Options
// define X, the type of the elements, and GROUP_COLUMNS, their number rounded up.
#include <neighborhood_warpgroups.cuh>

// --- Rows

// A thread's eight columns of a row; the heads of a token follow each other.
template <int COLUMNS>
class RowPart {
   public:
    static constexpr int kThreads = COLUMNS / 8;  // of a row

    explicit RowPart(NeighborhoodArguments const& arguments) {
        unsigned const thread = blockIdx.x * blockDim.x + threadIdx.x;
        column = static_cast<int>(thread % kThreads) * 8;
        unsigned index = thread / kThreads;
        take(index, arguments.heads, head_);
        for (int axis = kMostAxes; axis-- > 0;) take(index, arguments.axes[axis].length, space_[axis]);
        is_there = index < static_cast<unsigned>(arguments.batches) && column < arguments.columns;
        batch_ = index;
    }

    // Of its first column.
    long long offset_of(NeighborhoodAccess const& tensor) const {
        long long offset = batch_ * tensor.batch + head_ * tensor.head;
        for (int axis = 0; axis < kMostAxes; ++axis) offset += space_[axis] * tensor.space[axis];
        return offset + column;
    }

    int column;
    bool is_there;

   private:
    static void take(unsigned& index, long long size, unsigned& at) {
        unsigned const rest = index / static_cast<unsigned>(size);
        at = index - rest * static_cast<unsigned>(size);
        index = rest;
    }

    unsigned batch_, head_, space_[kMostAxes];
};

// Stats times log2(e) and Delta, and sums of 0.
template <class Element, int COLUMNS>
inline void gradient_start(NeighborhoodArguments const& arguments) {
    NeighborhoodAccess const* const tensors = arguments.tensors;
    RowPart<COLUMNS> const part(arguments);
    float delta = 0;
    if (part.is_there) {
        Run<Element, 8> output, gradient;
        output.load(static_cast<Element const*>(tensors[kOutput].start) + part.offset_of(tensors[kOutput]));
        gradient.load(static_cast<Element const*>(tensors[kOutputGradient].start) +
                      part.offset_of(tensors[kOutputGradient]));
        for (int i = 0; i < 8; ++i) delta += to_float(output.elements[i]) * to_float(gradient.elements[i]);
        auto* const sums = static_cast<float*>(tensors[kQuerySums].start) + part.offset_of(tensors[kQuerySums]);
        reinterpret_cast<uint4*>(sums)[0] = reinterpret_cast<uint4*>(sums)[1] = uint4{};
    }
    for (int bits = RowPart<COLUMNS>::kThreads / 2; bits > 0; bits /= 2) delta += from_lane_across(delta, bits);
    if (part.is_there && part.column == 0) {
        float const stats = static_cast<float const*>(tensors[kStats].start)[part.offset_of(tensors[kStats])];
        float* const pair =
            static_cast<float*>(tensors[kQueryStatistics].start) + part.offset_of(tensors[kQueryStatistics]);
        pair[0] = kLog2OfE * stats;
        pair[1] = delta;
    }
}

template <class Element, int COLUMNS>
inline void gradient_end(NeighborhoodArguments const& arguments) {
    NeighborhoodAccess const* const tensors = arguments.tensors;
    RowPart<COLUMNS> const part(arguments);
    if (!part.is_there) return;
    Run<float, 8> sums;
    sums.load(static_cast<float const*>(tensors[kQuerySums].start) + part.offset_of(tensors[kQuerySums]));
    uint4 gradient;
    unsigned words[4];
    for (int i = 0; i < 4; ++i) {
        words[i] = pack(sums.elements[2 * i] * arguments.scale, sums.elements[2 * i + 1] * arguments.scale, Element());
    }
    gradient = {words[0], words[1], words[2], words[3]};
    *reinterpret_cast<uint4*>(static_cast<Element*>(tensors[kQueryGradient].start) +
                              part.offset_of(tensors[kQueryGradient])) = gradient;
}

// --- Products

// Of which a stage has rows.
enum { kStagedQueries, kStagedGradients, kStagedStats, kStagedDelta, kStagedSums, kStagedTensors };

// A stage's rows; and in their place, once they have been used, the sums that they get.
template <class Element, int COLUMNS>
union StagedQueries {
    struct {
        Panels<Element, kGroupRows, COLUMNS> queries, output_gradients;
    } rows;
    float sums[kGroupRows][COLUMNS + kSumGap];
};

// A warpgroup's own.
template <class Element, int KEYS, int COLUMNS>
struct GroupQueryStages {
    StagedQueries<Element, COLUMNS> staged[2];
    Panel<Element, KEYS> score_gradients;  // of a key in each row
    float statistics[2][2][kGroupRows];    // Stats times log2(e), and Delta
    RowTable<kStagedTensors> tables[3];
};

template <class Element, int COLUMNS>
struct GradientMemory {
    static constexpr int kKeys = group_tile_tokens(COLUMNS, true);

    Panels<Element, kKeys, COLUMNS> keys, values;
    GroupQueryStages<Element, kKeys, COLUMNS> groups[kGroups];
};

template <class Element, int KEYS, int COLUMNS>
inline void start_copying(NeighborhoodArguments const& arguments, Tile const& tile,
                          Panels<Element, KEYS, COLUMNS>& keys, Panels<Element, KEYS, COLUMNS>& values) {
    constexpr int kPieces = COLUMNS / 8;
    for (int i = threadIdx.x; i < KEYS * kPieces; i += kGroupTileThreads) {
        int const row = i / kPieces, column = i % kPieces * 8;
        bool is_there;
        Coordinates const place = tile.place_of(row, is_there);
        auto const copy = [&](Panels<Element, KEYS, COLUMNS>& to, NeighborhoodAccess const& tensor) {
            Element const* const start = static_cast<Element const*>(tensor.start);
            bool const has_column = column < arguments.columns;
            start_copy_of_16_bytes(to.piece(row, column),
                                   has_column ? start + tile.offset_of(tensor, place) + column : start, has_column);
        };
        copy(keys, arguments.tensors[kKeys]);
        copy(values, arguments.tensors[kValues]);
    }
}

// Scores and products of output gradients with values become weights and gradients of scores.
inline void weigh(float (&scores)[8][4], float (&products)[8][4], Seen const& seen, float scale,
                  float const (&statistics)[2][kGroupRows]) {
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 4; ++j) {
            int const query = 8 * i + 2 * (lane_index() % 4) + j % 2;
            float const weight = power_of_2(scores[i][j] * scale - statistics[0][query]);
            scores[i][j] = seen.all | seen.has(i, j) ? weight : 0.0f;
            products[i][j] = scores[i][j] * (products[i][j] - statistics[1][query]);
        }
    }
}

// A warpgroup's part of the gradients of all keys of the tile: every second stage of queries, from its own on.
template <class Element, int COLUMNS>
class KeyGradients {
   public:
    using Memory = GradientMemory<Element, COLUMNS>;
    static constexpr int kBlocks = Memory::kKeys / kGroupRows;

    KeyGradients(NeighborhoodArguments const& arguments, Tile const& tile, Memory& shared)
        : arguments_(arguments), tile_(tile), shared_(shared), own_(shared.groups[group_index()]) {}

    template <class Rows>
    void add_all(Rows& rows) {
        Box const& box = rows.all();
        int const stages = (box.count() + kGroupRows - 1) / kGroupRows;
        int const first = group_index();
        look_up(box, first);
        look_up(box, first + kGroups);
        wait_for_rows();  // the tile's own
        __syncthreads();
        if (first < stages) start_copies(first);
        for (int stage = first; stage < stages; stage += kGroups) {
            wait_for_rows();
            wait_for_warpgroup();
            look_up(box, stage + 2 * kGroups);
            add(rows, stage);
            show_to_products();
            wait_until_read();
            wait_for_warpgroup();
            if (stage + kGroups < stages) start_copies(stage + kGroups);
            add_to_queries(stage);
        }
        wait_until_read();
    }

    // Of each block of keys.
    GroupSums<Element, COLUMNS> keys[kBlocks], values[kBlocks];

   private:
    static int turn_of(int stage) { return stage / kGroups; }
    RowTable<kStagedTensors>& table(int stage) { return own_.tables[turn_of(stage) % 3]; }
    StagedQueries<Element, COLUMNS>& staged(int stage) { return own_.staged[turn_of(stage) % 2]; }
    static int thread() { return static_cast<int>(threadIdx.x) % kGroupThreads; }

    void look_up(Box const& box, int stage) {
        table(stage).template fill<kGroupThreads>(thread(), arguments_, tile_, box, stage,
                                                  {kQueries, kOutputGradient, kQueryStatistics, kQueryStatistics, kQuerySums});
    }

    void start_copies(int stage) {
        auto const& offsets = table(stage).offsets;
        NeighborhoodAccess const* const tensors = arguments_.tensors;
        auto& rows = staged(stage).rows;
        stage_rows<kGroupThreads>(thread(), rows.queries, tensors[kQueries], offsets[kStagedQueries],
                                  arguments_.columns);
        stage_rows<kGroupThreads>(thread(), rows.output_gradients, tensors[kOutputGradient], offsets[kStagedGradients],
                                  arguments_.columns);
        int const row = thread() % kGroupRows, statistic = thread() / kGroupRows;
        long long const offset = offsets[kStagedStats + statistic][row];
        float const* const start = static_cast<float const*>(tensors[kQueryStatistics].start) + statistic;
        start_copy_of_4_bytes(&own_.statistics[turn_of(stage) % 2][statistic][row],
                              offset >= 0 ? start + offset : start, offset >= 0);
    }

    // What the stage's queries add to the gradients of keys and values; leaves the gradients of scores.
    template <class Rows>
    void add(Rows& rows, int stage) {
        auto const& staged_rows = staged(stage).rows;
        rows.look_at(stage);
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) {
            if (!rows.meet(block, stage)) {
                write({}, block);
                continue;
            }
            float scores[8][4], products[8][4];
            begin_products();
            start_products_of_rows(scores, shared_.keys, block * kGroupRows, staged_rows.queries);
            start_products_of_rows(products, shared_.values, block * kGroupRows, staged_rows.output_gradients);
            end_products();
            Seen const seen = rows.seen(block);
            wait_for_products<0>();
            hold(scores);
            hold(products);
            weigh(scores, products, seen, arguments_.scale * kLog2OfE, own_.statistics[turn_of(stage) % 2]);
            Weights const weights(scores, Element()), gradients(products, Element());
            begin_products();
            values[block].start_adding(weights, staged_rows.output_gradients);
            keys[block].start_adding(gradients, staged_rows.queries);
            end_products();
            write(gradients, block);
            wait_for_products<0>();
            keys[block].finish();
            values[block].finish();
        }
    }

    void write(Weights const& gradients, int block) {
        int const row = block * kGroupRows + warp_in_group() * 16 + lane_index() % 16, column = lane_index() / 16 * 8;
        for (int i = 0; i < kGroupRows / 16; ++i) {
            store_block(own_.score_gradients.piece(row, 16 * i + column), gradients.blocks[i]);
        }
    }

    // What the tile's keys add to the gradients of the stage's queries.
    void add_to_queries(int stage) {
        constexpr int kPanels = COLUMNS / kPanelColumns;
        float sums[kPanels][8][4];
        begin_products();
#pragma unroll
        for (int key = 0; key < Memory::kKeys; key += 16) {
#pragma unroll
            for (int panel = 0; panel < kPanels; ++panel) {
                start_product<true, true>(sums[panel], Factor(own_.score_gradients, key, 0),
                                          Factor(shared_.keys.panels[panel], key, 0), key > 0, Element());
            }
        }
        end_products();
        wait_for_products<0>();
        for (auto& panel : sums) hold(panel);
        wait_for_warpgroup();  // which has used the stage's rows
        auto& memory = staged(stage).sums;
        int const row = warp_in_group() * 16 + lane_index() / 4, column = 2 * (lane_index() % 4);
        for (int panel = 0; panel < kPanels; ++panel) {
            for (int i = 0; i < 8; ++i) {
                for (int half = 0; half < 2; ++half) {
                    float const* const two = &sums[panel][i][2 * half];
                    *reinterpret_cast<uint2*>(&memory[row + 8 * half][panel * kPanelColumns + 8 * i + column]) = {
                        to_bits<float>(two[0]), to_bits<float>(two[1])};
                }
            }
        }
        show_to_products();
        wait_for_warp();
        add_rows(memory, table(stage).offsets[kStagedSums]);
    }

    // Those that the warp wrote.
    void add_rows(float const (&sums)[kGroupRows][COLUMNS + kSumGap], long long const* offsets) {
        if (lane_index() >= 16) return;
        int const row = warp_in_group() * 16 + lane_index();
        if (offsets[row] < 0) return;
        start_adding(static_cast<float*>(arguments_.tensors[kQuerySums].start) + offsets[row], sums[row],
                     arguments_.columns);
    }

    NeighborhoodArguments const& arguments_;
    Tile const& tile_;
    Memory& shared_;
    GroupQueryStages<Element, Memory::kKeys, COLUMNS>& own_;
};

// Adds up what the warpgroups have, through shared memory: the first one then has the sums of keys, the other one those
// of values.
template <class Element, int COLUMNS, int BLOCKS>
inline void exchange(GroupSums<Element, COLUMNS> (&keys)[BLOCKS], GroupSums<Element, COLUMNS> (&values)[BLOCKS],
                     float* memory) {
    constexpr int kSums = BLOCKS * COLUMNS / 2;  // of a thread
    auto const for_each = [&](GroupSums<Element, COLUMNS>(&sums)[BLOCKS], auto const& visit) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
            int const of_block = i % (COLUMNS / 2);
            visit(sums[i / (COLUMNS / 2)].panels[of_block / 32][of_block % 32 / 4][of_block % 4], i);
        }
    };
    int const thread = static_cast<int>(threadIdx.x) % kGroupThreads;
    auto const place = [&](int group, int i) -> float& { return memory[(group * kSums + i) * kGroupThreads + thread]; };
    if (group_index() == 0) for_each(values, [&](float& sum, int i) { place(0, i) = sum; });
    else for_each(keys, [&](float& sum, int i) { place(1, i) = sum; });
    __syncthreads();
    if (group_index() == 0) for_each(keys, [&](float& sum, int i) { sum += place(1, i); });
    else for_each(values, [&](float& sum, int i) { sum += place(0, i); });
}

template <class Element, int COLUMNS>
inline void gradients(NeighborhoodArguments const& arguments) {
    using Gradients = KeyGradients<Element, COLUMNS>;
    using Memory = typename Gradients::Memory;
    static_assert(sizeof(Memory) == group_shared_bytes(COLUMNS, true));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Memory& shared = *reinterpret_cast<Memory*>(shared_memory);
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    start_copying(arguments, tile, shared.keys, shared.values);
    auto const met_by = [&](Box const& keys) { return tile.queries_of(keys); };
    GroupRows<Gradients::kBlocks, decltype(met_by)> rows(tile, met_by, 0);
    Gradients made(arguments, tile, shared);
    made.add_all(rows);
    __syncthreads();
    exchange(made.keys, made.values, reinterpret_cast<float*>(shared_memory));
    bool const has_keys = group_index() == 0;
    NeighborhoodAccess const& result = arguments.tensors[has_keys ? kKeyGradient : kValueGradient];
    float const factor = has_keys ? arguments.scale : 1.0f;
#pragma unroll
    for (int block = 0; block < Gradients::kBlocks; ++block) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            bool is_there;
            Coordinates const place = place_of_half(tile, block * kGroupRows, half, is_there);
            long long const offset = tile.offset_of(result, place);
            if (!is_there) continue;
            if (has_keys) made.keys[block].store(result, half, offset, arguments.columns, factor);
            else made.values[block].store(result, half, offset, arguments.columns, factor);
        }
    }
}

extern "C" __global__ void __launch_bounds__(kGroupTileThreads)
    neighborhood_gradient_start(__grid_constant__ NeighborhoodArguments const arguments) {
    gradient_start<X, GROUP_COLUMNS>(arguments);
}
extern "C" __global__ void __launch_bounds__(kGroupTileThreads, 1)
    neighborhood_gradients(__grid_constant__ NeighborhoodArguments const arguments) {
    gradients<X, GROUP_COLUMNS>(arguments);
}
extern "C" __global__ void __launch_bounds__(kGroupTileThreads)
    neighborhood_gradient_end(__grid_constant__ NeighborhoodArguments const arguments) {
    gradient_end<X, GROUP_COLUMNS>(arguments);
}
