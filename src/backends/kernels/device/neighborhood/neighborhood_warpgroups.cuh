// Neighborhood attention by warpgroups: a block for each tile of 128 tokens, two of whose warpgroups have 64 each. It
// goes through the keys that are visible to the tile, or the queries that see it, in stages of 64 rows. A warpgroup
// multiplies a stage with its own rows if any of the queries sees any of the keys. Which staged rows are visible to a
// row, or see it, is given by runs of bits, one for each line of the box.
#pragma once

#include <hopper/warpgroup.cuh>
#include <neighborhood/neighborhood_tile.cuh>

// The value of one lane, so that the compiler knows it to be the same for the warp, as factors need.
inline int warpgroup_index() { return static_cast<int>(from_lane(threadIdx.x / kWarpgroupThreads, 0)); }
// A warp has 16 rows of the tile.
inline int first_row_of_warp() { return static_cast<int>(threadIdx.x) / 32 * 16; }

// --- Which keys are visible to which queries

// The places in a box of the keys that are visible to a row, or of the queries that see it.
class VisiblePlaces {
   public:
    VisiblePlaces() = default;
    VisiblePlaces(TokenBox const& all, TokenBox const& visible, bool is_there)
        : line_length_(all.extent(2)), lines_(all.extent(1)) {
        for (int axis = 0; axis < kMostAxes; ++axis) {
            first_.at[axis] = visible.first.at[axis] - all.first.at[axis];
            last_.at[axis] = is_there ? visible.last.at[axis] - all.first.at[axis] : -1;
        }
    }

    // A bit for each of the 32 places from that number on. Numbers never decrease from call to call.
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
    // Both ends are included.
    static unsigned bits_between(int first, int last) {
        if (first < 0) first = 0;
        if (last > 31) last = 31;
        return first <= last ? ~0u << first & ~0u >> (31 - last) : 0;
    }

    Coordinates first_, last_;
    int line_length_, lines_;
    int line_begin_ = 0, line_ = 0, plane_ = 0;
};

// Which elements count in a product of the lane's two rows with 64 staged ones.
struct Seen {
    unsigned bits[2][2];  // of each row; of each half of the staged rows, from the lane's first column on
    bool all;             // all elements of the warp's rows count

    bool has(int i, int j) const { return (bits[j / 2][i / 4] >> (8 * (i % 4) + j % 2) & 1) != 0; }
};

// Numbers of places, both ends included.
struct Numbers {
    int first = 0, last = -1;

    bool have_some(int stage) const { return first < (stage + 1) * kWarpgroupRows && last >= stage * kWarpgroupRows; }
    bool have_all(int stage) const {
        return first <= stage * kWarpgroupRows && last >= (stage + 1) * kWarpgroupRows - 1;
    }
};

// Stages that have some of these numbers.
struct StageRange {
    int first, end;

    explicit StageRange(Numbers const& numbers)
        : first(numbers.first / kWarpgroupRows), end((numbers.last + kWarpgroupRows) / kWarpgroupRows) {}
};

inline int number_in(TokenBox const& box, Coordinates const& place) {
    int number = 0;
    for (int axis = 0; axis < kMostAxes; ++axis) {
        number = number * box.extent(axis) + place.at[axis] - box.first.at[axis];
    }
    return number;
}
inline Numbers numbers_in(TokenBox const& box, TokenBox const& part) {
    return {number_in(box, part.first), number_in(box, part.last)};
}

// The numbers of the places in a box that are visible to any row of a warpgroup, or see any; visible_to(box of tokens)
// returns them as a box.
template <class VisibleTo>
inline Numbers visible_numbers(Tile const& tile, TokenBox const& all, VisibleTo const& visible_to, int warpgroup) {
    bool is_there, has_last;
    Coordinates const first = tile.place_of(warpgroup * kWarpgroupRows, is_there);
    Coordinates const last = tile.place_of((warpgroup + 1) * kWarpgroupRows - 1, has_last);
    return is_there ? numbers_in(all, visible_to(TokenBox{first, last})) : Numbers{};
}

// The warpgroup's rows of a tile, and the keys in a box that are visible to them or the queries that see them. Places
// are those of one of the lane's rows.
template <class Places>
class WarpgroupRows {
   public:
    template <class VisibleTo>
    WarpgroupRows(Tile const& tile, TokenBox const& all, VisibleTo const& visible_to, Places places)
        : visible_(visible_numbers(tile, all, visible_to, warpgroup_index())), places_(places) {
        places_ = places_of_lane(tile, all, visible_to);
        bool has_first, has_last;
        Coordinates const first = tile.place_of(warpgroup_index() * kWarpgroupRows, has_first);
        Coordinates const last = tile.place_of((warpgroup_index() + 1) * kWarpgroupRows - 1, has_last);
        if (!has_last || !all.is_line()) return;
        TokenBox const of_first = visible_to(TokenBox{first, first}), of_last = visible_to(TokenBox{last, last});
        visible_to_all_ = numbers_in(all, TokenBox{of_last.first, of_first.last});
    }

    // Whether any of the stage's tokens is visible to any row, or sees any.
    bool have_visible(int stage) const { return visible_.have_some(stage); }
    StageRange visible_stages() const { return StageRange(visible_); }

    // Stages come in order; some may be left out.
    Seen seen(int stage) {
        Seen seen{{}, visible_to_all_.have_all(stage)};
        if (seen.all) return seen;
        unsigned const mine = places_.from(stage * kWarpgroupRows + lane_index() % 2 * 32);
        seen.all = ballot(mine == ~0u) == kAllLanes;
        for (int row = 0; row < 2; ++row) {
            for (int half = 0; half < 2; ++half) {
                int const lane = (lane_index() / 4 + 8 * row) * 2 + half;
                seen.bits[row][half] = from_lane(mine, lane) >> lane_index() % 4 * 2;
            }
        }
        return seen;
    }

   private:
    // Each lane looks up one half of the stages for one of the warp's rows.
    template <class VisibleTo>
    static VisiblePlaces places_of_lane(Tile const& tile, TokenBox const& all, VisibleTo const& visible_to) {
        bool is_there;
        Coordinates const place = tile.place_of(first_row_of_warp() + lane_index() / 2, is_there);
        return {all, visible_to(TokenBox{place, place}), is_there};
    }

    Numbers visible_;
    Numbers visible_to_all_;
    Places places_;
};

// --- Matrices

template <class Element, int ROWS, int COLUMNS>
struct Panels {
    static constexpr int kColumns = COLUMNS;

    Panel<Element, ROWS> panels[COLUMNS / kPanelColumns];

    Element* piece(int row, int column) { return panels[column / kPanelColumns].piece(row, column % kPanelColumns); }
};

// The place of that number in a box, relative to its first one.
inline Coordinates place_in(TokenBox const& box, int number) {
    int const lines = static_cast<int>(static_cast<unsigned>(number) / static_cast<unsigned>(box.extent(2)));
    int const planes = static_cast<int>(static_cast<unsigned>(lines) / static_cast<unsigned>(box.extent(1)));
    return {{planes, lines - planes * box.extent(1), number - lines * box.extent(2)}};
}

// Calls visit(i, row, column, piece) for this thread's pieces of 16 bytes. THREADS threads share those of ROWS rows.
template <int ROWS, int THREADS, class AllPanels, class Visit>
inline void for_each_own_piece(AllPanels& panels, int first_row, unsigned thread, Visit const& visit) {
    constexpr unsigned kPieces = AllPanels::kColumns / 8, kRowsAtOnce = THREADS / kPieces;
    static_assert(ROWS % kRowsAtOnce == 0);
    unsigned const first = first_row + thread / kPieces, column = thread % kPieces * 8;
    auto* const piece = panels.piece(first, column);
#pragma unroll
    for (unsigned i = 0; i < ROWS / kRowsAtOnce; ++i) {
        unsigned const row = first + i * kRowsAtOnce;
        // Every eighth row has its pieces at the same places.
        bool const is_below = kRowsAtOnce % 8 == 0;
        visit(i, row, column, is_below ? piece + i * kRowsAtOnce * kPanelColumns : panels.piece(row, column));
    }
}

// Starts copying ROWS rows, from that one on, with THREADS threads.
template <int ROWS, int THREADS, class AllPanels, class Element>
inline void stage_rows(AllPanels& to, int first_row, unsigned thread, Element const* const* rows, int columns) {
    Element const* from[ROWS * AllPanels::kColumns / 8 / THREADS];  // all are known before the first copy starts
    for_each_own_piece<ROWS, THREADS>(to, first_row, thread,
                                      [&](unsigned i, unsigned row, unsigned, Element*) { from[i] = rows[row]; });
    for_each_own_piece<ROWS, THREADS>(to, first_row, thread,
                                      [&](unsigned i, unsigned, unsigned column, Element* piece) {
                                          bool const is_there = column < static_cast<unsigned>(columns);
                                          start_copy_of_16_bytes(piece, from[i] + (is_there ? column : 0), is_there);
                                      });
}

// After the next barrier, products read the results of the copies that this thread started.
inline void wait_for_rows() {
    wait_for_copies();
    show_to_products();
}

// Starts the products of 64 of the tile's rows, from that one on, with 64 staged ones.
template <class Element, int ROWS, int COLUMNS>
inline void start_products_of_rows(float (&products)[8][4], Panels<Element, kWarpgroupTileTokens, COLUMNS> const& rows,
                                   int first_row, Panels<Element, ROWS, COLUMNS> const& staged, int first) {
#pragma unroll
    for (int k = 0; k < COLUMNS / 16; ++k) {
        int const panel = 16 * k / kPanelColumns, column = 16 * k % kPanelColumns;
        start_product<false, false>(products, Factor(rows.panels[panel], first_row, column),
                                    Factor(staged.panels[panel], first, column), k > 0, Element());
    }
}

// A warpgroup's weights of 64 staged rows.
struct Weights {
    MatrixBlock blocks[kWarpgroupRows / 16] = {};

    Weights() = default;
    template <class Element>
    Weights(float const (&weights)[8][4], Element) {
        for (int i = 0; i < kWarpgroupRows / 16; ++i)
            blocks[i] = weights_of<Element>(weights[2 * i], weights[2 * i + 1]);
    }

    void hold_all() {
        for (MatrixBlock& block : blocks) hold(block);
    }
};

// Sums of staged rows, for each of the warpgroup's rows.
template <class Element, int COLUMNS>
struct WarpgroupSums {
    float panels[COLUMNS / kPanelColumns][kPanelColumns / 8][4] = {};

    template <int ROWS>
    void start_adding(Weights const& weights, Panels<Element, ROWS, COLUMNS> const& staged, int first) {
#pragma unroll
        for (int k = 0; k < kWarpgroupRows / 16; ++k) {
#pragma unroll
            for (int panel = 0; panel < COLUMNS / kPanelColumns; ++panel) {
                start_product<true>(panels[panel], weights.blocks[k], Factor(staged.panels[panel], first + 16 * k, 0),
                                    true, Element());
            }
        }
    }

    void hold_all() {
        for (auto& panel : panels) hold(panel);
    }

    // Stores the warp's rows, by way of the tile's matrix, which no product reads any more.
    void store(NeighborhoodAccess const& tensor, long long const* rows, int columns, float const (&factors)[2],
               Panels<Element, kWarpgroupTileTokens, COLUMNS>& memory) const {
        int const lane = computed_here(lane_index()), first = computed_here(first_row_of_warp());
        for (int panel = 0; panel < COLUMNS / kPanelColumns; ++panel) {
            for (int i = 0; i < kPanelColumns / 16; ++i) {
                MatrixBlock const block = block_of(panels[panel][2 * i], panels[panel][2 * i + 1], factors);
                store_block(memory.piece(first + lane % 16, panel * kPanelColumns + 16 * i + lane / 16 * 8), block);
            }
        }
        wait_for_warp();
        constexpr int kPieces = COLUMNS / 8, kRowsAtOnce = 32 / kPieces;
        int const column = lane % kPieces * 8;
        for (int i = 0; i < 16; i += kRowsAtOnce) {
            int const row = first + i + lane / kPieces;
            if (rows[row] < 0 || column >= columns) continue;
            *reinterpret_cast<uint4*>(static_cast<Element*>(tensor.start) + rows[row] + column) =
                *reinterpret_cast<uint4 const*>(memory.piece(row, column));
        }
    }

   private:
    static MatrixBlock block_of(float const (&left)[4], float const (&right)[4], float const (&factors)[2]) {
        float products[2][4];
        for (int j = 0; j < 4; ++j) {
            products[0][j] = left[j] * factors[j / 2];
            products[1][j] = right[j] * factors[j / 2];
        }
        return weights_of<Element>(products[0], products[1]);
    }
};
