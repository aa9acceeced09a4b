// The kernels before and after the one of attention_gradients.cu, of which this is a part: statistics of queries and
// sums of 0 before it, the gradients of queries, of sinks and of a bias that scores share after it.

// Sets a query's gradients of the bias to 0 in tiles of keys of which its block is left out, with a warp.
inline void clear_bias_gradients(GradientStartArguments const& arguments, Sequence const& sequence, int query) {
    constexpr int kLanes = 32;
    ScoreResults const& to = arguments.bias_gradient;
    int const keys = arguments.sequences.key_rows;
    auto* const row = static_cast<BiasGradientElement*>(to.start) + sequence.batch * to.batch +
                      sequence.head * to.head + query * to.row;
    for (int first = 0; first < keys; first += kLanes * kTileKeys) {
        KeyTile const tile(sequence, first + lane_index() * kTileKeys);
        bool const is_computed = !kHidesBlocks && QueryBlocks<kTileQueries>(tile).has(query / kTileQueries);
        for (unsigned left = ballot(!is_computed); left != 0; left &= left - 1) {
            int const first_key = first + lowest_bit(left) * kTileKeys;
            for (int key = first_key + lane_index(); key < smaller(first_key + kTileKeys, keys); key += kLanes) {
                assign(row[key * to.column], 0.0f);
            }
        }
    }
}

// Sets the numbers by which blocks know of each other to 0, where the tile of queries of a row begins.
inline void clear_order(GradientStartArguments const& arguments, long long row) {
    SumOrder const order(arguments.sequences, arguments.tiles);
    if (row == 0) *order.begun = 0;
    if (row % kTileQueries == 0) order.last[row / kTileQueries] = 0;
}

// Sets the sums of the gradients of a bias to 0, with all threads.
inline void clear_bias_sums(BiasSums const& sums) {
    long long const fours = static_cast<long long>(sums.count) * (kBiasTile / 4),
                    step = static_cast<long long>(gridDim.x) * kStartThreads;
    for (long long i = static_cast<long long>(blockIdx.x) * kStartThreads + threadIdx.x; i < fours; i += step) {
        reinterpret_cast<float4*>(sums.start)[i] = float4{0, 0, 0, 0};
    }
}

// A warp for each row of the tiles.
template <class Element, int COLUMNS>
inline void start_gradients(GradientStartArguments const& arguments) {
    constexpr int kQueries = kTileQueries, kLanes = 32;
    Sequences const& all = arguments.sequences;
    long long const row = static_cast<long long>(blockIdx.x) * (kStartThreads / kLanes) + threadIdx.x / kLanes;
    int const rows = arguments.tiles.count * kQueries;
    long long const head_of_all = row / rows;
    if constexpr (kSumsBiasGradient) clear_bias_sums(arguments.bias_sums);
    if (head_of_all >= static_cast<long long>(all.batches) * all.heads) return;
    int const query = static_cast<int>(row - head_of_all * rows), lane = lane_index();
    Sequence const sequence(all, static_cast<int>(head_of_all), all.heads);
    for (int column = 4 * lane; column < COLUMNS; column += 4 * kLanes) {
        *reinterpret_cast<float4*>(arguments.tiles.sums + row * COLUMNS + column) = float4{0, 0, 0, 0};
    }
    if (kHasBiasGradient && !kSumsBiasGradient && query < all.query_rows)
        clear_bias_gradients(arguments, sequence, query);
    float delta = 0, log_sum = -minus_infinity();
    if (query < sequence.queries) {
        auto const row_of = [&](Rows const& matrix) {
            return static_cast<Element const*>(matrix.start) + start_of_entry(matrix, sequence.batch) +
                   sequence.head * matrix.head + query * matrix.row;
        };
        Element const *const output = row_of(arguments.output), *const gradient = row_of(arguments.output_gradient);
        for (int column = 8 * lane; column < arguments.columns; column += 8 * kLanes) {
            uint4 const left = *reinterpret_cast<uint4 const*>(output + column);
            uint4 const right = *reinterpret_cast<uint4 const*>(gradient + column);
            unsigned const pairs[2][4] = {{left.x, left.y, left.z, left.w}, {right.x, right.y, right.z, right.w}};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                delta += to_float<Element>(pairs[0][i]) * to_float<Element>(pairs[1][i]);
                delta += to_float<Element>(pairs[0][i] >> 16) * to_float<Element>(pairs[1][i] >> 16);
            }
        }
        RowNumbers const& stats = arguments.stats;
        float const number =
            stats.start[start_of_entry(stats, sequence.batch) + sequence.head * stats.head + query * stats.row];
        if (number != minus_infinity()) log_sum = kLog2OfE * number;
    }
    for (int bits = 1; bits < kLanes; bits *= 2) delta += from_lane_across(delta, bits);
    if (lane != 0) return;
    if constexpr (kIsDeterministic) clear_order(arguments, row);
    float* const statistics = arguments.tiles.statistics + row / kQueries * (2 * kQueries) + row % kQueries;
    statistics[0] = log_sum;
    statistics[kQueries] = log_sum == -minus_infinity() ? 0.0f : delta;
}

extern "C" __global__ void __launch_bounds__(kStartThreads)
    attention_gradient_start(__grid_constant__ GradientStartArguments const arguments) {
    start_gradients<X, COLUMNS_OF_KEYS>(arguments);
}

// Four lanes with four words each exchange them: lane i of the four gets the words of number i, in order of lanes.
inline void transpose_by_four(unsigned (&words)[4]) {
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2) {
        bool const is_upper = (lane_index() & bit) != 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if ((i & bit) != 0) continue;
            unsigned const other = from_lane_across(is_upper ? words[i] : words[i + bit], bit);
            (is_upper ? words[i] : words[i + bit]) = other;
        }
    }
}

// The gradient of a head's sink: the sum over its queries in all entries of the sink's share of a row times delta. The
// order depends on sizes alone, so that bits repeat.
inline void store_sink_gradient(GradientEndArguments const& arguments, int head) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    double* const sums = reinterpret_cast<double*>(shared_memory);
    Sequences const& all = arguments.sequences;
    float const sink = kLog2OfE * arguments.sinks[head];
    int const rows = arguments.tiles.count * kTileQueries;
    double sum = 0;
    for (long long batch = 0; batch < all.batches; ++batch) {
        float const* const of_head = arguments.tiles.statistics + (batch * all.heads + head) * (2LL * rows);
#pragma unroll 4
        for (int row = threadIdx.x; row < rows; row += kEndThreads) {
            float const* const of_row = of_head + row / kTileQueries * (2LL * kTileQueries) + row % kTileQueries;
            sum += power_of_2(sink - of_row[0]) * of_row[kTileQueries];
        }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    double total = 0;
    for (int thread = 0; thread < kEndThreads; ++thread) total += sums[thread];
    arguments.sink_gradient[head] = static_cast<float>(-total);
}

// A block for each tile of queries. Threads read what threads of the same number added.
template <class Element, int COLUMNS>
inline void end_gradients(GradientEndArguments const& arguments) {
    constexpr int kBlocks = kSumColumns / 8;
    Sequences const& all = arguments.sequences;
    int const head_of_all = blockIdx.x / arguments.tiles.count, tile = blockIdx.x % arguments.tiles.count;
    Sequence const sequence(all, head_of_all, all.heads);
    int const batch = sequence.batch, head = sequence.head;
    if (arguments.sink_gradient.start != nullptr && batch == 0 && tile == 0) store_sink_gradient(arguments, head);
    // Rows behind a packed sequence belong to others.
    int const rows_there = arguments.query_gradient.offsets.start != nullptr ? sequence.queries : all.query_rows;
    int const thread = threadIdx.x % kThreadsOfWarpgroup, warpgroup = threadIdx.x / kThreadsOfWarpgroup;
    int const query = tile * kTileQueries + (kHasHalfOfQueries ? warpgroup * kWarpgroupQueries : 0) + thread / 32 * 16 +
                      lane_index() / 4;
    int const first_column = (kHasHalfOfQueries ? 0 : warpgroup * kSumColumns) + 8 * (lane_index() % 4);
    float const* const sums = arguments.tiles.sums + static_cast<long long>(blockIdx.x) * kSumsOfTile +
                              warpgroup * kSumsOfWarpgroup + 4 * thread;
    Rows const& gradient = arguments.query_gradient;
    Element* const rows =
        static_cast<Element*>(gradient.start) + start_of_entry(gradient, batch) + head * gradient.head;
    unsigned words[2][kBlocks / 4][4];  // of a row, of 32 columns
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
        float4 const four = *reinterpret_cast<float4 const*>(sums + i * (4 * kThreadsOfWarpgroup));
        words[0][i / 4][i % 4] = pack(four.x * arguments.scale, four.y * arguments.scale, Element());
        words[1][i / 4][i % 4] = pack(four.z * arguments.scale, four.w * arguments.scale, Element());
    }
#pragma unroll
    for (int row = 0; row < 2; ++row) {
#pragma unroll
        for (int i = 0; i < kBlocks / 4; ++i) {
            unsigned(&four)[4] = words[row][i];
            transpose_by_four(four);
            int const column = first_column + 32 * i;
            if (query + 8 * row >= rows_there || column >= arguments.columns) continue;
            *reinterpret_cast<uint4*>(rows + (query + 8 * row) * gradient.row + column) =
                uint4{four[0], four[1], four[2], four[3]};
        }
    }
}

extern "C" __global__ void __launch_bounds__(kEndThreads)
    attention_gradient_end(__grid_constant__ GradientEndArguments const arguments) {
    end_gradients<X, COLUMNS_OF_KEYS>(arguments);
}

// A thread for each element. The order in which it adds up a tile depends on sizes alone.
inline void end_bias_gradients(BiasGradientEndArguments const& arguments) {
    long long rest = static_cast<long long>(blockIdx.x) * kBiasEndThreads + threadIdx.x;
    auto const index_below = [&](int size) {
        int const index = static_cast<int>(rest % size);
        rest /= size;
        return index;
    };
    int const key = index_below(arguments.keys), query = index_below(arguments.queries),
              head = index_below(arguments.heads), batch = static_cast<int>(rest);
    if (batch >= arguments.batches) return;
    BiasSums const& sums = arguments.sums;
    float const* const tile = bias_sum_tile(sums, batch, head, key, query);
    int const first_key = key % kTileKeys, end_key = sums.key_tile == 0 ? kTileKeys : first_key + 1;
    int const first_query = query % kTileQueries, end_query = sums.query_tile == 0 ? kTileQueries : first_query + 1;
    float sum = 0;
    for (int i = first_query; i < end_query; ++i) {
        for (int j = first_key; j < end_key; ++j) sum += tile[place_of_score(j, i)];
    }
    ScoreResults const& to = arguments.gradient;
    assign(static_cast<BiasGradientElement*>(
               to.start)[batch * to.batch + head * to.head + query * to.row + key * to.column],
           sum);
}

#ifdef SUMS_BIAS_GRADIENT
extern "C" __global__ void __launch_bounds__(kBiasEndThreads)
    attention_bias_gradient_end(__grid_constant__ BiasGradientEndArguments const arguments) {
    end_bias_gradients(arguments);
}
#endif
