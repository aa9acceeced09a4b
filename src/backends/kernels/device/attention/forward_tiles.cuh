// Tiles of queries in attention_forward.cu, and the blocks of keys that each goes through.
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/forward_scores.cuh>
#include <hopper/block_order.cuh>

constexpr int kWarpgroups = attention_warpgroups(COLUMNS_OF_KEYS, kNeedsRegisters || kHasBlockMask || kHasPages);

// The places of the block's tiles, one after the other. The warp that fetches finds the next place and, if it has a
// tile, passes it on to the other warps; a place behind all tiles is the end. As a rule blocks go through places in
// rounds, in every second round in reverse order, since keys may become fewer from tile to tile. Where tiles are handed
// out, a block gets each place after its first one from a count that all blocks share.
template <class Memory>
class OwnPlaces {
   public:
    OwnPlaces(AttentionArguments const& arguments, Memory& memory) : arguments_(arguments), memory_(memory) {}

    // Called by the warp that fetches alone, as is pass().
    int take() {
        int const blocks = gridDim.x, own = static_cast<int>(blockIdx.x), round = taken_++;
        bool const are_handed_out = arguments_.places_taken != nullptr;
        if (!are_handed_out || round == 0) return round * blocks + (round % 2 == 0 ? own : blocks - 1 - own);
        unsigned begun = 0;
        if (lane_index() == 0) begun = static_cast<unsigned>(count_up(arguments_.places_taken));
        return blocks + static_cast<int>(from_lane(begun, 0));
    }
    void pass(int place) {
        if (passed_ > 0) memory_.place_is_read.wait_for(passed_ - 1);
        if (lane_index() == 0) memory_.place = place;
        memory_.place_is_here.arrive();
        ++passed_;
    }
    // Called by each of the other warps.
    int read() {
        memory_.place_is_here.wait_for(passed_++);
        int const place = memory_.place;
        memory_.place_is_read.arrive();
        return place;
    }

   private:
    AttentionArguments const& arguments_;
    Memory& memory_;
    int taken_ = 0, passed_ = 0;
};

// Whether a tile may have queries of several heads, which share keys.
constexpr bool kMayShareTiles = may_share_tiles(kWarpgroups);

inline int heads_of_tile(AttentionArguments const& arguments) { return kMayShareTiles ? arguments.heads_of_tile : 1; }
inline int queries_of_tile(AttentionArguments const& arguments) {
    return kMayShareTiles ? arguments.queries_of_tile : tile_queries(kWarpgroups);
}

// A tile of queries; `head` is the first one that it has.
struct QueryTile : Sequence {
    int number;

    QueryTile(AttentionArguments const& arguments, TilePlace const& place)
        : Sequence(arguments.sequences, place.head * heads_of_tile(arguments), arguments.sequences.heads),
          number(place.number) {}

    int first_query(AttentionArguments const& arguments) const { return number * queries_of_tile(arguments); }
};

// Whether a row is behind its packed sequence: there is none in the output.
inline bool is_behind(AttentionArguments const& arguments, Sequence const& sequence, int query) {
    return arguments.entries.start != nullptr && query >= sequence.queries;
}

// The blocks of keys that are visible to a tile, from the last one to the first, and those of them that the band leaves
// visible to all of its queries.
template <int KEYS>
struct KeyBlocks {
    int first, end;
    int full_first, full_end;
    TileBlocks blocks;

    KeyBlocks(AttentionArguments const& arguments, QueryTile const& tile)
        : blocks(arguments.blocks, tile, tile.head, tile.number) {
        int const first_query = tile.first_query(arguments);
        int const last_query = smaller(first_query + queries_of_tile(arguments), tile.queries) - 1;
        RowRange const of_first = tile.visible_to(first_query), of_last = tile.visible_to(last_query);
        first = of_first.begin / KEYS;
        end = (of_last.end + KEYS - 1) / KEYS;
        if (last_query < first_query || of_last.end <= of_first.begin) end = first;
        full_first = (of_last.begin + KEYS - 1) / KEYS;
        full_end = of_first.end / KEYS;
    }
    int last() const { return before(end); }
    int before(int block) const { return kHidesBlocks ? blocks.before(block, first) : block - 1; }
    bool has(int block) const { return block >= first; }
    bool are_none() const { return !has(last()); }
    bool is_modified(int block) const { return kHasRegion && !(kLeavesBlocks && blocks.is_unchanged(block)); }
    bool is_full(int block) const { return block >= full_first && block < full_end; }
};
