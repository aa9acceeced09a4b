// The order in which blocks add to the gradients of queries in attention_gradients.cu, where graphs ask for the same
// bits in each run: tiles of keys add to each tile of queries in the order in which their blocks begin, so that none
// waits for a block that begins later. Where the last tile of keys begins first, a block goes through its queries from
// the first one on, which is the diagonal of a causal mask: blocks that go along add to different tiles. In the other
// order, all blocks begin with the last queries, and follow each other at a distance of one addition.
//
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/gradient_tiles.cuh>
#include <hopper/block_order.cuh>

// The numbers by which blocks know of each other, in memory behind the sums of queries.
struct SumOrder {
    int* begun;  // the number of blocks that have begun
    int* last;   // for each tile of queries, the tile of keys that has added last, plus 1

    SumOrder(Sequences const& all, QueryTiles const& tiles) {
        long long const count = static_cast<long long>(all.batches) * all.heads * tiles.count;
        begun = reinterpret_cast<int*>(tiles.sums + count * (kTileQueries * COLUMNS_OF_KEYS));
        last = begun + 1;
    }
};

// The block's steps, in each of which it adds to a tile of queries.
template <bool IS_ORDERED>
struct SumSteps {
    Arrivals may_add, have_added;
    int place;

    void make(int warps) {
        may_add.make(1);
        have_added.make(warps);
    }
    // The place of the block's tile in their order, which follows the one in which blocks begin, whatever that is.
    void take_place(GradientArguments const& arguments) {
        place = count_up(SumOrder(arguments.sequences, arguments.tiles).begun);
    }
    int place_of_block() const { return static_cast<int>(from_lane(static_cast<unsigned>(place), 0)); }
    void begin(int step) { may_add.wait_for(step); }
    void end() { have_added.arrive(); }
};
template <>
struct SumSteps<false> {
    void make(int) {}
    void take_place(GradientArguments const&) {}
    static int place_of_block() { return static_cast<int>(blockIdx.x); }
    void begin(int) {}
    void end() {}
};

// The tiles of keys that add to a block of queries before this one does.
class TilesBefore {
   public:
    TilesBefore(GradientArguments const& arguments, KeyTile const& tile)
        : arguments_(arguments),
          tile_(tile),
          number_(tile.first / kTileKeys),
          step_(arguments.order.is_backwards ? 1 : -1),
          neighbor_(KeyTile(tile, larger(0, tile.first + step_ * kTileKeys))) {}

    // The last of them, plus 1, with a warp; 0 if there is none.
    int last(int head, int block) const {
        int const farthest = step_ > 0 ? arguments_.order.tiles - 1 - number_ : number_;
        // Tiles whose masks see a block are neighbors.
        if (!kHidesBlocks) return farthest > 0 && neighbor_.has(block) ? number_ + step_ + 1 : 0;
        constexpr int kLanes = 32;
        for (int distance = 1; distance <= farthest; distance += kLanes) {
            int const own = distance + lane_index();
            if (unsigned const those = ballot(own <= farthest && sees(number_ + step_ * own, head, block));
                those != 0) {
                return number_ + step_ * (distance + lowest_bit(those)) + 1;
            }
        }
        return 0;
    }

   private:
    bool sees(int number, int head, int block) const {
        return QueryBlocks<kTileQueries>(KeyTile(tile_, number * kTileKeys)).has(block) &&
               TileBlocks(arguments_.blocks, tile_, head, number).has(block);
    }

    GradientArguments const& arguments_;
    KeyTile const& tile_;
    int number_, step_;  // to the tile that adds before
    QueryBlocks<kTileQueries> neighbor_;
};

// Lets the block's warpgroups add in their turn, with a warp.
inline void keep_order(GradientArguments const& arguments, SumSteps<true>& steps) {
    KeyTile const tile(arguments, computed_here(steps.place_of_block()));
    TilesBefore const before(arguments, tile);
    int* const last = SumOrder(arguments.sequences, arguments.tiles).last;
    int step = 0;
    for_each_block<kTileQueries>(arguments, tile, [&](int head, int block, bool) {
        int* const of_block = last + query_tile(arguments, tile, head, block);
        int const awaited = before.last(head, block);
        if (lane_index() == 0) wait_for_number(of_block, awaited);
        steps.may_add.arrive();
        steps.have_added.wait_for(step++);
        if (lane_index() == 0) show_number(of_block, tile.first / kTileKeys + 1);
    });
}
inline void keep_order(GradientArguments const&, SumSteps<false>&) {}
