// The argument of the attention kernels. The library fills it and the kernels read it, so both include this file: its
// types have the same layout for both.
#pragma once

namespace cudnn_frontend::kernels {

// A tensor of [batch, head, row, column] as the copy engine knows it, made by the driver's cuTensorMapEncodeTiled().
struct alignas(64) TensorMap {
    unsigned char bytes[128];
};

// A number for each row. Strides count elements.
struct RowNumbers {
    float* start;
    long long batch, head, row;
};

// Key j is visible to query i if i + diagonal - left <= j <= i + diagonal + right. The diagonal is 0, or begins at the
// last key of the last query: keys - queries of the sequence.
struct VisibleBand {
    int left, right;
    int is_bottom_right;
};

// Blocks work on tiles of queries in this order. Heads form sections whose keys and values fit the L2 cache; in a
// section, tiles of the same number are neighbors, the ones with most keys first.
struct TileOrder {
    int tiles;             // of a head
    int heads_of_section;  // the last section may have fewer
    int count;             // of all tiles
    int is_backwards;      // the last tiles have most keys
};

struct AttentionArguments {
    TensorMap queries, keys, values, output;
    RowNumbers stats;          // null where they are not wanted
    int const* query_lengths;  // of each sequence; null where all have all rows
    int const* key_lengths;
    int batches, heads, heads_of_key_head;
    int query_rows, key_rows;
    VisibleBand band;
    float scale;  // of products of queries and keys, times log2(e)
    TileOrder order;
};

// --- Shapes of tiles, by the columns of queries and keys and those of values: multiples of 64

inline constexpr int kWarpgroupQueries = 64, kThreadsOfWarpgroup = 128;

// The warpgroups that have queries. One more fetches tiles.
constexpr int attention_warpgroups(int columns) { return columns <= 64 ? 3 : 2; }
constexpr int tile_queries(int columns) { return attention_warpgroups(columns) * kWarpgroupQueries; }
constexpr int attention_threads(int columns) { return (attention_warpgroups(columns) + 1) * kThreadsOfWarpgroup; }
constexpr int tile_keys(int columns) { return columns <= 192 ? 128 : 80; }
inline constexpr int kKeyStages = 2;

// Whether output has memory of its own. Otherwise it takes that of the queries, and the next ones come later.
constexpr bool has_output_memory(int columns) { return columns <= 128; }

constexpr int attention_registers(int columns) { return columns <= 64 ? 160 : 240; }
constexpr int attention_fetcher_registers(int columns) { return columns <= 64 ? 32 : 24; }

constexpr int attention_shared_bytes(int columns, int value_columns) {
    constexpr int kBytes = 2, kAlignment = 1024, kBarriers = 2 + 4 * kKeyStages, kBarrierBytes = 8;
    int const rows = tile_queries(columns) * (columns + (has_output_memory(columns) ? value_columns : 0)) +
                     kKeyStages * tile_keys(columns) * (columns + value_columns);
    int const bytes = rows * kBytes + kBarriers * kBarrierBytes;
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace cudnn_frontend::kernels
