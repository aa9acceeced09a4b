// The gradients of neighborhood attention in one pass: a block of two warpgroups for each tile of keys, whose queries'
// gradients it adds to sums in memory; passes over rows before and after it. Tensors: Queries, Keys, Values, Output,
// Stats, OutputGradient; Delta and QuerySums, which are in between; QueryGradient, KeyGradient, ValueGradient. Options
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

// Delta, and sums of 0.
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
        static_cast<float*>(tensors[kDelta].start)[part.offset_of(tensors[kDelta])] = delta;
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

template <class Element, int COLUMNS>
struct GroupQueryStages {
    Panels<Element, kGroupTileTokens, COLUMNS> own_keys, own_values;
    Panels<Element, kGroupStageRows, COLUMNS> queries[2], output_gradients[2];
    Panel<Element, kGroupTileTokens> score_gradients;  // of a key in each row
    float statistics[2][2][kGroupStageRows];           // Stats, and Delta
    RowTable<kStagedTensors> tables[3];
};

// Copies the tile's keys and values, and then goes through the queries that see any of them: calls use(number of the
// stage).
template <class Element, int COLUMNS, class Use>
inline void for_each_group_query_stage(NeighborhoodArguments const& arguments, Tile const& tile, Box const& box,
                                       GroupQueryStages<Element, COLUMNS>& shared, Use const& use) {
    NeighborhoodAccess const* const tensors = arguments.tensors;
    auto const look_up = [&](int stage) {
        shared.tables[stage % 3].fill(arguments, tile, box, stage,
                                      {kQueries, kOutputGradient, kStats, kDelta, kQuerySums});
    };
    auto const start_copies = [&](int stage) {
        auto const& offsets = shared.tables[stage % 3].offsets;
        stage_rows(shared.queries[stage % 2], tensors[kQueries], offsets[kStagedQueries], arguments.columns);
        stage_rows(shared.output_gradients[stage % 2], tensors[kOutputGradient], offsets[kStagedGradients],
                   arguments.columns);
        int const row = threadIdx.x % kGroupStageRows, statistic = threadIdx.x / kGroupStageRows;
        if (statistic >= 2) return;
        long long const offset = offsets[kStagedStats + statistic][row];
        float const* const start = static_cast<float const*>(tensors[statistic == 0 ? kStats : kDelta].start);
        start_copy_of_4_bytes(&shared.statistics[stage % 2][statistic][row], offset >= 0 ? start + offset : start,
                              offset >= 0);
    };
    for_each_stage<kGroupStageRows>(box.count(), look_up, start_copies, use);
}

template <class Element, int COLUMNS>
inline void start_own_copies(NeighborhoodArguments const& arguments, Tile const& tile,
                             GroupQueryStages<Element, COLUMNS>& shared) {
    constexpr int kPieces = COLUMNS / 8;
    for (int i = threadIdx.x; i < kGroupTileTokens * kPieces; i += kGroupTileThreads) {
        int const row = i / kPieces, column = i % kPieces * 8;
        bool is_there;
        Coordinates const place = tile.place_of(row, is_there);
        auto const copy = [&](Panels<Element, kGroupTileTokens, COLUMNS>& to, NeighborhoodAccess const& tensor) {
            Element const* const start = static_cast<Element const*>(tensor.start);
            bool const has_column = column < arguments.columns;
            start_copy_of_16_bytes(to.piece(row, column),
                                   has_column ? start + tile.offset_of(tensor, place) + column : start, has_column);
        };
        copy(shared.own_keys, arguments.tensors[kKeys]);
        copy(shared.own_values, arguments.tensors[kValues]);
    }
}

// Scores and products of output gradients with values become weights and gradients of scores.
inline void weigh(float (&scores)[8][4], float (&products)[8][4], Seen const& seen, float scale,
                  float const (&statistics)[2][kGroupStageRows]) {
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 4; ++j) {
            int const query = 8 * i + 2 * (lane_index() % 4) + j % 2;
            float const weight = power_of_2(scores[i][j] * scale - kLog2OfE * statistics[0][query]);
            scores[i][j] = seen.all | seen.has(i, j) ? weight : 0.0f;
            products[i][j] = scores[i][j] * (products[i][j] - statistics[1][query]);
        }
    }
}

// The warpgroup's rows of a matrix with a row for each key and a column for each query of a stage.
template <class Element>
inline void write(Panel<Element, kGroupTileTokens>& to, Weights const& weights) {
    int const row = static_cast<int>(threadIdx.x) / 32 * 16 + lane_index() % 16, column = lane_index() / 16 * 8;
    for (int i = 0; i < kGroupStageRows / 16; ++i) store_block(to.piece(row, 16 * i + column), weights.blocks[i]);
}

// The gradients of a stage's queries that come of the tile's keys: each warpgroup has half the columns.
template <class Element, int COLUMNS>
struct QuerySums {
    static constexpr int kColumns = COLUMNS / kGroups;

    float sums[kColumns / 8][4];

    void start(GroupQueryStages<Element, COLUMNS> const& shared) {
        int const column = group_index() * kColumns;
#pragma unroll
        for (int key = 0; key < kGroupTileTokens; key += 16) {
            start_product<true, true>(
                sums, Factor(shared.score_gradients, key, 0),
                Factor(shared.own_keys.panels[column / kPanelColumns], key, column % kPanelColumns), key > 0,
                Element());
        }
    }
    void add(NeighborhoodAccess const& to, long long const* rows, int columns) const {
        for (int half = 0; half < 2; ++half) {
            long long const row =
                rows[static_cast<int>(threadIdx.x) % kGroupThreads / 32 * 16 + lane_index() / 4 + 8 * half];
            if (row < 0) continue;
            int const first = group_index() * kColumns;
            float* const at = static_cast<float*>(to.start) + row + first + 2 * (lane_index() % 4);
            for (int i = 0; i < kColumns / 8; ++i) {
                if (first + 8 * i < columns) add_to_memory(at + 8 * i, sums[i][2 * half], sums[i][2 * half + 1]);
            }
        }
    }
};

template <class Element, int COLUMNS>
inline void gradients(NeighborhoodArguments const& arguments) {
    using Stages = GroupQueryStages<Element, COLUMNS>;
    static_assert(sizeof(Stages) == group_shared_bytes(COLUMNS, true));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    Stages& shared = *reinterpret_cast<Stages*>(shared_memory);
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    GroupRows rows(tile, [&](Box const& keys) { return tile.queries_of(keys); });
    int const first_row = group_index() * kGroupTokens;
    GroupSums<Element, COLUMNS> key_gradient, value_gradient;
    start_own_copies<Element, COLUMNS>(arguments, tile, shared);
    for_each_group_query_stage<Element, COLUMNS>(arguments, tile, rows.all(), shared, [&](int stage) {
        auto const& queries = shared.queries[stage % 2];
        auto const& output_gradients = shared.output_gradients[stage % 2];
        Weights weights, gradients{};
        if (rows.meet(group_index(), stage)) {
            float scores[8][4], products[8][4];
            begin_products();
            start_products_of_rows(scores, shared.own_keys, first_row, queries);
            start_products_of_rows(products, shared.own_values, first_row, output_gradients);
            end_products();
            Seen const seen = rows.seen(stage);
            wait_for_products<0>();
            hold(scores);
            hold(products);
            weigh(scores, products, seen, arguments.scale * kLog2OfE, shared.statistics[stage % 2]);
            weights = Weights::of(scores, Element());
            gradients = Weights::of(products, Element());
            begin_products();
            value_gradient.start_adding(weights, output_gradients);
            key_gradient.start_adding(gradients, queries);
            end_products();
        }
        write(shared.score_gradients, gradients);
        show_to_products();
        __syncthreads();
        QuerySums<Element, COLUMNS> sums;
        begin_products();
        sums.start(shared);
        end_products();
        wait_for_products<0>();
        hold(sums.sums);
        key_gradient.finish();
        value_gradient.finish();
        sums.add(arguments.tensors[kQuerySums], shared.tables[stage % 3].offsets[kStagedSums], arguments.columns);
    });
    NeighborhoodAccess const& of_keys = arguments.tensors[kKeyGradient];
    NeighborhoodAccess const& of_values = arguments.tensors[kValueGradient];
    for (int half = 0; half < 2; ++half) {
        bool is_there;
        Coordinates const place = place_of_half(tile, half, is_there);
        if (!is_there) continue;
        key_gradient.store(of_keys, half, tile.offset_of(of_keys, place), arguments.columns, arguments.scale);
        value_gradient.store(of_values, half, tile.offset_of(of_values, place), arguments.columns, 1);
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
