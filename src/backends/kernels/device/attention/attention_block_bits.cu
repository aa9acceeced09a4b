// Finds the blocks of scores that a graph's own score modifier hides, and those that it leaves as they are, for the
// attention kernels of that graph.
#include <attention/score_bounds.cuh>
#include <score_code.cuh>
#include <warp.cuh>

inline Bounds rows_of_block(int number, int rows_of_block, int rows) {
    int const last = (number + 1) * rows_of_block - 1;
    return Bounds(number * rows_of_block, last < rows ? last : rows - 1);
}

inline Bounds unchanged_input() {
    Bounds input;
    input.is_input = true;
    return input;
}

// A lane for each block.
extern "C" __global__ void __launch_bounds__(kBlockBitsThreads)
    attention_block_bits(__grid_constant__ BlockBitsArguments const arguments) {
    BlockBits const& bits = arguments.bits;
    long long const word =
        static_cast<long long>(blockIdx.x) * (kBlockBitsThreads / 32) + static_cast<int>(threadIdx.x) / 32;
    long long const tile_of_all = word / bits.words_of_tile;
    int const head_of_all = static_cast<int>(tile_of_all / bits.tiles);
    if (head_of_all >= arguments.heads_of_all) return;
    int const tile = static_cast<int>(tile_of_all - static_cast<long long>(head_of_all) * bits.tiles);
    int const word_of_tile = static_cast<int>(word - tile_of_all * bits.words_of_tile);
    int const block = 32 * word_of_tile + lane_index();
    bool const has_keys = arguments.are_tiles_of_keys;
    int const tile_rows = has_keys ? arguments.key_rows : arguments.query_rows;
    int const block_rows = has_keys ? arguments.query_rows : arguments.key_rows;
    bool is_seen = false, is_unchanged = false;
    if (block * arguments.block_rows < block_rows) {
        Bounds const of_tile = rows_of_block(tile, arguments.tile_rows, tile_rows);
        Bounds const of_block = rows_of_block(block, arguments.block_rows, block_rows);
        BlockPlace const place{head_of_all / arguments.heads, head_of_all % arguments.heads,
                               has_keys ? of_block : of_tile, has_keys ? of_tile : of_block};
        Bounds const score = modified_score(unchanged_input(), place, arguments.inputs);
        is_seen = !score.is(-infinity());
        is_unchanged =
            score.is_input && modified_gradient(Bounds(), unchanged_input(), place, arguments.inputs).is_input;
    }
    unsigned const seen = ballot(is_seen), unchanged = ballot(is_unchanged);
    if (lane_index() != 0) return;
    unsigned* const words = bits.words + 2 * tile_of_all * bits.words_of_tile + word_of_tile;
    words[0] = seen;
    words[bits.words_of_tile] = unchanged;
}
