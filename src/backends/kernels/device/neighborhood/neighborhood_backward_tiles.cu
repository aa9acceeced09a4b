// The gradients of neighborhood attention, a block for each tile of queries and then for each tile of keys; tensors:
// Queries, Keys, Values, Output, Stats, OutputGradient and Delta, which the queries' kernel writes and the keys' kernel
// reads; QueryGradient; KeyGradient, ValueGradient. Options define X, the type of the elements, and TILE_COLUMNS, their
// number rounded up.
#include <neighborhood/neighborhood_warps.cuh>

// Scores and products of output gradients with values become weights and gradients of scores.
inline void weigh(float& score, float& product, bool is_seen, float scale, float stats, float delta) {
    score = is_seen ? power_of_2(score * scale - stats) : 0.0f;
    product = score * (product - delta);
}

// --- Gradients of queries

// Adds the products of the rows of two matrices, of which a lane has the same parts in registers, for each of the
// lane's two rows.
template <class Element, int COLUMNS>
inline void dot_rows(float (&sums)[2], RowsInRegisters<Element, COLUMNS> const& a,
                     RowsInRegisters<Element, COLUMNS> const& b) {
    for (int k = 0; k < COLUMNS / 16; ++k) {
        for (int word = 0; word < 4; ++word) {
            ElementRun<Element, 2> x, y;
            x.units[0].words[0] = a.blocks[k].words[word];
            y.units[0].words[0] = b.blocks[k].words[word];
            for (int i = 0; i < 2; ++i) sums[word % 2] += to_float(x.elements[i]) * to_float(y.elements[i]);
        }
    }
    for (float& sum : sums) {
        sum += from_lane_across(sum, 1);
        sum += from_lane_across(sum, 2);
    }
}

template <class Element, int COLUMNS>
struct QueryMatrices {
    RowsInRegisters<Element, COLUMNS> queries, output_gradients;
    float stats[2], delta[2] = {};

    QueryMatrices(NeighborhoodArguments const& arguments, Tile const& tile, QueryRows const& rows) {
        auto const load = [&](RowsInRegisters<Element, COLUMNS>& matrix, NeighborhoodTensor tensor) {
            NeighborhoodAccess const& access = arguments.tensors[tensor];
            matrix.load(access, {tile.offset_of(access, rows.places[0]), tile.offset_of(access, rows.places[1])},
                        arguments.columns);
        };
        load(output_gradients, NeighborhoodTensor::OutputGradient);
        load(queries, NeighborhoodTensor::Output);
        dot_rows(delta, output_gradients, queries);
        load(queries, NeighborhoodTensor::Queries);
        NeighborhoodAccess const& of_stats = arguments.tensors[NeighborhoodTensor::Stats];
        NeighborhoodAccess const& of_delta = arguments.tensors[NeighborhoodTensor::Delta];
        for (int half = 0; half < 2; ++half) {
            long long const at = tile.offset_of(of_stats, rows.places[half]);
            stats[half] = static_cast<float const*>(of_stats.start)[at] * kLog2OfE;
            if (!rows.is_there[half] || lane_index() % 4 != 0) continue;
            static_cast<float*>(of_delta.start)[tile.offset_of(of_delta, rows.places[half])] = delta[half];
        }
    }
};

template <class Element, int COLUMNS>
inline void query_gradient_tiles(NeighborhoodArguments const& arguments) {
    using Stages = KeyStages<Element, COLUMNS>;
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    unsigned const guards = arguments.tiles.guards;
    QueryRows const rows(tile, arguments.tiles);
    QueryMatrices<Element, COLUMNS> const matrices(arguments, tile, rows);
    float const scale = arguments.scale * kLog2OfE;
    RowSums<Element, COLUMNS> gradient;
    for_each_key_stage<Element, COLUMNS, false>(
        arguments, tile,
        [&](TileRow<Element, COLUMNS> const* keys, TileRow<Element, COLUMNS> const* values,
            typename Stages::KeyTable const& table) {
#pragma unroll 1
            for (int first = 0; first < Stages::kRows; first += 32) {
                StageVisibility const visibility = rows.template visibility<32>(table.places + first, guards);
                if (!visibility.any) continue;
                float weights[4][4], gradients[4][4];
                multiply_by_rows<COLUMNS, 4, Element>(weights, matrices.queries, keys + first);
                multiply_by_rows<COLUMNS, 4, Element>(gradients, matrices.output_gradients, values + first);
                for (int i = 0; i < 16; ++i) {
                    int const key = first + 8 * (i / 4) + 2 * (lane_index() % 4) + i % 2, half = i % 4 / 2;
                    bool const is_seen = visibility.all | has(rows.keys[half], table.places[key], guards);
                    weigh(weights[i / 4][i % 4], gradients[i / 4][i % 4], is_seen, scale, matrices.stats[half],
                          matrices.delta[half]);
                }
                gradient.add(weights_of<Element>(gradients[0], gradients[1]), keys + first);
                gradient.add(weights_of<Element>(gradients[2], gradients[3]), keys + first + 16);
            }
        });
    NeighborhoodAccess const& result = arguments.tensors[NeighborhoodTensor::QueryGradient];
    for (int half = 0; half < 2; ++half) {
        if (!rows.is_there[half]) continue;
        gradient.store(result, half, tile.offset_of(result, rows.places[half]), arguments.columns, arguments.scale);
    }
}

// --- Gradients of keys and values

template <class Element, int COLUMNS>
struct QueryStages {
    static constexpr int kRows = staged_rows(COLUMNS, true);

    struct QueryTable {
        Element const *queries[kRows], *output_gradients[kRows];  // null past the last row
        long long stats[kRows], delta[kRows];                     // their offsets
        unsigned first_keys[kRows], last_keys[kRows];

        PlaceRange keys(int row) const { return {first_keys[row], last_keys[row]}; }
    };

    TileRow<Element, COLUMNS> own_keys[kTileTokens], own_values[kTileTokens];
    TileRow<Element, COLUMNS> queries[kRowBuffers][kRows], output_gradients[kRowBuffers][kRows];
    float stats[kRowBuffers][kRows], delta[kRowBuffers][kRows];
    QueryTable tables[kTableBuffers];
};

// A lane's two keys, of whose rows it has a part, and the range of the warp's keys.
struct KeyRows {
    Coordinates places[2];
    bool is_there[2];
    unsigned packed_places[2];
    PlaceRange of_warp;

    KeyRows(Tile const& tile, NeighborhoodTiles const& tiles) {
        for (int half = 0; half < 2; ++half) {
            int const row = static_cast<int>(threadIdx.x) / 32 * kRowsOfWarp + lane_index() / 4 + 8 * half;
            places[half] = tile.place_of(row, is_there[half]);
            packed_places[half] = packed(tiles, places[half]);
        }
        of_warp = {
            extreme_of_lanes<false>(extreme<false>(packed_places[0], packed_places[1], tiles.guards), tiles.guards),
            extreme_of_lanes<true>(extreme<true>(packed_places[0], packed_places[1], tiles.guards), tiles.guards)};
    }

    // A query sees any of the keys only if its window ends not before the first and begins not after the last.
    StageVisibility visibility(unsigned const* first_keys, unsigned const* last_keys, unsigned guards) const {
        unsigned const first = first_keys[lane_index()], last = last_keys[lane_index()];
        bool const any = (((last | guards) - of_warp.first) & ((of_warp.last | guards) - first) & guards) == guards;
        bool const all = (((of_warp.first | guards) - first) & ((last | guards) - of_warp.last) & guards) == guards;
        return {ballot(any) != 0, ballot(!all) == 0};
    }
};

// Copies the tile's keys and values, and then goes through the queries that see any of the keys: calls use(stage in
// shared memory, its table).
template <class Element, int COLUMNS, class Use>
inline void for_each_query_stage(NeighborhoodArguments const& arguments, Tile const& tile,
                                 QueryStages<Element, COLUMNS>& shared, Use const& use) {
    using Stages = QueryStages<Element, COLUMNS>;
    NeighborhoodAccess const* const tensors = arguments.tensors;
    TokenBox const box = tile.queries_of(tile.tokens());
    int const count = box.count();
    NeighborhoodAccess const& of_queries = tensors[NeighborhoodTensor::Queries];
    NeighborhoodAccess const& of_gradients = tensors[NeighborhoodTensor::OutputGradient];
    Element const* const first_query = static_cast<Element const*>(of_queries.start) + tile.first_offset_of(of_queries);
    Element const* const first_gradient =
        static_cast<Element const*>(of_gradients.start) + tile.first_offset_of(of_gradients);
    auto const look_up = [&](int stage) {
        int const row = row_to_look_up<Stages::kRows>(stage);
        if (row < 0) return;
        typename Stages::QueryTable& table = shared.tables[stage % kTableBuffers];
        int const number = stage * Stages::kRows + row;
        bool const is_there = number < count;
        Coordinates const place = is_there ? box[number] : box.first;
        table.queries[row] = is_there ? first_query + Tile::offset_from_first(of_queries, place) : nullptr;
        table.output_gradients[row] =
            is_there ? first_gradient + Tile::offset_from_first(of_gradients, place) : nullptr;
        table.stats[row] = is_there ? tile.offset_of(tensors[NeighborhoodTensor::Stats], place) : -1;
        table.delta[row] = is_there ? tile.offset_of(tensors[NeighborhoodTensor::Delta], place) : -1;
        TokenBox const keys = tile.keys_of(place);
        table.first_keys[row] = is_there ? packed(arguments.tiles, keys.first) : arguments.tiles.nowhere;
        table.last_keys[row] = is_there ? packed(arguments.tiles, keys.last) : 0;
    };
    auto const start_copies = [&](int stage) {
        typename Stages::QueryTable const& table = shared.tables[stage % kTableBuffers];
        stage_rows<Stages::kRows, COLUMNS>(shared.queries[stage % kRowBuffers], table.queries, of_queries.start,
                                           arguments.columns);
        stage_rows<Stages::kRows, COLUMNS>(shared.output_gradients[stage % kRowBuffers], table.output_gradients,
                                           of_gradients.start, arguments.columns);
        int const row = threadIdx.x % Stages::kRows;
        if (static_cast<int>(threadIdx.x) >= 2 * Stages::kRows) return;
        bool const is_stats = static_cast<int>(threadIdx.x) < Stages::kRows;
        long long const offset = (is_stats ? table.stats : table.delta)[row];
        float const* const start =
            static_cast<float const*>(tensors[is_stats ? NeighborhoodTensor::Stats : NeighborhoodTensor::Delta].start);
        float* const to = is_stats ? shared.stats[stage % kRowBuffers] : shared.delta[stage % kRowBuffers];
        start_copy_of_4_bytes(to + row, offset >= 0 ? start + offset : start, offset >= 0);
    };
    for_each_stage<Stages::kRows>(count, look_up, start_copies, wait_for_copies,
                                  [&](int stage) { use(stage % kRowBuffers, shared.tables[stage % kTableBuffers]); });
}

// Starts copying the tile's own rows, whose places are not in the stages' tables.
template <class Element, int COLUMNS>
inline void start_own_copies(NeighborhoodArguments const& arguments, Tile const& tile,
                             QueryStages<Element, COLUMNS>& shared) {
    constexpr int kPieces = COLUMNS / 8;
    for (int i = threadIdx.x; i < kTileTokens * kPieces; i += kTileThreads) {
        int const row = i / kPieces, column = i % kPieces * 8;
        bool is_there;
        Coordinates const place = tile.place_of(row, is_there);
        is_there = column < arguments.columns;
        auto const copy = [&](TileRow<Element, COLUMNS>* to, NeighborhoodAccess const& tensor) {
            Element const* const start = static_cast<Element const*>(tensor.start);
            start_copy_of_16_bytes(&to[row][column], is_there ? start + tile.offset_of(tensor, place) + column : start,
                                   is_there);
        };
        copy(shared.own_keys, arguments.tensors[NeighborhoodTensor::Keys]);
        copy(shared.own_values, arguments.tensors[NeighborhoodTensor::Values]);
    }
}

template <class Element, int COLUMNS>
inline void key_gradient_tiles(NeighborhoodArguments const& arguments) {
    using Stages = QueryStages<Element, COLUMNS>;
    static_assert(sizeof(Stages) == shared_bytes(COLUMNS, true));
    extern __shared__ __align__(16) unsigned char shared_memory[];
    Stages& shared = *reinterpret_cast<Stages*>(shared_memory);
    Tile const tile(arguments);
    if (tile.is_empty()) return;
    unsigned const guards = arguments.tiles.guards;
    KeyRows const rows(tile, arguments.tiles);
    float const scale = arguments.scale * kLog2OfE;
    int const first_row = static_cast<int>(threadIdx.x) / 32 * kRowsOfWarp;
    RowsInSharedMemory<Element, COLUMNS> const keys{shared.own_keys + first_row}, values{shared.own_values + first_row};
    RowSums<Element, COLUMNS> key_gradient, value_gradient;
    start_own_copies<Element, COLUMNS>(arguments, tile, shared);
    for_each_query_stage<Element, COLUMNS>(
        arguments, tile, shared, [&](int stage, typename Stages::QueryTable const& table) {
#pragma unroll 1
            for (int first = 0; first < Stages::kRows; first += 32) {
                StageVisibility const visibility =
                    rows.visibility(table.first_keys + first, table.last_keys + first, guards);
                if (!visibility.any) continue;
                TileRow<Element, COLUMNS> const* const queries = shared.queries[stage] + first;
                TileRow<Element, COLUMNS> const* const output_gradients = shared.output_gradients[stage] + first;
                float weights[4][4], gradients[4][4];
                multiply_by_rows<COLUMNS, 4, Element>(weights, keys, queries);
                multiply_by_rows<COLUMNS, 4, Element>(gradients, values, output_gradients);
                for (int i = 0; i < 16; ++i) {
                    int const query = first + 8 * (i / 4) + 2 * (lane_index() % 4) + i % 2;
                    bool const is_seen = visibility.all | has(table.keys(query), rows.packed_places[i % 4 / 2], guards);
                    weigh(weights[i / 4][i % 4], gradients[i / 4][i % 4], is_seen, scale,
                          kLog2OfE * shared.stats[stage][query], shared.delta[stage][query]);
                }
                for (int strip = 0; strip < 2; ++strip) {
                    value_gradient.add(weights_of<Element>(weights[2 * strip], weights[2 * strip + 1]),
                                       output_gradients + 16 * strip);
                    key_gradient.add(weights_of<Element>(gradients[2 * strip], gradients[2 * strip + 1]),
                                     queries + 16 * strip);
                }
            }
        });
    NeighborhoodAccess const& of_keys = arguments.tensors[NeighborhoodTensor::KeyGradient];
    NeighborhoodAccess const& of_values = arguments.tensors[NeighborhoodTensor::ValueGradient];
    for (int half = 0; half < 2; ++half) {
        if (!rows.is_there[half]) continue;
        key_gradient.store(of_keys, half, tile.offset_of(of_keys, rows.places[half]), arguments.columns,
                           arguments.scale);
        value_gradient.store(of_values, half, tile.offset_of(of_values, rows.places[half]), arguments.columns, 1);
    }
}

// Before 9.0 a third block would have to spill registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int kGradientBlocks = 2;
#else
constexpr int kGradientBlocks = kTileBlocks;
#endif

extern "C" __global__ void __launch_bounds__(kTileThreads, kGradientBlocks)
    neighborhood_query_gradient_tiles(__grid_constant__ NeighborhoodArguments const arguments) {
    query_gradient_tiles<X, TILE_COLUMNS>(arguments);
}
extern "C" __global__ void __launch_bounds__(kTileThreads, 2)
    neighborhood_key_gradient_tiles(__grid_constant__ NeighborhoodArguments const arguments) {
    key_gradient_tiles<X, TILE_COLUMNS>(arguments);
}
