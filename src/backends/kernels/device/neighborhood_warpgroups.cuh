// Neighborhood attention with a block of two warpgroups for each tile of tokens: each has 64 of the tile's rows. What
// the tile's tokens meet is gone through in stages of 64 rows, which both warpgroups multiply with theirs, as far as
// any of these meets any of those. Which tokens a row meets are runs of bits, one for each line of the box.
#pragma once

#include <neighborhood_tile.cuh>
#include <warpgroup.cuh>

constexpr int kGroups = kGroupTileTokens / kGroupTokens;
constexpr int kGroupThreads = kGroupTileThreads / kGroups;

inline int group_index() { return static_cast<int>(threadIdx.x) / kGroupThreads; }

// --- Who meets whom

// The places that a row meets among all of a box.
class MetPlaces {
   public:
    MetPlaces(Box const& all, Box const& met, bool is_there) : line_length_(all.extent(2)), lines_(all.extent(1)) {
        for (int axis = 0; axis < kMostAxes; ++axis) {
            first_.at[axis] = met.first.at[axis] - all.first.at[axis];
            last_.at[axis] = is_there ? met.last.at[axis] - all.first.at[axis] : -1;
        }
    }

    // Of 32 places from that number on, a bit each. Numbers never decrease from call to call.
    unsigned from(int number) {
        unsigned bits = 0;
        for (;;) {
            int const begin = line_begin_ - number;
            if (plane_ >= first_.at[0] && plane_ <= last_.at[0] && line_ >= first_.at[1] && line_ <= last_.at[1]) {
                bits |= bits_between(begin + first_.at[2], begin + last_.at[2]);
            }
            if (begin + line_length_ >= 32) return bits;
            line_begin_ += line_length_;
            if (++line_ == lines_) {
                line_ = 0;
                ++plane_;
            }
        }
    }

   private:
    // Both ends included.
    static unsigned bits_between(int first, int last) {
        if (first < 0) first = 0;
        if (last > 31) last = 31;
        return first <= last ? ~0u << first & ~0u >> (31 - last) : 0;
    }

    Coordinates first_, last_;
    int line_length_, lines_;
    int line_begin_ = 0, line_ = 0, plane_ = 0;
};

// Of a product of the lane's two rows with 64 staged ones, which elements count.
struct Seen {
    unsigned bits[2][2];  // of each row; of each half of the staged rows, from the lane's first column on
    bool all;             // of the warp's rows

    bool has(int i, int j) const { return (bits[j / 2][i / 4] >> (8 * (i % 4) + j % 2) & 1) != 0; }
};

// Numbers of places, both ends included.
struct Numbers {
    int first, last;

    bool meet(int stage) const { return first < (stage + 1) * kGroupStageRows && last >= stage * kGroupStageRows; }
};

inline int number_in(Box const& box, Coordinates const& place) {
    int number = 0;
    for (int axis = 0; axis < kMostAxes; ++axis) {
        number = number * box.extent(axis) + place.at[axis] - box.first.at[axis];
    }
    return number;
}

// A tile's rows and all that they meet, which met_by(box of tokens) tells.
template <class MetBy>
class GroupRows {
   public:
    GroupRows(Tile const& tile, MetBy const& met_by) : all_(met_by(tile.tokens())), met_(met_of_thread(tile, met_by)) {
        for (int group = 0; group < kGroups; ++group) {
            bool has_tokens, unused;
            Box tokens;
            tokens.first = tile.place_of(group * kGroupTokens, has_tokens);
            tokens.last = tile.place_of((group + 1) * kGroupTokens - 1, unused);
            Box const met = met_by(tokens);
            numbers_[group] =
                has_tokens ? Numbers{number_in(all_, met.first), number_in(all_, met.last)} : Numbers{all_.count(), -1};
        }
    }

    Box const& all() const { return all_; }
    // Whether any row of the group meets any of the stage.
    bool meet(int group, int stage) const { return group == 0 ? numbers_[0].meet(stage) : numbers_[1].meet(stage); }

    // For stages in order, of which some may be left out.
    Seen seen(int stage) {
        unsigned const mine = met_.from(stage * kGroupStageRows + threadIdx.x % 2 * 32);
        Seen seen;
        seen.all = ballot(mine != ~0u) == 0;
        for (int row = 0; row < 2; ++row) {
            for (int half = 0; half < 2; ++half) {
                seen.bits[row][half] = from_lane(mine, lane_index() / 4 * 2 + 16 * row + half) >> lane_index() % 4 * 2;
            }
        }
        return seen;
    }

   private:
    // A thread tells of half a stage for a row: two threads for each row of their warp.
    MetPlaces met_of_thread(Tile const& tile, MetBy const& met_by) const {
        bool is_there;
        Coordinates const place = tile.place_of(static_cast<int>(threadIdx.x) / 2, is_there);
        return {all_, met_by(Box{place, place}), is_there};
    }

    Box all_;
    Numbers numbers_[kGroups];
    MetPlaces met_;
};
template <class MetBy>
GroupRows(Tile const&, MetBy const&) -> GroupRows<MetBy>;

// The place of the lane's first row, or of its second.
inline Coordinates place_of_half(Tile const& tile, int half, bool& is_there) {
    return tile.place_of(static_cast<int>(threadIdx.x) / 32 * 16 + lane_index() / 4 + 8 * half, is_there);
}

// --- Matrices

template <class Element, int ROWS, int COLUMNS>
struct Panels {
    Panel<Element, ROWS> panels[COLUMNS / kPanelColumns];

    Element* piece(int row, int column) { return panels[column / kPanelColumns].piece(row, column % kPanelColumns); }
};

// Where the rows of a stage are in some tensors, in elements; below 0 past the last row.
template <int TENSORS>
struct RowTable {
    long long offsets[TENSORS][kGroupStageRows];

    // By all threads, which share the work.
    void fill(NeighborhoodArguments const& arguments, Tile const& tile, Box const& box, int stage,
              NeighborhoodTensor const (&tensors)[TENSORS]) {
        constexpr int kShares = kGroupTileThreads / kGroupStageRows;
        int const row = static_cast<int>(threadIdx.x) % kGroupStageRows, number = stage * kGroupStageRows + row;
        bool const is_there = number < box.count();
        Coordinates const place = box[number];
#pragma unroll
        for (int i = 0; i < TENSORS; ++i) {
            if (i % kShares != static_cast<int>(threadIdx.x) / kGroupStageRows) continue;
            offsets[i][row] = is_there ? tile.offset_of(arguments.tensors[tensors[i]], place) : -1;
        }
    }
};

// Starts copying rows, of zeros where an offset is below 0.
template <class Element, int ROWS, int COLUMNS>
inline void stage_rows(Panels<Element, ROWS, COLUMNS>& to, NeighborhoodAccess const& tensor, long long const* offsets,
                       int columns) {
    constexpr int kPieces = COLUMNS / 8, kRowsAtOnce = kGroupTileThreads / kPieces;
    static_assert(ROWS % kRowsAtOnce == 0);
    Element const* const start = static_cast<Element const*>(tensor.start);
    int const first = static_cast<int>(threadIdx.x) / kPieces, column = static_cast<int>(threadIdx.x) % kPieces * 8;
#pragma unroll
    for (int i = 0; i < ROWS / kRowsAtOnce; ++i) {
        int const row = first + i * kRowsAtOnce;
        bool const is_there = offsets[row] >= 0 && column < columns;
        start_copy_of_16_bytes(to.piece(row, column), is_there ? start + offsets[row] + column : start, is_there);
    }
}

// Starts the products of 64 rows, from that one on, with staged ones.
template <class Element, int ROWS, int COLUMNS>
inline void start_products_of_rows(float (&products)[8][4], Panels<Element, ROWS, COLUMNS> const& rows, int first_row,
                                   Panels<Element, kGroupStageRows, COLUMNS> const& staged) {
#pragma unroll
    for (int k = 0; k < COLUMNS / 16; ++k) {
        int const panel = 16 * k / kPanelColumns, column = 16 * k % kPanelColumns;
        start_product<false, false>(products, Factor(rows.panels[panel], first_row, column),
                                    Factor(staged.panels[panel], 0, column), k > 0, Element());
    }
}
template <class Element, int COLUMNS>
inline void start_products_of_rows(float (&products)[8][4], RowsInRegisters<Element, COLUMNS> const& rows,
                                   Panels<Element, kGroupStageRows, COLUMNS> const& staged) {
#pragma unroll
    for (int k = 0; k < COLUMNS / 16; ++k) {
        start_product<false>(products, rows.block(k),
                             Factor(staged.panels[16 * k / kPanelColumns], 0, 16 * k % kPanelColumns), k > 0,
                             Element());
    }
}

// A warpgroup's weights of 64 staged rows.
struct Weights {
    Block blocks[kGroupStageRows / 16];

    template <class Element>
    static Weights of(float const (&weights)[8][4], Element) {
        Weights result;
        for (int i = 0; i < kGroupStageRows / 16; ++i) {
            result.blocks[i] = weights_of<Element>(weights[2 * i], weights[2 * i + 1]);
        }
        return result;
    }
};

// Sums of staged rows, for each of the warpgroup's rows.
template <class Element, int COLUMNS>
struct GroupSums {
    float panels[COLUMNS / kPanelColumns][kPanelColumns / 8][4] = {};

    void start_adding(Weights const& weights, Panels<Element, kGroupStageRows, COLUMNS> const& staged) {
#pragma unroll
        for (int k = 0; k < kGroupStageRows / 16; ++k) {
#pragma unroll
            for (int panel = 0; panel < COLUMNS / kPanelColumns; ++panel) {
                start_product<true>(panels[panel], weights.blocks[k], Factor(staged.panels[panel], 16 * k, 0), true,
                                    Element());
            }
        }
    }

    // Once wait_for_products() has waited for all.
    void finish() {
        for (auto& panel : panels) hold(panel);
    }

    void store(NeighborhoodAccess const& tensor, int half, long long offset, int columns, float factor) const {
        for (int panel = 0; panel < COLUMNS / kPanelColumns; ++panel) {
            int const first = panel * kPanelColumns;
            store_row<Element>(tensor, offset + first, columns - first, panels[panel], half, factor);
        }
    }
};
