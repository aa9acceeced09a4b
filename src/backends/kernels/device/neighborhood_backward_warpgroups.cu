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
    unsigned words[4];
    for (int i = 0; i < 4; ++i) {
        words[i] = pack(sums.elements[2 * i] * arguments.scale, sums.elements[2 * i + 1] * arguments.scale, Element());
    }
    auto* const gradient =
        static_cast<Element*>(tensors[kQueryGradient].start) + part.offset_of(tensors[kQueryGradient]);
    *reinterpret_cast<uint4*>(gradient) = {words[0], words[1], words[2], words[3]};
}

// --- Products

// Of a query; Stats count in powers of 2.
struct alignas(8) Statistics {
    float stats, delta;
};

template <class Element, int COLUMNS>
struct StagedQueries {
    Panels<Element, kGroupRows, COLUMNS> queries, output_gradients;
};

template <class Element, int COLUMNS>
struct GradientMemory {
    Panels<Element, kGroupTileTokens, COLUMNS> keys, values;
    StagedQueries<Element, COLUMNS> staged[3];
    Panel<Element, kGroupTileTokens> score_gradients[2];  // of a key in each row
    Statistics statistics[3][kGroupRows];
    Element const* rows[3][2][kGroupRows];  // of queries and output gradients
    long long statistics_rows[4][kGroupRows];
    Element const* own_rows[2][kGroupTileTokens];  // of keys and values
    long long result_rows[2][kGroupTileTokens];    // of their gradients; below 0 past the last one
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

// The gradients of the warpgroup's keys, and what the tile adds to those of queries, of which a warpgroup has half of
// the columns. Where there are enough registers, products of a stage go on while the next one's weights are computed.
template <class Element, int COLUMNS>
class KeyGradients {
   public:
    using Memory = GradientMemory<Element, COLUMNS>;

    KeyGradients(NeighborhoodArguments const& arguments, Tile const& tile, Box const& box, Memory& shared)
        : arguments_(arguments),
          box_(box),
          shared_(shared),
          stages_((box.count() + kGroupRows - 1) / kGroupRows),
          first_row_(tile.offset_of(tensor_to_look_up(), box.first)) {
        look_up_own(arguments, tile, {kKeys, kValues}, shared.own_rows, {kKeyGradient, kValueGradient},
                    shared.result_rows);
        for (int stage = 0; stage < 3; ++stage) look_up(stage);
        __syncthreads();
        stage_rows(shared.keys, shared.own_rows[0], arguments.columns);
        stage_rows(shared.values, shared.own_rows[1], arguments.columns);
        start_copies(0);
    }

    void add_all(GroupRows& rows) {
        wait_for_rows();
        __syncthreads();
        start_copies(1);
        start_scores(0);
        wait_for_products<0>();
        weigh_stage(rows, 0);
        for (int stage = 0; stage < stages_; ++stage) {
            write_gradients(stage);
            wait_for_rows();
            __syncthreads();
            if (kOverlaps) {
                fetch_after(stage);
                start_scores(stage + 1);
                start_sums(stage);
                wait_for_products<2>();
                if (stage + 1 < stages_) weigh_stage(rows, stage + 1);
                finish_sums(stage);
            } else {
                start_sums(stage);
                fetch_after(stage);
                finish_sums(stage);
                if (stage + 1 == stages_) break;
                start_scores(stage + 1);
                wait_for_products<0>();
                weigh_stage(rows, stage + 1);
            }
        }
    }

    GroupSums<Element, COLUMNS> keys, values;

   private:
    static constexpr bool kOverlaps = COLUMNS <= 64;
    static constexpr int kSumColumns = 32, kParts = COLUMNS / kGroups / kSumColumns;  // of gradients of queries

    StagedQueries<Element, COLUMNS>& staged(int stage) { return shared_.staged[stage % 3]; }
    Statistics* statistics(int stage) { return shared_.statistics[stage % 3]; }

    // --- Rows

    // A thread looks up rows of one tensor; some threads have none.
    static int looked_up() { return static_cast<int>(threadIdx.x) / kGroupRows; }
    NeighborhoodAccess const& tensor_to_look_up() const {
        return arguments_.tensors[looked_up() == 0 ? kQueries : looked_up() == 1 ? kOutputGradient : kQueryStatistics];
    }
    void look_up(int stage) {
        if (looked_up() >= 3) return;
        int const row = static_cast<int>(threadIdx.x) % kGroupRows;
        NeighborhoodAccess const& tensor = tensor_to_look_up();
        long long const offset = first_row_ + offset_in(box_, tensor, stage * kGroupRows + row);
        if (looked_up() == 2) shared_.statistics_rows[stage % 4][row] = offset;
        else shared_.rows[stage % 3][looked_up()][row] = static_cast<Element const*>(tensor.start) + offset;
    }

    void start_copies(int stage) {
        if (stage >= stages_) return;
        auto const& rows = shared_.rows[stage % 3];
        auto& to = staged(stage);
        stage_rows(to.queries, rows[0], arguments_.columns);
        stage_rows(to.output_gradients, rows[1], arguments_.columns);
        auto const row = static_cast<int>(threadIdx.x);
        if (row >= kGroupRows) return;
        auto const* const from = static_cast<float const*>(arguments_.tensors[kQueryStatistics].start);
        start_copy_of_8_bytes(&statistics(stage)[row], from + shared_.statistics_rows[stage % 4][row], true);
    }

    // A stage's rows are copied two stages ahead, and looked up three.
    void fetch_after(int stage) {
        start_copies(stage + 2);
        look_up(stage + 3);
    }

    // --- Products

    void start_scores(int stage) {
        begin_products();
        start_products_of_rows(scores_, shared_.keys, staged(stage).queries, 0);
        start_products_of_rows(products_, shared_.values, staged(stage).output_gradients, 0);
        end_products();
    }

    void weigh_stage(GroupRows& rows, int stage) {
        hold(scores_);
        hold(products_);
        weigh(scores_, products_, rows.seen(stage), arguments_.scale * kLog2OfE, statistics(stage));
        hold(scores_);
        hold(products_);
    }

    void start_sums(int stage) {
        weights_.hold_all();
        gradients_.hold_all();
        begin_products();
        values.start_adding(weights_, staged(stage).output_gradients, 0);
        keys.start_adding(gradients_, staged(stage).queries, 0);
        end_products();
#pragma unroll
        for (int key = 0; key < kGroupTileTokens; key += 16) {
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                int const column = first_column(part);
                Factor const of_keys(shared_.keys.panels[column / kPanelColumns], key, column % kPanelColumns);
                start_product<true, true>(sums_[part], Factor(shared_.score_gradients[stage % 2], key, 0), of_keys,
                                          key > 0, Element());
            }
        }
        end_products();
    }

    void finish_sums(int stage) {
        wait_for_products<0>();
        weights_.hold_all();
        gradients_.hold_all();
        keys.hold_all();
        values.hold_all();
        for (auto& part : sums_) {
            hold(part);
            for (auto& four : part) make_neighbours(four);
        }
        add_to_queries(stage);
    }

    // Of its two rows a lane keeps one, for which the next lane, or the one before, has two of four columns.
    static void make_neighbours(float (&sums)[4]) {
        bool const keeps_second = lane_index() % 2 != 0;
        for (int j = 0; j < 2; ++j) {
            float const other = from_lane_across(keeps_second ? sums[j] : sums[2 + j], 1);
            float const kept = keeps_second ? sums[2 + j] : sums[j];
            sums[j] = keeps_second ? other : kept;
            sums[2 + j] = keeps_second ? kept : other;
        }
    }

    void write_gradients(int stage) {
        weights_ = Weights(scores_, Element());
        gradients_ = Weights(products_, Element());
        int const lane = computed_here(lane_index());
        auto& panel = shared_.score_gradients[stage % 2];
        for (int i = 0; i < kGroupRows / 16; ++i) {
            store_block(panel.piece(first_row_of_warp() + lane % 16, 16 * i + lane / 16 * 8), gradients_.blocks[i]);
        }
    }

    // --- Gradients of queries

    static int first_column(int part) { return (group_index() * kParts + part) * kSumColumns; }

    void add_to_queries(int stage) {
        int const lane = computed_here(lane_index());
        int const row = first_row_of_warp() % kGroupRows + lane / 4 + lane % 2 * 8;
        int const column = first_column(0) + lane % 4 / 2 * 4;
        if (stage * kGroupRows + row >= box_.count()) return;
        long long const query = shared_.statistics_rows[stage % 4][row] / 2;
        auto* const to = static_cast<float*>(arguments_.tensors[kQuerySums].start) + query * arguments_.columns;
#pragma unroll
        for (int i = 0; i < kParts * kSumColumns / 8; ++i) {
            if (column + 8 * i < arguments_.columns) add_four(to + column + 8 * i, sums_[i / 4][i % 4]);
        }
    }

    NeighborhoodArguments const& arguments_;
    Box const& box_;
    Memory& shared_;
    int stages_;
    long long first_row_;                  // that this thread looks up, of the box
    float scores_[8][4], products_[8][4];  // of keys with queries; of values with output gradients
    Weights weights_, gradients_;          // of the stage whose products go on
    float sums_[kParts][4][4];
};

template <class Element, int COLUMNS>
inline void gradients(NeighborhoodArguments const& arguments) {
    using Memory = GradientMemory<Element, COLUMNS>;
    static_assert(sizeof(Memory) == group_shared_bytes(COLUMNS, true));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Memory& shared = *reinterpret_cast<Memory*>(shared_memory);
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    auto const met_by = [&](Box const& keys) { return tile.queries_of(keys); };
    Box const all = met_by(tile.tokens());
    KeyGradients<Element, COLUMNS> made(arguments, tile, all, shared);
    GroupRows rows(tile, all, met_by);
    made.add_all(rows);
    __syncthreads();
    made.keys.store(arguments.tensors[kKeyGradient], shared.result_rows[0], arguments.columns,
                    {arguments.scale, arguments.scale}, shared.keys);
    made.values.store(arguments.tensors[kValueGradient], shared.result_rows[1], arguments.columns, {1, 1},
                      shared.values);
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
