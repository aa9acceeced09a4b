// The gradients of neighborhood attention in one pass: a block of two warpgroups for each tile of keys, whose queries'
// gradients it adds to sums in memory; passes over rows before and after it. Tensors: Queries, Keys, Values, Output,
// Stats, OutputGradient; QueryStatistics and QuerySums, which are in between; QueryGradient, KeyGradient,
// ValueGradient. Options define X, the type of the elements, and GROUP_COLUMNS, their number rounded up.
#include <neighborhood_warpgroups.cuh>

// --- Rows

// A thread's eight columns of a row; the heads of a token follow each other.
template <int COLUMNS>
class RowPart {
   public:
    static constexpr int kThreads = COLUMNS / 8;  // of a row

    explicit RowPart(NeighborhoodArguments const& arguments) {
        unsigned long long const thread = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
        column = static_cast<int>(thread % kThreads) * 8;
        auto index = static_cast<unsigned>(thread / kThreads);
        take(index, arguments.heads, head_);
        for (int axis = kMostAxes; axis-- > 0;) take(index, arguments.axes[axis].length, space_[axis]);
        is_there = index < static_cast<unsigned>(arguments.batches) && column < arguments.columns;
        batch_ = index;
    }

    // Of the row, and of its first column.
    long long row_of(NeighborhoodAccess const& tensor) const {
        long long offset = batch_ * tensor.batch + head_ * tensor.head;
        for (int axis = 0; axis < kMostAxes; ++axis) offset += space_[axis] * tensor.space[axis];
        return offset;
    }
    long long offset_of(NeighborhoodAccess const& tensor) const { return row_of(tensor) + column; }

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

// Statistics, and sums of 0.
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
    if (!part.is_there || part.column != 0) return;
    float const stats = static_cast<float const*>(tensors[kStats].start)[part.row_of(tensors[kStats])];
    auto* const statistics = static_cast<float*>(tensors[kQueryStatistics].start);
    *reinterpret_cast<uint2*>(statistics + part.row_of(tensors[kQueryStatistics])) = {to_bits<float>(stats * kLog2OfE),
                                                                                      to_bits<float>(delta)};
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

// A stage's rows; and in their place, once they have been used, the sums that they get.
template <class Element, int COLUMNS>
union StagedQueries {
    struct {
        Panels<Element, kGroupRows, COLUMNS> queries, output_gradients;
    } rows;
    float sums[kGroupRows][COLUMNS + kSumGap];
};

// Of a query; Stats count in powers of 2.
struct alignas(8) Statistics {
    float stats, delta;
};

// A warpgroup's own.
template <class Element, int KEYS, int COLUMNS>
struct GroupQueryStages {
    StagedQueries<Element, COLUMNS> staged[2];
    Panel<Element, KEYS> score_gradients;  // of a key in each row
    Statistics statistics[2][kGroupRows];
    Element const* rows[3][2][kGroupRows];  // of queries and output gradients; null past the last one
    long long queries[3][kGroupRows];       // their numbers in memory; below 0 past the last one
    Element const* first_rows[2];           // of the box, in the same tensors
    long long first_query;
};

template <class Element, int COLUMNS>
struct GradientMemory {
    static constexpr int kKeys = group_tile_tokens(COLUMNS, true);

    Panels<Element, kKeys, COLUMNS> keys, values;
    GroupQueryStages<Element, kKeys, COLUMNS> groups[kGroups];
    alignas(kPanelAlignment) Element const* own_rows[2][kKeys];  // of keys and values
};

// Those of two queries, of which the lane has a column each of a product.
struct alignas(16) TwoStatistics {
    Statistics of[2];
};
inline TwoStatistics two_of(Statistics const* statistics, int i) {
    return reinterpret_cast<TwoStatistics const*>(statistics)[4 * i + lane_index() % 4];
}

// Scores and products of output gradients with values become weights and gradients of scores.
inline void weigh(float (&scores)[8][4], float (&products)[8][4], Seen const& seen, float scale,
                  Statistics const* statistics) {
    for (int i = 0; i < 8; ++i) {
        TwoStatistics const two = two_of(statistics, i);
        for (int j = 0; j < 4; ++j) scores[i][j] = power_of_2(scores[i][j] * scale - two.of[j % 2].stats);
    }
    if (!seen.all) {
        for (int i = 0; i < 8; ++i) {
            for (int j = 0; j < 4; ++j) scores[i][j] = seen.has(i, j) ? scores[i][j] : 0.0f;
        }
    }
    for (int i = 0; i < 8; ++i) {
        TwoStatistics const two = two_of(statistics, i);
        for (int j = 0; j < 4; ++j) products[i][j] = scores[i][j] * (products[i][j] - two.of[j % 2].delta);
    }
}

// A warpgroup's part of the gradients of all keys of the tile: every second stage of queries, from its own on.
template <class Element, int COLUMNS>
class KeyGradients {
   public:
    using Memory = GradientMemory<Element, COLUMNS>;
    static constexpr int kBlocks = Memory::kKeys / kGroupRows;

    KeyGradients(NeighborhoodArguments const& arguments, Tile const& tile, Box const& box, Memory& shared)
        : arguments_(arguments), box_(box), shared_(shared), own_(shared.groups[group_index()]) {
        if (thread() % kGroupRows != 0) return;
        own_.first_rows[staged_number()] =
            static_cast<Element const*>(staged_tensor().start) + tile.offset_of(staged_tensor(), box.first);
        own_.first_query = tile.offset_of(arguments.tensors[kQueryStatistics], box.first) / 2;
    }

    template <class Rows>
    void add_all(Rows& rows) {
        int const stages = (box_.count() + kGroupRows - 1) / kGroupRows;
        int const first = group_index();
        __syncthreads();
        look_up(first);
        look_up(first + kGroups);
        wait_for_rows();  // the tile's own
        __syncthreads();
        if (first < stages) start_copies(first);
        for (int stage = first; stage < stages; stage += kGroups) {
            wait_for_rows();
            wait_for_warpgroup();
            look_up(stage + 2 * kGroups);
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
    StagedQueries<Element, COLUMNS>& staged(int stage) { return own_.staged[turn_of(stage) % 2]; }
    static int thread() { return static_cast<int>(threadIdx.x) % kGroupThreads; }
    // Of the two tensors whose rows are staged, the one whose rows the thread looks up.
    static int staged_number() { return thread() / kGroupRows; }
    NeighborhoodAccess const& staged_tensor() const {
        return arguments_.tensors[staged_number() == 0 ? kQueries : kOutputGradient];
    }

    void look_up(int stage) {
        int const table = turn_of(stage) % 3, row = thread() % kGroupRows, number = stage * kGroupRows + row;
        bool const is_there = number < box_.count();
        Coordinates const place = place_in(box_, number);
        own_.rows[table][staged_number()][row] =
            is_there ? own_.first_rows[staged_number()] + Tile::offset_from_first(staged_tensor(), place) : nullptr;
        if (staged_number() != 0) return;
        long long const query = Tile::offset_from_first(arguments_.tensors[kQueryStatistics], place) / 2;
        own_.queries[table][row] = is_there ? own_.first_query + query : -1;
    }

    void start_copies(int stage) {
        int const table = turn_of(stage) % 3;
        auto& to = staged(stage).rows;
        int const number = computed_here(thread());
        stage_rows<kGroupThreads>(number, to.queries, own_.rows[table][0], arguments_.columns);
        stage_rows<kGroupThreads>(number, to.output_gradients, own_.rows[table][1], arguments_.columns);
        if (staged_number() != 0) return;
        long long const query = own_.queries[table][thread()];
        auto const* const from = static_cast<Statistics const*>(arguments_.tensors[kQueryStatistics].start);
        start_copy_of_8_bytes(&own_.statistics[turn_of(stage) % 2][thread()], from + query, query >= 0);
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
        int const lane = computed_here(lane_index());
        int const row = block * kGroupRows + warp_in_group() * 16 + lane % 16, column = lane / 16 * 8;
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
        add_rows(memory, own_.queries[turn_of(stage) % 3]);
    }

    // Those that the warp wrote.
    void add_rows(float const (&sums)[kGroupRows][COLUMNS + kSumGap], long long const* queries) {
        int const row = warp_in_group() * 16 + lane_index();
        if (lane_index() >= 16 || queries[row] < 0) return;
        start_adding(static_cast<float*>(arguments_.tensors[kQuerySums].start) + queries[row] * arguments_.columns,
                     sums[row], arguments_.columns);
    }

    NeighborhoodArguments const& arguments_;
    Box const& box_;
    Memory& shared_;
    GroupQueryStages<Element, Memory::kKeys, COLUMNS>& own_;
};

// Adds up what the warpgroups have, through shared memory: the first one then has the sums of keys, the other one those
// of values.
template <class Element, int COLUMNS, int BLOCKS>
inline void exchange(GroupSums<Element, COLUMNS> (&keys)[BLOCKS], GroupSums<Element, COLUMNS> (&values)[BLOCKS],
                     uint4* memory) {
    constexpr int kFours = BLOCKS * COLUMNS / 8;  // of a thread
    auto const for_each_four = [&](GroupSums<Element, COLUMNS>(&sums)[BLOCKS], auto const& visit) {
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            int const of_block = i % (COLUMNS / 8);
            visit(sums[i / (COLUMNS / 8)].panels[of_block / 8][of_block % 8], i);
        }
    };
    int const thread = static_cast<int>(threadIdx.x) % kGroupThreads;
    auto const place = [&](int group, int i) { return memory + (group * kFours + i) * kGroupThreads + thread; };
    auto const write = [&](int group, float(&four)[4], int i) {
        *place(group, i) = {to_bits<float>(four[0]), to_bits<float>(four[1]), to_bits<float>(four[2]),
                            to_bits<float>(four[3])};
    };
    auto const add = [&](int group, float(&four)[4], int i) {
        uint4 const found = *place(group, i);
        four[0] += to_float<float>(found.x);
        four[1] += to_float<float>(found.y);
        four[2] += to_float<float>(found.z);
        four[3] += to_float<float>(found.w);
    };
    if (group_index() == 0) for_each_four(values, [&](float(&four)[4], int i) { write(0, four, i); });
    else for_each_four(keys, [&](float(&four)[4], int i) { write(1, four, i); });
    __syncthreads();
    if (group_index() == 0) for_each_four(keys, [&](float(&four)[4], int i) { add(1, four, i); });
    else for_each_four(values, [&](float(&four)[4], int i) { add(0, four, i); });
}

// Of keys by the first warpgroup, and of values by the other one.
template <class Gradients>
inline void store(NeighborhoodArguments const& arguments, Tile const& tile, Gradients const& made) {
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

template <class Element, int COLUMNS>
inline void gradients(NeighborhoodArguments const& arguments) {
    using Gradients = KeyGradients<Element, COLUMNS>;
    using Memory = typename Gradients::Memory;
    static_assert(sizeof(Memory) == group_shared_bytes(COLUMNS, true));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Memory& shared = *reinterpret_cast<Memory*>(shared_memory);
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    look_up_own(arguments, tile, shared.own_rows, kKeys);
    __syncthreads();
    stage_rows<kGroupTileThreads>(threadIdx.x, shared.keys, shared.own_rows[0], arguments.columns);
    stage_rows<kGroupTileThreads>(threadIdx.x, shared.values, shared.own_rows[1], arguments.columns);
    auto const met_by = [&](Box const& keys) { return tile.queries_of(keys); };
    GroupRows<Gradients::kBlocks, decltype(met_by)> rows(tile, met_by, 0);
    Gradients made(arguments, tile, rows.all(), shared);
    made.add_all(rows);
    __syncthreads();
    exchange(made.keys, made.values, reinterpret_cast<uint4*>(shared_memory));
    store(arguments, tile, made);
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
