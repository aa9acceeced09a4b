// Neighborhood attention with a block of two warpgroups for each tile of tokens. What the tile's tokens meet is gone
// through in stages of 64 rows, which are multiplied with blocks of 64 of the tile's rows, as far as any of these meets
// any of those. Which staged rows a row meets are runs of bits, one for each line of the box.
#pragma once

#include <neighborhood_tile.cuh>
#include <warpgroup.cuh>

constexpr int kGroupThreads = kGroupTileThreads / kGroups;

// Asked of one lane, so that the compiler knows it to be the same for the warp, as factors need.
inline int group_index() { return static_cast<int>(from_lane(threadIdx.x / kGroupThreads, 0)); }
inline int warp_in_group() { return static_cast<int>(threadIdx.x) % kGroupThreads / 32; }

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

    bool meet(int stage) const { return first < (stage + 1) * kGroupRows && last >= stage * kGroupRows; }
};

inline int number_in(Box const& box, Coordinates const& place) {
    int number = 0;
    for (int axis = 0; axis < kMostAxes; ++axis) {
        number = number * box.extent(axis) + place.at[axis] - box.first.at[axis];
    }
    return number;
}

// Some blocks of a tile's rows, from the first one on, and what they meet, which met_by(box of tokens) tells. A lane
// looks up as many halves of a stage as there are blocks: all lanes together two for each of the warp's rows.
template <int BLOCKS, class MetBy>
class GroupRows {
   public:
    GroupRows(Tile const& tile, MetBy const& met_by, int first_row)
        : all_(met_by(tile.tokens())), met_(met_of_lane(tile, met_by, first_row)) {
        for (int block = 0; block < BLOCKS; ++block) {
            bool has_tokens, unused;
            Box tokens;
            tokens.first = tile.place_of(first_row + block * kGroupRows, has_tokens);
            tokens.last = tile.place_of(first_row + (block + 1) * kGroupRows - 1, unused);
            Box const met = met_by(tokens);
            numbers_[block] =
                has_tokens ? Numbers{number_in(all_, met.first), number_in(all_, met.last)} : Numbers{all_.count(), -1};
        }
    }

    Box const& all() const { return all_; }
    // Whether any row of the block meets any of the stage.
    bool meet(int block, int stage) const { return numbers_[block].meet(stage); }

    // Before the next calls of seen(). Stages come in order; some may be left out.
    void look_at(int stage) {
        for (int i = 0; i < BLOCKS; ++i) {
            mine_[i] = met_.from(stage * kGroupRows + (lane_index() * BLOCKS + i) % 2 * 32);
        }
    }
    Seen seen(int block) const {
        constexpr unsigned kOfBlock = BLOCKS == 1 ? kAllLanes : 0xffff;
        bool sees_all = true;
        for (unsigned const word : mine_) sees_all = sees_all && word == ~0u;
        Seen seen;
        seen.all = (ballot(sees_all) >> (32 / BLOCKS * block) & kOfBlock) == kOfBlock;
        for (int row = 0; row < 2; ++row) {
            for (int half = 0; half < 2; ++half) {
                int const number = (16 * block + lane_index() / 4 + 8 * row) * 2 + half;
                seen.bits[row][half] = from_lane(mine_[half % BLOCKS], number / BLOCKS) >> lane_index() % 4 * 2;
            }
        }
        return seen;
    }

   private:
    static_assert(BLOCKS == 1 || BLOCKS == 2);

    MetPlaces met_of_lane(Tile const& tile, MetBy const& met_by, int first_row) const {
        int const row = lane_index() * BLOCKS / 2;  // of the warp's
        bool is_there;
        Coordinates const place =
            tile.place_of(first_row + row / 16 * kGroupRows + warp_in_group() * 16 + row % 16, is_there);
        return {all_, met_by(Box{place, place}), is_there};
    }

    Box all_;
    Numbers numbers_[BLOCKS];
    MetPlaces met_;
    unsigned mine_[BLOCKS];
};

// The place of the lane's first row in a block, or of its second.
inline Coordinates place_of_half(Tile const& tile, int first_row, int half, bool& is_there) {
    return tile.place_of(first_row + warp_in_group() * 16 + lane_index() / 4 + 8 * half, is_there);
}

// --- Matrices

template <class Element, int ROWS, int COLUMNS>
struct Panels {
    Panel<Element, ROWS> panels[COLUMNS / kPanelColumns];

    Element* piece(int row, int column) { return panels[column / kPanelColumns].piece(row, column % kPanelColumns); }
};

// Places from the first one of a box on, by their numbers in it.
inline Coordinates place_in(Box const& box, int number) {
    if (box.extent(0) == 1 && box.extent(1) == 1) return {{0, 0, number}};
    int const lines = static_cast<int>(static_cast<unsigned>(number) / static_cast<unsigned>(box.extent(2)));
    int const planes = static_cast<int>(static_cast<unsigned>(lines) / static_cast<unsigned>(box.extent(1)));
    return {{planes, lines - planes * box.extent(1), number - lines * box.extent(2)}};
}

// Where rows of the tile are in some tensors, by all threads, which share the work.
template <class Element, int TENSORS, int ROWS>
inline void look_up_own(NeighborhoodArguments const& arguments, Tile const& tile, Element const* (&rows)[TENSORS][ROWS],
                        NeighborhoodTensor first) {
    int const row = static_cast<int>(threadIdx.x) % ROWS, number = static_cast<int>(threadIdx.x) / ROWS;
    if (number >= TENSORS) return;
    bool is_there;
    NeighborhoodAccess const& tensor = arguments.tensors[first + number];
    rows[number][row] =
        static_cast<Element const*>(tensor.start) + tile.offset_of(tensor, tile.place_of(row, is_there));
}

// Starts copying rows, of zeros for null, by so many threads, of which this is one.
template <int THREADS, class Element, int ROWS, int COLUMNS>
inline void stage_rows(int thread, Panels<Element, ROWS, COLUMNS>& to, Element const* const* rows, int columns) {
    constexpr int kPieces = COLUMNS / 8, kRowsAtOnce = THREADS / kPieces;
    static_assert(ROWS % kRowsAtOnce == 0);
    int const first = thread / kPieces, column = thread % kPieces * 8;
#pragma unroll
    for (int i = 0; i < ROWS / kRowsAtOnce; ++i) {
        Element const* const row = rows[first + i * kRowsAtOnce];
        start_copy_of_16_bytes(to.piece(first + i * kRowsAtOnce, column), row + column,
                               row != nullptr && column < columns);
    }
}

// Copies that this thread started are there for products behind the next barrier.
inline void wait_for_rows() {
    wait_for_copies();
    show_to_products();
}

// Starts the products of 64 rows, from that one on, with staged ones.
template <class Element, int ROWS, int COLUMNS>
inline void start_products_of_rows(float (&products)[8][4], Panels<Element, ROWS, COLUMNS> const& rows, int first_row,
                                   Panels<Element, kGroupRows, COLUMNS> const& staged) {
#pragma unroll
    for (int k = 0; k < COLUMNS / 16; ++k) {
        int const panel = 16 * k / kPanelColumns, column = 16 * k % kPanelColumns;
        start_product<false, false>(products, Factor(rows.panels[panel], first_row, column),
                                    Factor(staged.panels[panel], 0, column), k > 0, Element());
    }
}

// A warpgroup's weights of 64 staged rows.
struct Weights {
    Block blocks[kGroupRows / 16] = {};

    Weights() = default;
    template <class Element>
    Weights(float const (&weights)[8][4], Element) {
        for (int i = 0; i < kGroupRows / 16; ++i) blocks[i] = weights_of<Element>(weights[2 * i], weights[2 * i + 1]);
    }
};

// Sums of staged rows, for each of the warpgroup's rows.
template <class Element, int COLUMNS>
struct GroupSums {
    float panels[COLUMNS / kPanelColumns][kPanelColumns / 8][4] = {};

    void start_adding(Weights const& weights, Panels<Element, kGroupRows, COLUMNS> const& staged) {
#pragma unroll
        for (int k = 0; k < kGroupRows / 16; ++k) {
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
