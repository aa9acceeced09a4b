// The common parts of the attention kernels: matrices in shared memory, tiles and sequences.
#pragma once

#include <attention/score_region.cuh>
#include <hopper/bulk_copies.cuh>

inline float minus_infinity() { return __uint_as_float(0xff800000u); }

inline float alibi_slope(int head, int heads) {
    int const base = 1 << (31 - __clz(heads));
    int const step = head < base ? 2 * (head + 1) : 2 * (head - base) + 1;
    return exp2f(-4.0f * static_cast<float>(step) / static_cast<float>(base));
}

inline int smaller(int a, int b) { return a < b ? a : b; }
inline int larger(int a, int b) { return a > b ? a : b; }

// --- Matrices

template <class Element, int ROWS, int COLUMNS>
struct Panels {
    static constexpr int kRows = ROWS, kColumns = COLUMNS;

    Panel<Element, ROWS> panels[COLUMNS / kPanelColumns];
};

// Starts to fetch the rows of a matrix from that place on, with one thread of the warp. The barrier's round waits for
// them.
template <class AllPanels>
inline void start_fetching(AllPanels& to, TensorMap const& map, BoxPlace place, Arrivals& arrivals) {
    if (lane_index() != 0) return;
    arrivals.arrive_and_expect(sizeof(to.panels));
    for (auto& panel : to.panels) {
        start_box_copy(&panel, map, place, arrivals);
        place.column += kPanelColumns;
    }
}

// Sets the rows from that one on to 0, with a warp: behind a sequence there may be NaN, and 0 times NaN is NaN.
template <class AllPanels>
inline void clear_rows(AllPanels& matrix, int first_row) {
    for (auto& panel : matrix.panels) {
        auto* const pieces = reinterpret_cast<uint4*>(panel.elements[first_row]);
        int const count = (AllPanels::kRows - first_row) * kPanelRowBytes / static_cast<int>(sizeof(uint4));
        for (int i = lane_index(); i < count; i += 32) pieces[i] = uint4{0, 0, 0, 0};
    }
    show_to_products();
}

// Numbers the stages of a ring.
template <int STAGES>
struct Ring {
    int number = 0;

    int stage() const { return number % STAGES; }
    int round() const { return number / STAGES; }
    void go_on() { ++number; }
};

template <int COUNT>
inline void set_zero(float (&sums)[COUNT][4]) {
#pragma unroll
    for (auto& four : sums) {
#pragma unroll
        for (float& sum : four) sum = 0;
    }
}

template <class Element>
inline MatrixBlock block_of(float const (&left)[4], float const (&right)[4]) {
    Element const type{};
    return {{pack(left[0], left[1], type), pack(left[2], left[3], type), pack(right[0], right[1], type),
             pack(right[2], right[3], type)}};
}

// --- Sequences

// Rows from begin on, without end.
struct RowRange {
    int begin, end;
};

// A lane has two of each eight columns of a tile. How many of its own are before that one, which counts from its first.
template <int COUNT>
inline int own_columns_before(int column) {
    int const inside = smaller(larger(column, 0), 8 * COUNT);
    return inside / 8 * 2 + smaller(inside % 8, 2);
}

// Sets elements outside of the range of their row, by columns of a tile from `first` on, to that number. A word has a
// bit for each of the lane's elements of a row, which takes half as many instructions as comparing columns.
template <int COUNT>
inline void set_outside(float (&elements)[COUNT][4], RowRange const (&ranges)[2], int first, float number) {
    static_assert(2 * COUNT <= 32);
    int const first_of_lane = first + 2 * (lane_index() % 4);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        int const begin = own_columns_before<COUNT>(ranges[half].begin - first_of_lane);
        int const end = own_columns_before<COUNT>(ranges[half].end - first_of_lane);
        unsigned const inside = static_cast<unsigned>((1ull << end) - (1ull << smaller(begin, end)));
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                if ((inside >> (2 * i + j) & 1) == 0) elements[i][2 * half + j] = number;
            }
        }
    }
}

// The first row of the warp in its warpgroup.
inline int row_of_warp() { return static_cast<int>(threadIdx.x) % kThreadsOfWarpgroup / 32 * 16; }

// A head of one entry of the batch.
struct Sequence {
    int head, batch;
    int queries, keys;
    int diagonal;
    VisibleBand band;

    Sequence(Sequences const& all, int head_of_all, int heads_of_entry) : band(all.band) {
        batch = head_of_all / heads_of_entry;
        head = head_of_all - batch * heads_of_entry;
        queries = all.query_lengths == nullptr ? all.query_rows : all.query_lengths[batch];
        keys = all.key_lengths == nullptr ? all.key_rows : all.key_lengths[batch];
        diagonal = band.is_bottom_right ? keys - queries : 0;
    }

    // The keys that are visible to a query, and the queries that see a key.
    RowRange visible_to(int query) const {
        return {larger(0, query + diagonal - band.left), smaller(keys, query + diagonal + band.right + 1)};
    }
    RowRange queries_of(int key) const {
        return {larger(0, key - diagonal - band.right), smaller(queries, key - diagonal + band.left + 1)};
    }
};

// The bits of one tile's blocks.
class TileBlocks {
   public:
    TileBlocks(BlockBits const& bits, Sequence const& sequence, int head, int tile) : kind_(bits.words_of_tile) {
        long long const head_of_all = sequence.batch * bits.batch_step + head * bits.head_step;
        words_ = bits.words + 2 * (head_of_all * bits.tiles + tile) * bits.words_of_tile;
    }

    // The last block before that one that is not hidden; less than `first` if there is none from there on.
    int before(int block, int first) const {
        if (block <= first) return first - 1;
        int word = (block - 1) / 32;
        unsigned bits = words_[word] & (0xffffffffu >> (31 - (block - 1) % 32));
        while (bits == 0 && word > first / 32) bits = words_[--word];
        return bits == 0 ? first - 1 : 32 * word + 31 - __clz(static_cast<int>(bits));
    }
    // The first block behind that one that is not hidden; `end` or more if there is none before that.
    int after(int block, int end) const {
        int const first = block + 1;
        if (first >= end) return end;
        int word = first / 32;
        unsigned bits = words_[word] & (0xffffffffu << (first % 32));
        while (bits == 0 && word < (end - 1) / 32) bits = words_[++word];
        return bits == 0 ? end : 32 * word + lowest_bit(bits);
    }
    bool has(int block) const { return is_set(words_, block); }
    bool is_unchanged(int block) const { return is_set(words_ + kind_, block); }

   private:
    static bool is_set(unsigned const* words, int block) { return ((words[block / 32] >> (block % 32)) & 1) != 0; }

    unsigned const* words_;
    int kind_;  // the words of a kind
};

// Lets the block's copies read the maps of a sequence. One warp calls it; other threads may use the maps once they have
// waited for that warp.
template <class Arguments>
inline void acquire_maps(Sequence const& sequence, Arguments const& arguments) {
    EntryMaps const& entries = arguments.entries;
    if (entries.start == nullptr) return;
    TensorMap const* const maps = entries.start + static_cast<long long>(sequence.batch) * entries.count;
    for (int i = 0; i < entries.count; ++i) acquire_map(maps + i);
}

// The map of a tensor for the sequence.
template <class Arguments>
inline TensorMap const& map_for(Sequence const& sequence, Arguments const& arguments, int number) {
    EntryMaps const& entries = arguments.entries;
    if (entries.start == nullptr) return arguments.maps[number];
    return entries.start[static_cast<long long>(sequence.batch) * entries.count + number];
}
inline int batch_for(Sequence const& sequence, EntryMaps const& entries) {
    return entries.start == nullptr ? sequence.batch : 0;
}

// The element at which the entry of a tensor begins.
template <class Tensor>
inline long long start_of_entry(Tensor const& tensor, int batch) {
    EntryOffsets const& offsets = tensor.offsets;
    return offsets.start == nullptr ? batch * tensor.batch
                                    : offsets.start[static_cast<long long>(batch) * offsets.step];
}
