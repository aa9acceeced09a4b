// Finds the blocks of scores that a graph's own score modifier hides, and those that it leaves as they are, for the
// attention kernels of that graph.
#include <attention/score_bounds.cuh>
#include <hopper/block_order.cuh>
#include <score_code.cuh>
#include <warp.cuh>

inline Bounds rows_of_block(int number, int rows_of_block, int rows) {
    int const last = (number + 1) * rows_of_block - 1;
    return Bounds(number * rows_of_block, last < rows ? last : rows - 1);
}
inline int count_of(Bounds const& rows) { return static_cast<int>(rows.high - rows.low) + 1; }

inline BlockPlace place_of_block(BlockBitsArguments const& arguments, long long tile_of_all, int block) {
    int const tiles = arguments.bits.tiles;
    int const head_of_all = static_cast<int>(tile_of_all / tiles);
    int const tile = static_cast<int>(tile_of_all - static_cast<long long>(head_of_all) * tiles);
    bool const has_keys = arguments.are_tiles_of_keys;
    Bounds const of_tile =
        rows_of_block(tile, arguments.tile_rows, has_keys ? arguments.key_rows : arguments.query_rows);
    Bounds const of_block =
        rows_of_block(block, arguments.block_rows, has_keys ? arguments.query_rows : arguments.key_rows);
    return {head_of_all / arguments.heads, head_of_all % arguments.heads, has_keys ? of_block : of_tile,
            has_keys ? of_tile : of_block};
}

inline unsigned* words_of_block(BlockBits const& bits, long long tile_of_all, int block) {
    return bits.words + 2 * tile_of_all * bits.words_of_tile + block / 32;
}

// The effect of the modifier on the scores of a place.
struct Effect {
    bool is_seen, is_unchanged;
};
inline Effect effect_at(BlockPlace const& place, ScoreInputs const& inputs) {
    Bounds input;
    input.is_input = true;
    Bounds const score = modified_score(input, place, inputs);
    return {!score.is(-infinity()), score.is_input && modified_gradient(Bounds(), input, place, inputs).is_input};
}

// A lane for each block.
extern "C" __global__ void __launch_bounds__(kBlockBitsThreads)
    attention_block_bits(__grid_constant__ BlockBitsArguments const arguments) {
    clear_number(arguments.places_taken);
    BlockBits const& bits = arguments.bits;
    long long const word =
        static_cast<long long>(blockIdx.x) * (kBlockBitsThreads / 32) + static_cast<int>(threadIdx.x) / 32;
    long long const tile_of_all = word / bits.words_of_tile;
    if (tile_of_all >= static_cast<long long>(arguments.heads_of_all) * bits.tiles) return;
    int const block = 32 * static_cast<int>(word - tile_of_all * bits.words_of_tile) + lane_index();
    Effect effect{};
    if (block < arguments.blocks) effect = effect_at(place_of_block(arguments, tile_of_all, block), arguments.inputs);
    unsigned const seen = ballot(effect.is_seen), unchanged = ballot(effect.is_unchanged);
    if (lane_index() != 0) return;
    unsigned* const words = words_of_block(bits, tile_of_all, block);
    words[0] = seen;
    words[bits.words_of_tile] = unchanged;
}

// Behind it, where bounds say little of a modifier: looks at each score of a block that may have hidden and visible
// ones, until it has found both.
extern "C" __global__ void __launch_bounds__(kBlockScoresThreads)
    attention_block_scores(__grid_constant__ BlockBitsArguments const arguments) {
    BlockBits const& bits = arguments.bits;
    long long const tile_of_all = static_cast<int>(blockIdx.x) / arguments.blocks;
    int const block = static_cast<int>(blockIdx.x) - static_cast<int>(tile_of_all) * arguments.blocks;
    unsigned* const words = words_of_block(bits, tile_of_all, block);
    unsigned const bit = 1u << block % 32;
    bool const is_known = (words[0] & bit) == 0 || (words[bits.words_of_tile] & bit) != 0;
    if (is_known) return;
    BlockPlace const place = place_of_block(arguments, tile_of_all, block);
    int const keys = count_of(place.key), scores = count_of(place.query) * keys;
    bool is_seen = false, is_changed = false;  // any score of the block
    for (int first = 0; first < scores; first += kBlockScoresThreads) {
        Effect effect{false, true};
        if (int const score = first + static_cast<int>(threadIdx.x); score < scores) {
            int const query = score / keys, key = score - query * keys;
            effect =
                effect_at({place.batch, place.head, place.query.low + query, place.key.low + key}, arguments.inputs);
        }
        is_seen = any_of_block(is_seen || effect.is_seen);
        is_changed = any_of_block(is_changed || !effect.is_unchanged);
        if (is_seen && is_changed) return;
    }
    if (threadIdx.x != 0) return;
    if (is_seen) atomicOr(words + bits.words_of_tile, bit);
    else atomicAnd(words, ~bit);
}
