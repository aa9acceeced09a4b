// A tile of tokens for a block: which tokens these are, which keys are visible to it or which queries see it, its rows
// in registers, and the order in which the block goes through those keys or queries. All of them lie in a box of
// places.
#pragma once

#include <neighborhood/neighborhood_arguments.h>
#include <elements.cuh>
#include <tensor_core.cuh>
#include <warp.cuh>

using namespace cudnn_frontend::kernels;
namespace neighborhood = cudnn_frontend::neighborhood;

constexpr float kLog2OfE = 1.44269504f, kLnOf2 = 0.693147181f;

struct Coordinates {
    int at[kMostAxes];
};

// Places along each axis, both ends included.
struct TokenBox {
    Coordinates first, last;

    int extent(int axis) const { return last.at[axis] - first.at[axis] + 1; }
    int count() const { return extent(0) * extent(1) * extent(2); }
    bool is_line() const { return extent(0) == 1 && extent(1) == 1; }
    Coordinates operator[](unsigned number) const {
        unsigned const rows = number / static_cast<unsigned>(extent(2));
        unsigned const planes = rows / static_cast<unsigned>(extent(1));
        return {{first.at[0] + static_cast<int>(planes), first.at[1] + static_cast<int>(rows - planes * extent(1)),
                 first.at[2] + static_cast<int>(number - rows * extent(2))}};
    }
};

// A block's tokens: a box in one dilation group, which is a space of its own without dilation.
class Tile {
   public:
    explicit Tile(NeighborhoodArguments const& arguments) : arguments_(arguments) {
        unsigned index = blockIdx.x;
        for (int axis = kMostAxes; axis-- > 0;) {
            neighborhood::Axis const& whole = arguments.axes[axis];
            dilation_groups_[axis] = 0;
            axes_[axis] = {};
            tokens_.first.at[axis] = tokens_.last.at[axis] = 0;
            if (whole.length == 1) continue;  // saves divisions
            auto const tiles = static_cast<unsigned>(arguments.tiles.tiles[axis]);
            auto const dilation = static_cast<unsigned>(whole.dilation);
            unsigned const rest = index / (tiles * dilation), at = index - rest * tiles * dilation;
            index = rest;
            dilation_groups_[axis] = at / tiles;
            unsigned const length = neighborhood::dilation_group_length(static_cast<unsigned>(whole.length), dilation,
                                                                        dilation_groups_[axis]);
            axes_[axis] = {static_cast<int>(length), static_cast<int>(whole.kernel), 1, whole.is_causal};
            tokens_.first.at[axis] = static_cast<int>(at - dilation_groups_[axis] * tiles)
                                     << arguments.tiles.bits[axis];
            int const end = tokens_.first.at[axis] + (1 << arguments.tiles.bits[axis]);
            tokens_.last.at[axis] = (end < static_cast<int>(length) ? end : static_cast<int>(length)) - 1;
        }
        auto const heads = static_cast<unsigned>(arguments.heads);
        batch_ = index / heads;
        head_ = index - batch_ * heads;
    }

    // Dilation groups that are shorter than others may have no tokens left for their last tile.
    bool is_empty() const {
        for (int axis = 0; axis < kMostAxes; ++axis) {
            if (tokens_.first.at[axis] > tokens_.last.at[axis]) return true;
        }
        return false;
    }

    // The place of a row; rows past the end of the dilation group repeat its last ones.
    Coordinates place_of(int row, bool& is_there) const {
        Coordinates place;
        is_there = true;
        for (int axis = kMostAxes; axis-- > 0;) {
            int const bits = arguments_.tiles.bits[axis];
            int const at = tokens_.first.at[axis] + (row & ((1 << bits) - 1));
            row >>= bits;
            is_there = is_there && at <= tokens_.last.at[axis];
            place.at[axis] = at <= tokens_.last.at[axis] ? at : tokens_.last.at[axis];
        }
        return place;
    }

    long long offset_of(NeighborhoodAccess const& tensor, Coordinates const& place) const {
        return first_offset_of(tensor) + offset_from_first(tensor, place);
    }
    // The offset of place 0 along every axis, and offsets from there on.
    long long first_offset_of(NeighborhoodAccess const& tensor) const {
        long long offset = batch_ * tensor.batch + head_ * tensor.head;
        for (int axis = 0; axis < kMostAxes; ++axis) offset += dilation_groups_[axis] * tensor.space[axis];
        return offset;
    }
    static long long offset_from_first(NeighborhoodAccess const& tensor, Coordinates const& place) {
        long long offset = 0;
        for (int axis = 0; axis < kMostAxes; ++axis) offset += place.at[axis] * tensor.steps[axis];
        return offset;
    }

    TokenBox const& tokens() const { return tokens_; }

    // The keys that a query sees, and the box of the keys that any of a box of queries sees.
    TokenBox keys_of(Coordinates const& query) const { return keys_of(TokenBox{query, query}); }
    TokenBox keys_of(TokenBox const& queries) const {
        TokenBox box;
        for (int axis = 0; axis < kMostAxes; ++axis) {
            auto const of_last = neighborhood::keys_of(axes_[axis], queries.last.at[axis]);
            box.first.at[axis] = neighborhood::keys_of(axes_[axis], queries.first.at[axis]).first;
            box.last.at[axis] = of_last.first + of_last.count - 1;
        }
        return box;
    }
    // The queries that see any of a box of keys.
    TokenBox queries_of(TokenBox const& keys) const {
        TokenBox box;
        for (int axis = 0; axis < kMostAxes; ++axis) {
            auto const of_last = neighborhood::queries_of(axes_[axis], keys.last.at[axis]);
            box.first.at[axis] = neighborhood::queries_of(axes_[axis], keys.first.at[axis]).first;
            box.last.at[axis] = of_last.first + of_last.count - 1;
        }
        return box;
    }

    // The offset in the head's bias. That of a query and a key is the difference of bias_of() and bias_before().
    long long bias_of(Coordinates const& key) const {
        NeighborhoodAccess const& bias = arguments_.tensors[NeighborhoodTensor::Bias];
        long long offset = head_ * bias.head;
        for (int axis = 0; axis < kMostAxes; ++axis) {
            offset += (key.at[axis] + axes_[axis].kernel - 1) * bias.space[axis];
        }
        return offset;
    }
    long long bias_before(Coordinates const& query) const {
        long long offset = 0;
        for (int axis = 0; axis < kMostAxes; ++axis) {
            offset += query.at[axis] * arguments_.tensors[NeighborhoodTensor::Bias].space[axis];
        }
        return offset;
    }

   private:
    NeighborhoodArguments const& arguments_;
    neighborhood::AxisOf<int> axes_[kMostAxes];
    unsigned dilation_groups_[kMostAxes];
    TokenBox tokens_;
    unsigned batch_, head_;
};

// Rows of a warp as left factors, in registers: those of two tokens for each lane.
template <class Element, int COLUMNS>
struct RowsInRegisters {
    MatrixBlock blocks[COLUMNS / 16];

    void load(NeighborhoodAccess const& tensor, long long const (&offsets)[2], int columns) {
        int const first = 2 * (lane_index() % 4);
        for (int k = 0; k < COLUMNS / 16; ++k) {
            for (int word = 0; word < 4; ++word) {
                int const column = 16 * k + first + 8 * (word / 2);
                Element const* const at = static_cast<Element const*>(tensor.start) + offsets[word % 2] + column;
                blocks[k].words[word] = column < columns ? *reinterpret_cast<unsigned const*>(at) : 0;
            }
        }
    }
    MatrixBlock const& block(int k) const { return blocks[k]; }
};

// The warp's weights of 16 rows of a staged matrix, as a left factor.
template <class Element>
inline MatrixBlock weights_of(float const (&first)[4], float const (&second)[4]) {
    return {{pack(first[0], first[1], Element()), pack(first[2], first[3], Element()),
             pack(second[0], second[1], Element()), pack(second[2], second[3], Element())}};
}

// A row of sums: those of the lane's first row, or of its second.
template <class Element, int COUNT>
inline void store_row(NeighborhoodAccess const& tensor, long long offset, int columns, float const (&sums)[COUNT][4],
                      int half, float factor) {
    Element* const row = static_cast<Element*>(tensor.start) + offset + 2 * (lane_index() % 4);
    for (int n = 0; n < COUNT; ++n) {
        if (8 * n >= columns) return;
        unsigned const word = pack(sums[n][2 * half] * factor, sums[n][2 * half + 1] * factor, Element());
        *reinterpret_cast<unsigned*>(row + 8 * n) = word;
    }
}

// Goes through stages of that many rows. It calls look_up(stage) two stages ahead, start_copies(stage) for a stage that
// was looked up, one stage ahead, wait() for these copies, and use(stage) for a stage that has been copied.
template <int ROWS, class LookUp, class StartCopies, class Wait, class Use>
inline void for_each_stage(int rows, LookUp const& look_up, StartCopies const& start_copies, Wait const& wait,
                           Use const& use) {
    int const stages = (rows + ROWS - 1) / ROWS;
    look_up(0);
    if (stages > 1) look_up(1);
    __syncthreads();
    start_copies(0);
    for (int stage = 0; stage < stages; ++stage) {
        wait();
        __syncthreads();
        if (stage + 1 < stages) start_copies(stage + 1);
        if (stage + 2 < stages) look_up(stage + 2);
        use(stage);
    }
}
