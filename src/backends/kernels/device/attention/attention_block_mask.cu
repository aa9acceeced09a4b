// Makes bits of blocks of a graph's block mask, for the attention kernel of that graph.
#include <attention/attention_arguments.h>
#include <hopper/block_order.cuh>

using namespace cudnn_frontend::kernels;

// A thread for each word. Where the modifier has bits already, a block stays visible if both say so.
extern "C" __global__ void __launch_bounds__(kBlockMaskThreads)
    attention_block_mask(__grid_constant__ BlockMaskArguments const arguments) {
    constexpr int kBytesOfWord = 4;
    clear_number(arguments.places_taken);
    BlockBits const& bits = arguments.bits;
    long long const number = static_cast<long long>(blockIdx.x) * kBlockMaskThreads + static_cast<int>(threadIdx.x);
    long long const tile_of_all = number / bits.words_of_tile;
    if (tile_of_all >= static_cast<long long>(arguments.heads_of_all) * bits.tiles) return;
    int const head_of_all = static_cast<int>(tile_of_all / bits.tiles);
    int const tile = static_cast<int>(tile_of_all - static_cast<long long>(head_of_all) * bits.tiles);
    int const word = static_cast<int>(number - tile_of_all * bits.words_of_tile);
    ScoreNumbers const& mask = arguments.mask;
    auto const* const bytes = static_cast<unsigned char const*>(mask.start) +
                              head_of_all / arguments.heads * mask.batch + head_of_all % arguments.heads * mask.head +
                              tile * mask.row;
    unsigned visible = 0;
    for (int i = 0; i < kBytesOfWord; ++i) {
        int const byte = word * kBytesOfWord + i;
        if (byte < arguments.bytes) visible |= static_cast<unsigned>(bytes[byte * mask.column]) << (8 * i);
    }
    unsigned& to = bits.words[2 * tile_of_all * bits.words_of_tile + word];
    to = arguments.has_bits ? to & visible : visible;
}
