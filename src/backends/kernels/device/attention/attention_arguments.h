// The argument of the attention kernels. The library fills it and the kernels read it, so both include this file: its
// types have the same layout for both.
#pragma once

namespace cudnn_frontend::kernels {

inline constexpr float kLnOf2 = 0.6931471805599453f, kLog2OfE = 1.4426950408889634f;

// A tensor of [batch, head, row, column] as the copy engine knows it, made by the driver's cuTensorMapEncodeTiled().
struct alignas(64) TensorMap {
    unsigned char bytes[128];
};

// Entries of a batch where sequences are packed one behind the other: each has a map of each tensor that has one, and
// for other tensors the element at which it begins.
struct EntryMaps {
    TensorMap const* start;  // null where sequences are not packed
    int count;               // of an entry
};
struct EntryOffsets {
    long long const* start;  // null where entries are as far from each other as the stride says
    int step;                // to the next entry
};

// A number for each row. Strides count elements.
struct RowNumbers {
    float* start;
    long long batch, head, row;
    EntryOffsets offsets;
};

// A number for each head.
template <class Number>
struct HeadNumbers {
    Number* start;
    long long step;

    Number& operator[](int head) const { return start[head * step]; }
};

// Key j is visible to query i if i + diagonal - left <= j <= i + diagonal + right. The diagonal is 0, or begins at the
// last key of the last query: keys - queries of the sequence.
struct VisibleBand {
    int left, right;
    int is_bottom_right;
};

// The order in which blocks work on tiles of queries, or of keys. Heads form sections. A section has a run of
// neighboring tiles of each of its heads, then the next run of each.
struct TileOrder {
    int tiles;             // of a head
    int heads;             // of all entries
    int heads_of_section;  // the last section has the heads that are left
    int sections;
    int places_of_section;  // those behind its tiles stay empty
    int tiles_of_run;
    int places;        // of all sections
    int is_backwards;  // the last tiles come first
};

// The tile of that place in the order.
struct TilePlace {
    int number, head;  // a head of all entries of the batch
    bool is_empty;

    TilePlace(TileOrder const& order, int place) {
        int const last_section = order.sections - 1, by_places = place / order.places_of_section;
        int const section = by_places < last_section ? by_places : last_section;
        int const first_head = section * order.heads_of_section;
        int const heads = section < last_section ? order.heads_of_section : order.heads - first_head;
        int const in_section = place - section * order.places_of_section;
        int const first = in_section / (order.tiles_of_run * heads) * order.tiles_of_run;
        int const left = order.tiles - first, tiles = left < order.tiles_of_run ? left : order.tiles_of_run;
        is_empty = tiles <= 0;
        if (is_empty) return;
        int const in_run = in_section - first * heads, in_heads = in_run / tiles;
        head = first_head + in_heads;
        number = first + in_run - in_heads * tiles;
        if (order.is_backwards) number = order.tiles - 1 - number;
    }
};

// Numbers of [batch, head, query, key], added to scores. A stride is 0 where all share them.
struct ScoreNumbers {
    void const* start;
    long long batch, head, row, column;
    int are_pairs;  // strides let neighbors along the keys be read two at a time
    int is_boxed;   // the copy engine can fetch them: there is a map
};

// A result of [batch, head, query, key], each element of which is written.
struct ScoreResults {
    void* start;
    long long batch, head, row, column;
    int is_boxed;  // the copy engine can store them: there is a map
};

// The operands of a graph's own score modifier.
inline constexpr int kMostScoreTensors = 6, kMostScoreConstants = 16;
struct ScoreInputs {
    ScoreNumbers tensors[kMostScoreTensors];
    unsigned numbers[kMostScoreConstants];  // the bits of floats, and integers
};

// Terms of a modifier that depend on the distance between a query and a key, the batch and the head alone.
inline constexpr int kMostDistanceTerms = 2;
struct DistanceTerms {
    float numbers[kMostDistanceTerms];
};

// Which blocks of rows a tile attends to, where a graph's own score modifier or a block mask hides blocks. A tile has
// bits in words: one for each block that is not hidden, and behind these one for each block in which the modifier
// changes nothing. A block mask alone does not write the latter.
struct BlockBits {
    unsigned* words;
    int words_of_tile;          // of each kind
    int tiles;                  // of a head
    int batch_step, head_step;  // to the next one, in heads; 0 where all share bits
};

// A number of the graph's, or one in the GPU's memory.
struct GivenInteger {
    void const* start;  // null where the graph or the host gives the number
    int is_wide;        // that in memory has 64 bits
    long long number;
};

// Dropout by the library's generator.
struct Dropout {
    GivenInteger seed, offset;
    unsigned last_kept;  // the greatest word that keeps a score
    float scale;         // of what is kept
};

struct Sequences {
    int batches, heads, heads_of_key_head;
    int query_rows, key_rows;
    int const* query_lengths;  // of each entry; null where all have all rows
    int const* key_lengths;
    VisibleBand band;
};

// Keys or values in pages: row r of entry b is row r mod n of page start[b * batch + r / n * step] of the tensor, with
// n rows in a page.
struct Pages {
    int const* start;  // null where rows are where the strides say
    long long batch, step;
    int rows_as_power;  // of a page: 2 to this power
    int box_rows;       // that the copy engine moves at once: of a page, or part of it
};

enum ForwardMap : int { QueryMap, KeyMap, ValueMap, OutputMap, ForwardMapCount };

struct AttentionArguments {
    TensorMap maps[ForwardMapCount];
    TensorMap bias_map;
    EntryMaps entries;
    Pages key_pages, value_pages;
    Sequences sequences;
    TileOrder order;      // its heads are those of tiles
    int heads_of_tile;    // a tile has the same queries of each: one head behind the other, which all share keys
    int queries_of_tile;  // of a head: a multiple of a warp's rows
    int* places_taken;    // their number without each block's first one; null where blocks do not share it
    RowNumbers stats;     // null where they are not wanted
    HeadNumbers<float const> sinks;  // null where there are none
    ScoreNumbers bias;               // for code with a bias
    ScoreInputs inputs;              // for code with a score modifier
    Dropout dropout;                 // for code with dropout
    BlockBits blocks;                // of keys, for code that leaves out hidden ones
    float scale;                     // of products of queries and keys
    float scale_as_power;            // the same times log2(e)
    RowNumbers maxima, sums;         // for code that stores maxima; null where they are not wanted
};

// --- Gradients

// A tensor whose rows are contiguous. Strides count elements.
struct Rows {
    void* start;
    long long batch, head, row;
    EntryOffsets offsets;
};

// The statistics of queries and the sums of their gradients, which the three kernels of gradients pass on, lie in tiles
// of rows, those of a head behind those of the head before. A tile has two numbers for each query: the log-sum-exp
// times log2(e), which is infinite where nothing is visible, and delta, the sum of the products of output and its
// gradient.
struct QueryTiles {
    float* statistics;
    float* sums;  // in the order in which threads have them; then what keeps the order of deterministic gradients
    int count;    // of a head
};

// The sums of the gradients of a bias that scores share, in tiles of as many keys and queries as tiles of scores have,
// in the order in which threads have them. A step is 0 where all share a tile.
struct BiasSums {
    float* start;
    int batch, head, key_tile, query_tile;  // steps, in tiles
    int count;                              // of tiles
};

// Before the gradients: computes the statistics, and sets the sums to 0.
struct GradientStartArguments {
    Sequences sequences;
    QueryTiles tiles;
    Rows output, output_gradient;
    RowNumbers stats;
    ScoreResults bias_gradient;  // for code with it: set to 0 where no tile of scores is computed
    int columns;                 // of values
    BiasSums bias_sums;          // for code that sums gradients of a bias: set to 0
};

// The first ones are those of forward.
enum GradientMap : int { OutputGradientMap = ValueMap + 1, KeyGradientMap, ValueGradientMap, GradientMapCount };

struct GradientArguments {
    TensorMap maps[GradientMapCount];
    TensorMap bias_map, bias_gradient_map;
    EntryMaps entries;
    Sequences sequences;
    TileOrder order;  // of tiles of keys
    QueryTiles tiles;
    ScoreNumbers bias;           // for code with a bias
    ScoreResults bias_gradient;  // for code with it
    ScoreInputs inputs;          // for code with a score modifier
    Dropout dropout;             // for code with dropout
    BlockBits blocks;            // of queries, for code that leaves out hidden ones
    float scale;                 // of products of queries and keys
    float scale_as_power;        // the same times log2(e)
    BiasSums bias_sums;          // for code that sums gradients of a bias
};

// After them: sums become gradients of queries, and statistics those of sinks.
struct GradientEndArguments {
    Sequences sequences;
    QueryTiles tiles;
    Rows query_gradient;
    HeadNumbers<float const> sinks;
    HeadNumbers<float> sink_gradient;  // null where it is not wanted
    int columns;
    float scale;
};

// After them, too, where scores share a bias: its sums become its gradient, and dims of 1 are added up within tiles.
struct BiasGradientEndArguments {
    BiasSums sums;
    ScoreResults gradient;
    int batches, heads, queries, keys;  // dims of the gradient
};

// --- Bits of blocks, before kernels of attention whose score modifier may hide blocks

struct BlockBitsArguments {
    ScoreInputs inputs;
    BlockBits bits;     // the result
    int* places_taken;  // set to 0 for forward; null where forward has none
    int heads_of_all;   // those that have bits of their own
    int heads;          // of them in a batch
    int query_rows, key_rows;
    int tile_rows, block_rows;
    int blocks;             // of a tile
    int are_tiles_of_keys;  // else of queries
};

inline constexpr int kBlockBitsThreads = 128;     // a warp for each word
inline constexpr int kBlockScoresThreads = 1024;  // for one block of scores

// The graph's block mask: a bit for each tile of queries and block of keys, in bytes.
struct BlockMaskArguments {
    ScoreNumbers mask;
    BlockBits bits;     // the result
    int* places_taken;  // set to 0 for forward; null where forward has none
    int heads_of_all, heads;
    int bytes;     // of a tile of queries
    int has_bits;  // whether blocks that the modifier hides have been found before
};

inline constexpr int kBlockMaskThreads = 128, kBlockMaskRows = 128;

// --- The mask of dropout, before the kernels that drop

struct DropoutMaskArguments {
    Sequences sequences;
    Dropout dropout;
    ScoreResults mask;  // of FLOAT
};

inline constexpr int kDropoutMaskThreads = 256;  // each has four neighboring keys of a query

// --- Entries, before kernels of attention where sequences are packed

// A length for each entry, or one number more, whose differences are the lengths.
struct LengthSource {
    void const* start;
    int is_wide;  // numbers have 64 bits
    int are_sums;
    int* lengths;  // the result
};

inline constexpr int kMostEntryTensors =
    GradientMapCount + 3;  // numbers of rows, the output and the gradient of queries have no map

// A tensor of packed sequences: entry b begins at element offsets[b] * elements_of_offset.
struct EntryTensor {
    TensorMap map;  // of one entry; for the tensors that have one
    unsigned char* start;
    void const* offsets;  // null for a tensor that is not packed, but in pages
    long long elements_of_offset;
    int is_wide;  // offsets have 64 bits
    int element_bytes;
    int has_queries;  // rows are queries, else keys
};

struct EntryArguments {
    EntryTensor tensors[kMostEntryTensors];  // those that have maps come first
    int tensor_count, map_count;
    int batches;
    LengthSource query_lengths, key_lengths;
    TensorMap* maps;     // the results: for each entry one of each tensor that has one
    long long* offsets;  // for each entry one of each tensor
    int* places_taken;   // set to 0 for forward; null where forward has none
};

inline constexpr int kEntryThreads = 128, kEntriesOfBlock = kEntryThreads / 32;  // a warp for each entry

// --- Shapes of tiles, by the columns of queries and keys and those of values: multiples of 64

inline constexpr int kWarpgroupQueries = 64, kThreadsOfWarpgroup = 128;

// The warpgroups that have queries; one more fetches tiles. Three have too few registers for terms of scores or pages,
// and more queries than a bit of a block mask stands for.
constexpr int attention_warpgroups(int columns, bool has_small_tiles) {
    return columns <= 64 && !has_small_tiles ? 3 : 2;
}
constexpr int tile_queries(int warpgroups) { return warpgroups * kWarpgroupQueries; }
// Whether a tile may have queries of several heads. Three warpgroups have too few registers for this, too.
constexpr bool may_share_tiles(int warpgroups) { return warpgroups == 2; }
constexpr int attention_threads(int warpgroups) { return (warpgroups + 1) * kThreadsOfWarpgroup; }
constexpr int tile_keys(int columns) { return columns <= 192 ? 128 : 80; }
inline constexpr int kKeyStages = 2;

// Whether output has memory of its own. Otherwise it uses that of the queries, and the next ones come later.
constexpr bool has_output_memory(int columns) { return columns <= 128; }

// Whether a tile of bias has memory, for elements of that many bytes; 0 where there is no bias.
constexpr bool has_bias_memory(int columns, int element_bytes) { return columns <= 128 && element_bytes == 2; }

// Whether each warp has memory for the terms of all distances between its rows and those of a block.
inline constexpr int kRowsOfWarp = 16;
constexpr bool has_distance_memory(int columns, bool has_bias) { return columns <= 192 && !has_bias; }
constexpr int distance_bytes(int columns, bool has_bias, int warps, int rows_of_block) {
    constexpr int kBytes = 4;
    return has_distance_memory(columns, has_bias) ? kBytes * kMostDistanceTerms * warps * (kRowsOfWarp + rows_of_block)
                                                  : 0;
}

// The registers of threads that have queries, and of those that fetch, which need more where rows are in pages.
constexpr int attention_registers(int warpgroups, bool has_pages) {
    return warpgroups == 3 ? 160 : has_pages ? 232 : 240;
}
constexpr int attention_fetcher_registers(int warpgroups, bool has_pages) {
    return warpgroups == 3 ? 32 : has_pages ? 40 : 24;
}

constexpr int attention_shared_bytes(int columns, int value_columns, int warpgroups, bool has_bias, bool has_modifier) {
    constexpr int kBytes = 2, kAlignment = 1024, kBarrierBytes = 8;
    int const columns_of_query =
        columns + (has_output_memory(columns) ? value_columns : 0) + (has_bias ? tile_keys(columns) : 0);
    int const elements =
        tile_queries(warpgroups) * columns_of_query + kKeyStages * tile_keys(columns) * (columns + value_columns);
    int const barriers = 5 + 4 * kKeyStages + 2 * warpgroups;
    int const distances = has_modifier ? distance_bytes(columns, has_bias, 4 * warpgroups, tile_keys(columns)) : 0;
    int const place = static_cast<int>(sizeof(long long));
    int const bytes = elements * kBytes + barriers * kBarrierBytes + place + distances;
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// --- Shapes of the gradients' tiles, by the same columns

inline constexpr int kGradientWarpgroups = 2, kQueryStages = 2, kScoreGradientStages = 2;
// A warpgroup has registers for the gradients of 64 keys, and with 256 columns for half of the columns of 64 keys: two
// warpgroups then split the columns of the same keys.
constexpr bool splits_columns(int columns) { return columns > 192; }
constexpr int gradient_keys(int columns) { return splits_columns(columns) ? 64 : 64 * kGradientWarpgroups; }
// The number of tiles in shared memory through which warpgroups exchange gradients of scores and, where they split
// columns, weights too.
constexpr int score_tiles(int columns) { return kScoreGradientStages * (splits_columns(columns) ? 2 : 1); }
// Terms of scores need registers, so that a tile has fewer queries.
constexpr int gradient_queries(int columns, bool has_terms) { return columns <= 64 && !has_terms ? 128 : 64; }
inline constexpr int kGradientThreads = (kGradientWarpgroups + 1) * kThreadsOfWarpgroup;
inline constexpr int kGradientRegisters = 240, kGradientFetcherRegisters = 24;
inline constexpr int kStartThreads = 256, kBiasEndThreads = 256,
                     kEndThreads = kThreadsOfWarpgroup * kGradientWarpgroups;
inline constexpr int kSinkSumBytes = kEndThreads * 8;  // of shared memory, where there is a gradient of sinks

constexpr int gradient_shared_bytes(int columns, int value_columns, int queries, bool has_bias, bool has_modifier) {
    constexpr int kBytes = 2, kAlignment = 1024, kBarriers = 6 + 3 * kQueryStages, kBarrierBytes = 8;
    int const keys = gradient_keys(columns);
    int const tiles = score_tiles(columns) + (has_bias ? kQueryStages : 0);
    int const elements = (keys + kQueryStages * queries) * (columns + value_columns) + tiles * keys * queries;
    int const distances = has_modifier ? distance_bytes(columns, has_bias, 4 * kGradientWarpgroups, queries) : 0;
    int const bytes = elements * kBytes + kQueryStages * 2 * queries * 4 + kBarriers * kBarrierBytes + distances;
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace cudnn_frontend::kernels
