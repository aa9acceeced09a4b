// The gradients of neighborhood attention in one pass. A block for each tile of keys adds the gradients of its queries
// to sums in memory; passes over rows come before and after it. Tensors: Queries, Keys, Values, Output, Stats,
// OutputGradient; QueryStatistics and QuerySums, which are intermediate; QueryGradient, KeyGradient, ValueGradient.
// Options define X, the type of the elements, and WARPGROUP_COLUMNS, their number rounded up.
#include <hopper/launch_registers.cuh>
#include <neighborhood/neighborhood_queries.cuh>

// --- Rows

// A thread's eight columns of a row; the heads of a token follow each other.
template <int COLUMNS>
class RowPart {
   public:
    static constexpr int kThreads = COLUMNS / 8;  // for a row

    explicit RowPart(NeighborhoodArguments const& arguments) {
        unsigned long long const thread = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
        column = static_cast<int>(thread % kThreads) * 8;
        auto index = static_cast<unsigned>(thread / kThreads);
        take(index, arguments.heads, head_);
        for (int axis = kMostAxes; axis-- > 0;) take(index, arguments.axes[axis].length, space_[axis]);
        is_there = index < static_cast<unsigned>(arguments.batches) && column < arguments.columns;
        batch_ = index;
    }

    // The offset of the row, and that of the thread's first column in it.
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

// Writes the statistics, and sets sums to 0.
template <class Element, int COLUMNS>
inline void gradient_start(NeighborhoodArguments const& arguments) {
    NeighborhoodAccess const* const tensors = arguments.tensors;
    RowPart<COLUMNS> const part(arguments);
    float delta = 0;
    if (part.is_there) {
        ElementRun<Element, 8> output, gradient;
        output.load(static_cast<Element const*>(tensors[NeighborhoodTensor::Output].start) +
                    part.offset_of(tensors[NeighborhoodTensor::Output]));
        gradient.load(static_cast<Element const*>(tensors[NeighborhoodTensor::OutputGradient].start) +
                      part.offset_of(tensors[NeighborhoodTensor::OutputGradient]));
        for (int i = 0; i < 8; ++i) delta += to_float(output.elements[i]) * to_float(gradient.elements[i]);
        auto* const sums = static_cast<float*>(tensors[NeighborhoodTensor::QuerySums].start) +
                           part.offset_of(tensors[NeighborhoodTensor::QuerySums]);
        reinterpret_cast<uint4*>(sums)[0] = reinterpret_cast<uint4*>(sums)[1] = uint4{};
    }
    for (int bits = RowPart<COLUMNS>::kThreads / 2; bits > 0; bits /= 2) delta += from_lane_across(delta, bits);
    if (!part.is_there || part.column != 0) return;
    float const stats = static_cast<float const*>(
        tensors[NeighborhoodTensor::Stats].start)[part.row_of(tensors[NeighborhoodTensor::Stats])];
    auto* const statistics = static_cast<float*>(tensors[NeighborhoodTensor::QueryStatistics].start);
    *reinterpret_cast<uint2*>(statistics + part.row_of(tensors[NeighborhoodTensor::QueryStatistics])) = {
        to_bits<float>(stats * kLog2OfE), to_bits<float>(delta)};
}

template <class Element, int COLUMNS>
inline void gradient_end(NeighborhoodArguments const& arguments) {
    NeighborhoodAccess const* const tensors = arguments.tensors;
    RowPart<COLUMNS> const part(arguments);
    if (!part.is_there) return;
    ElementRun<float, 8> sums;
    sums.load(static_cast<float const*>(tensors[NeighborhoodTensor::QuerySums].start) +
              part.offset_of(tensors[NeighborhoodTensor::QuerySums]));
    unsigned words[4];
    for (int i = 0; i < 4; ++i) {
        words[i] = pack(sums.elements[2 * i] * arguments.scale, sums.elements[2 * i + 1] * arguments.scale, Element());
    }
    auto* const gradient = static_cast<Element*>(tensors[NeighborhoodTensor::QueryGradient].start) +
                           part.offset_of(tensors[NeighborhoodTensor::QueryGradient]);
    *reinterpret_cast<uint4*>(gradient) = {words[0], words[1], words[2], words[3]};
}

// --- Gradients of keys and values

// The statistics of the queries whose columns of a product the lane has.
class LaneStatistics {
   public:
    explicit LaneStatistics(float const (&of_stage)[kWarpgroupRows]) {
        auto const* const twos = reinterpret_cast<Two const*>(of_stage);
        for (int i = 0; i < 8; ++i) twos_[i] = twos[4 * i + lane_index() % 4];
    }
    float of(int i, int j) const { return twos_[i].of[j % 2]; }

   private:
    struct alignas(8) Two {
        float of[2];
    };

    Two twos_[8];
};

// Scores and products of output gradients with values become weights and gradients of scores.
inline void weigh(float (&scores)[8][4], float (&products)[8][4], Seen const& seen, float scale,
                  LaneStatistics const& stats, StagedStatistics const& statistics) {
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 4; ++j) scores[i][j] = power_of_2(scores[i][j] * scale - stats.of(i, j));
    }
    if (!seen.all) {
        for (int i = 0; i < 8; ++i) {
            for (int j = 0; j < 4; ++j) scores[i][j] = seen.has(i, j) ? scores[i][j] : 0.0f;
        }
    }
    LaneStatistics const deltas(statistics.deltas);
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 4; ++j) products[i][j] = scores[i][j] * (products[i][j] - deltas.of(i, j));
    }
}

// The gradients of the warpgroup's keys and values.
template <class Element, int COLUMNS>
class KeyGradients {
   public:
    KeyGradients(NeighborhoodArguments const& arguments, GradientMemory<Element, COLUMNS>& shared)
        : shared_(shared),
          warpgroup_(warpgroup_index()),
          scale_(arguments.scale * kLog2OfE),
          query_sums_(arguments, shared, warpgroup_) {}

    // Adds up the stages in which a query sees any of the keys; in others gradients of scores are 0.
    void add_all(WarpgroupRows<VisiblePlacesInMemory>& rows) {
        StageRange const visible = rows.visible_stages();
        for (int stage = 0; stage < visible.first; ++stage) write_no_gradients(stage);
        if (visible.first < visible.end) add(visible, rows);
        int const stages = shared_.stages();
        for (int stage = visible.end; stage < stages; ++stage) write_no_gradients(stage);
        wait_until_used(stages - 1);
    }

    WarpgroupSums<Element, COLUMNS> keys, values;

   private:
    static constexpr bool kAddsToQueries = !has_adders(COLUMNS);

    StagedQueries<Element, COLUMNS>& staged(int stage) { return shared_.staged[stage % kQueryBuffers]; }

    // Where there are enough registers, products of a stage go on while the next one's weights are computed.
    void add(StageRange const& visible, WarpgroupRows<VisiblePlacesInMemory>& rows) {
        if constexpr (kAddsToQueries) add_one_by_one(visible, rows);
        else add_with_overlap(visible, rows);
    }
    void add_one_by_one(StageRange const& visible, WarpgroupRows<VisiblePlacesInMemory>& rows) {
        for (int stage = visible.first; stage < visible.end; ++stage) {
            wait_until_staged(stage);
            start_scores(stage);
            finish_scores<0>(rows, stage, stats_of(stage));
            write_gradients(stage);
            start_sums(stage);
            finish_sums(stage);
        }
    }
    void add_with_overlap(StageRange const& visible, WarpgroupRows<VisiblePlacesInMemory>& rows) {
        int const last = visible.end - 1;
        wait_until_staged(visible.first);
        start_scores(visible.first);
        finish_scores<0>(rows, visible.first, stats_of(visible.first));
        for (int stage = visible.first; stage < last; ++stage) {
            bool const are_staged = have_been_staged(stage + 1);  // asked early, since the answer takes a while
            write_gradients(stage);
            if (!are_staged) wait_until_staged(stage + 1);
            start_scores(stage + 1);
            LaneStatistics const stats = stats_of(stage + 1);
            start_sums(stage);
            finish_scores<1>(rows, stage + 1, stats);
            finish_sums(stage);
        }
        write_gradients(last);
        start_sums(last);
        finish_sums(last);
    }

    // --- Products

    bool have_been_staged(int stage) {
        return shared_.are_staged[stage % kQueryBuffers].have_ended(stage / kQueryBuffers);
    }
    void wait_until_staged(int stage) { shared_.are_staged[stage % kQueryBuffers].wait_for(stage / kQueryBuffers); }

    void start_scores(int stage) {
        begin_products();
        start_products_of_rows(scores_, shared_.keys, warpgroup_ * kWarpgroupRows, staged(stage).queries, 0);
        start_products_of_rows(products_, shared_.values, warpgroup_ * kWarpgroupRows, staged(stage).output_gradients,
                               0);
        end_products();
    }

    LaneStatistics stats_of(int stage) const { return LaneStatistics(shared_.statistics[stage % kQueryBuffers].stats); }

    // OTHERS commit groups may still go on.
    template <int OTHERS>
    void finish_scores(WarpgroupRows<VisiblePlacesInMemory>& rows, int stage, LaneStatistics const& stats) {
        wait_for_products<OTHERS>();
        hold(scores_);
        hold(products_);
        weigh(scores_, products_, rows.seen(stage), scale_, stats, shared_.statistics[stage % kQueryBuffers]);
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
        if constexpr (kAddsToQueries) query_sums_.start(stage);
    }

    void finish_sums(int stage) {
        if constexpr (kAddsToQueries) query_sums_.finish(stage);
        else wait_for_products<0>();
        weights_.hold_all();
        gradients_.hold_all();
        keys.hold_all();
        values.hold_all();
        if constexpr (kAddsToQueries) query_sums_.add(stage);
    }

    // --- Gradients of scores

    void write_gradients(int stage) {
        weights_ = Weights(scores_, Element());
        gradients_ = Weights(products_, Element());
        write(stage, gradients_);
    }
    void write_no_gradients(int stage) {
        wait_until_staged(stage);  // so that the warps that wait for gradients find the queries' places
        write(stage, Weights());
        if constexpr (kAddsToQueries) {
            query_sums_.start(stage);
            query_sums_.finish(stage);
            query_sums_.add(stage);
        }
    }

    void write(int stage, Weights const& gradients) {
        wait_until_used(stage - kScoreGradientBuffers);
        int const lane = computed_here(lane_index());
        auto& panel = shared_.score_gradients[stage % kScoreGradientBuffers];
        for (int i = 0; i < kWarpgroupRows / 16; ++i) {
            store_block(panel.piece(first_row_of_warp() + lane % 16, 16 * i + lane / 16 * 8), gradients.blocks[i]);
        }
        shared_.are_written[stage % kScoreGradientBuffers].arrive();
    }

    void wait_until_used(int stage) {
        if (stage >= 0) shared_.are_used[stage % kScoreGradientBuffers].wait_for(stage / kScoreGradientBuffers);
    }

    GradientMemory<Element, COLUMNS>& shared_;
    int warpgroup_;
    float scale_;
    QueryGradientSums<Element, COLUMNS> query_sums_;
    float scores_[8][4], products_[8][4];  // of keys with queries; of values with output gradients
    Weights weights_, gradients_;          // of the stage whose products go on
};

// --- A block

// Copies the warp's part of the tile's rows, with its lanes.
template <class AllPanels, class Element>
inline void stage_own_rows(AllPanels& to, Element const* const* rows, int columns) {
    stage_rows<16, 32>(to, first_row_of_warp(), static_cast<unsigned>(computed_here(lane_index())), rows, columns);
}

// Looks up where the keys and values of a warp and their gradients are. Rows past the last one repeat it. Half of the
// lanes look up keys, and half of them values.
template <class Element, int COLUMNS>
inline void look_up_own(NeighborhoodArguments const& arguments, Tile const& tile,
                        GradientMemory<Element, COLUMNS>& shared) {
    int const row = first_row_of_warp() + lane_index() % 16, half = lane_index() / 16;
    bool is_there;
    Coordinates const place = tile.place_of(row, is_there);
    NeighborhoodAccess const& read =
        arguments.tensors[half == 0 ? NeighborhoodTensor::Keys : NeighborhoodTensor::Values];
    NeighborhoodAccess const& written =
        arguments.tensors[half == 0 ? NeighborhoodTensor::KeyGradient : NeighborhoodTensor::ValueGradient];
    shared.own_rows[half][row] = static_cast<Element const*>(read.start) + tile.offset_of(read, place);
    shared.result_rows[half][row] = is_there ? tile.offset_of(written, place) : -1;
}

template <class Element, int COLUMNS>
inline void run_key_warpgroup(NeighborhoodArguments const& arguments, Tile const& tile, TokenBox const& all,
                              GradientMemory<Element, COLUMNS>& shared) {
    look_up_own(arguments, tile, shared);
    wait_for_warp();
    stage_own_rows(shared.keys, shared.own_rows[0], arguments.columns);
    stage_own_rows(shared.values, shared.own_rows[1], arguments.columns);
    WarpgroupRows<VisiblePlacesInMemory> rows(
        tile, all, [&](TokenBox const& keys) { return tile.queries_of(keys); }, VisiblePlacesInMemory(shared.places));
    KeyGradients<Element, COLUMNS> made(arguments, shared);
    wait_for_rows();
    __syncthreads();
    made.add_all(rows);
    made.keys.store(arguments.tensors[NeighborhoodTensor::KeyGradient], shared.result_rows[0], arguments.columns,
                    {arguments.scale, arguments.scale}, shared.keys);
    made.values.store(arguments.tensors[NeighborhoodTensor::ValueGradient], shared.result_rows[1], arguments.columns,
                      {1, 1}, shared.values);
}

template <class Element, int COLUMNS>
inline void run_fetchers(NeighborhoodArguments const& arguments, Tile const& tile, TokenBox const& all,
                         GradientMemory<Element, COLUMNS>& shared) {
    QueryFetcher<Element, COLUMNS> fetcher(arguments, tile, all, shared);
    int const stages = (all.count() + kWarpgroupRows - 1) / kWarpgroupRows;
    fetcher.look_up(0);
    fetcher.start_copies(0);
    if (stages > 1) fetcher.look_up(1);
    __syncthreads();
    fetcher.finish_copies(0);
    for (int stage = 1; stage < stages; ++stage) {
        // Then stage - 2 is written, and no product needs the rows of stage - 3. Warps write stages in order, so that
        // the round before this one has ended, too.
        if (stage >= kQueryBuffers) {
            shared.are_written[stage % kScoreGradientBuffers].wait_for((stage - kScoreGradientBuffers) /
                                                                       kScoreGradientBuffers);
        }
        fetcher.start_copies(stage);
        if (stage + 1 < stages) fetcher.look_up(stage + 1);
        fetcher.finish_copies(stage);
    }
}

template <class Element, int COLUMNS>
inline void run_adders(NeighborhoodArguments const& arguments, GradientMemory<Element, COLUMNS>& shared) {
    QueryGradientSums<Element, COLUMNS> sums(arguments, shared, 0);
    __syncthreads();
    int const stages = shared.stages();
    for (int stage = 0; stage < stages; ++stage) {
        sums.start(stage);
        sums.finish(stage);
        sums.add(stage);
    }
}

template <class Element, int COLUMNS>
inline void gradients(NeighborhoodArguments const& arguments) {
    using SharedMemory = GradientMemory<Element, COLUMNS>;
    static_assert(sizeof(SharedMemory) == warpgroup_shared_bytes(COLUMNS, true));
    constexpr int kThreads = gradient_threads(COLUMNS), kOfAdders = has_adders(COLUMNS) ? kAdderRegisters : 0;
    static_assert(has_registers(kThreads / kWarpgroupThreads,
                                kWarpgroups * key_registers(COLUMNS) + kOfAdders + fetcher_registers(COLUMNS)));
    extern __shared__ __align__(kPanelAlignment) unsigned char shared_memory[];
    SharedMemory& shared = *reinterpret_cast<SharedMemory*>(shared_memory);
    int const warpgroup = warpgroup_index();
    if (has_adders(COLUMNS) && warpgroup > kWarpgroups) {
        leave_registers<kAdderRegisters>();
        run_adders<Element, COLUMNS>(arguments, shared);
        return;
    }
    Tile const tile(arguments);
    TokenBox const all = tile.queries_of(tile.tokens());
    if (threadIdx.x == 0) shared.prepare(tile.is_empty() ? 0 : all.count());
    if (tile.is_empty()) {
        __syncthreads();  // the warps that add wait here, too
    } else if (warpgroup < kWarpgroups) {
        take_registers<key_registers(COLUMNS)>();
        run_key_warpgroup<Element, COLUMNS>(arguments, tile, all, shared);
    } else {
        leave_registers<fetcher_registers(COLUMNS)>();
        run_fetchers<Element, COLUMNS>(arguments, tile, all, shared);
    }
}

extern "C" __global__ void __launch_bounds__(kWarpgroupTileThreads)
    neighborhood_gradient_start(__grid_constant__ NeighborhoodArguments const arguments) {
    gradient_start<X, WARPGROUP_COLUMNS>(arguments);
}
extern "C" __global__ void __launch_bounds__(gradient_threads(WARPGROUP_COLUMNS), 1)
    neighborhood_gradients(__grid_constant__ NeighborhoodArguments const arguments) {
    gradients<X, WARPGROUP_COLUMNS>(arguments);
}
extern "C" __global__ void __launch_bounds__(kWarpgroupTileThreads)
    neighborhood_gradient_end(__grid_constant__ NeighborhoodArguments const arguments) {
    gradient_end<X, WARPGROUP_COLUMNS>(arguments);
}
