// Tiles of keys in attention_gradients.cu, and the blocks of queries that each goes through.
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/gradient_scores.cuh>

// A tile of keys of one head of keys.
struct KeyTile : Sequence {
    int first;

    KeyTile(GradientArguments const& arguments, int place)
        : KeyTile(arguments.sequences, TilePlace(arguments.order, place)) {}
    KeyTile(Sequence const& sequence, int first_key) : Sequence(sequence), first(first_key) {}

   private:
    KeyTile(Sequences const& all, TilePlace const& place)
        : Sequence(all, place.head, all.heads / all.heads_of_key_head), first(place.number * kTileKeys) {}
};

// The blocks of queries that see keys of a tile, and those of them all of whose queries see all of its keys.
template <int QUERIES>
struct QueryBlocks {
    int first, end;
    int full_first, full_end;

    explicit QueryBlocks(KeyTile const& tile) {
        int const last_key = smaller(tile.first + kTileKeys, tile.keys) - 1;
        RowRange const of_first = tile.queries_of(tile.first), of_last = tile.queries_of(last_key);
        first = of_first.begin / QUERIES;
        end = (of_last.end + QUERIES - 1) / QUERIES;
        if (last_key < tile.first || of_last.end <= of_first.begin) end = first;
        full_first = (of_last.begin + QUERIES - 1) / QUERIES;
        full_end = last_key == tile.first + kTileKeys - 1 ? of_first.end / QUERIES : 0;
    }
    bool has(int block) const { return block >= first && block < end; }
    bool is_full(int block) const { return block >= full_first && block < full_end; }
};

// Calls visit(head, block, is_modified) for all blocks of queries of the heads that share the tile's keys. Most tiles
// see the last queries, with which all begin, so that they read the same ones from the L2 cache at the same time.
// Where sums have an order and the last tiles of keys come first, all begin with the first queries that see them
// (gradient_order.cuh).
template <int QUERIES, class Visit>
inline void for_each_block(GradientArguments const& arguments, KeyTile const& tile, Visit const& visit) {
    QueryBlocks<QUERIES> const blocks(tile);
    int const heads = arguments.sequences.heads_of_key_head, first_head = tile.head * heads,
              end_head = first_head + heads;
    auto const blocks_of = [&](int head) { return TileBlocks(arguments.blocks, tile, head, tile.first / kTileKeys); };
    // The last block before that one that any of the heads does not hide, and the first one behind it.
    auto const before = [&](int block) {
        if (!kHidesBlocks) return block - 1;
        int last = blocks_of(first_head).before(block, blocks.first);
        for (int head = first_head + 1; arguments.blocks.head_step != 0 && head < end_head; ++head) {
            last = larger(last, blocks_of(head).before(block, blocks.first));
        }
        return last;
    };
    auto const after = [&](int block) {
        if (!kHidesBlocks) return block + 1;
        int next = blocks_of(first_head).after(block, blocks.end);
        for (int head = first_head + 1; arguments.blocks.head_step != 0 && head < end_head; ++head) {
            next = smaller(next, blocks_of(head).after(block, blocks.end));
        }
        return next;
    };
    auto const visit_heads = [&](int block) {
        for (int head = first_head; head < end_head; ++head) {
            if (kHidesBlocks && !blocks_of(head).has(block)) continue;
            visit(head, block, kHasRegion && !(kLeavesBlocks && blocks_of(head).is_unchanged(block)));
        }
    };
    // One loop, since visit() is long.
    bool const is_upwards = kIsDeterministic && arguments.order.is_backwards;
    int const last = is_upwards ? blocks.end - 1 : blocks.first;
    int block = is_upwards ? after(blocks.first - 1) : before(blocks.end);
    while (is_upwards ? block <= last : block >= last) {
        visit_heads(block);
        block = is_upwards ? after(block) : before(block);
    }
}

// The number of a tile of queries among those of all heads.
inline long long query_tile(GradientArguments const& arguments, KeyTile const& tile, int head, int block) {
    return (static_cast<long long>(tile.batch) * arguments.sequences.heads + head) * arguments.tiles.count + block;
}
