// Backward by warpgroups: the shared memory of the block of a tile of keys, and its work on queries. Two warpgroups
// have 64 keys each; another one fetches queries for them, and one more, where there are registers for it, adds up the
// gradients of queries. They wait for each other stage by stage.
#pragma once

#include <neighborhood/neighborhood_warpgroups.cuh>

// The first of the 16 rows of a stage that a warp of a warpgroup has.
inline int first_row_in_stage() { return first_row_of_warp() % kWarpgroupRows; }

// For kernels with few registers: the places of each thread that has keys are in shared memory and read when asked for.
class VisiblePlacesInMemory {
   public:
    explicit VisiblePlacesInMemory(VisiblePlaces* of_threads) : of_threads_(of_threads) {}
    void operator=(VisiblePlaces const& places) { own() = places; }

    unsigned from(int number) {
        VisiblePlaces places = own();
        unsigned const bits = places.from(number);
        own() = places;
        return bits;
    }

   private:
    VisiblePlaces& own() { return of_threads_[computed_here(static_cast<int>(threadIdx.x))]; }

    VisiblePlaces* of_threads_;
};

template <class Element, int COLUMNS>
struct StagedQueries {
    Panels<Element, kWarpgroupRows, COLUMNS> queries, output_gradients;
};

struct alignas(16) StagedStatistics {
    float stats[kWarpgroupRows];  // counting in powers of 2
    float deltas[kWarpgroupRows];
};

template <class Element>
struct alignas(16) QueryPointers {
    Element const *query, *output_gradient;
};

// Shared memory of a block. An array of n buffers has stage s at s % n; an array of n Arrivals has it as round s / n.
template <class Element, int COLUMNS>
struct GradientMemory {
    Panels<Element, kWarpgroupTileTokens, COLUMNS> keys, values;
    StagedQueries<Element, COLUMNS> staged[kQueryBuffers];
    Panel<Element, kWarpgroupTileTokens> score_gradients[kScoreGradientBuffers];  // a row for each key
    StagedStatistics statistics[kQueryBuffers];
    // Sums of queries are added later than other rows are read; their places are half of these. When a stage is looked
    // up, the gradients of scores of the fifth stage before it have been used, those of the fourth not yet.
    long long statistics_rows[kStatisticsRowBuffers][kWarpgroupRows];
    QueryPointers<Element> rows[kWarpgroupRows];       // of the stage that is fetched
    Element const* own_rows[2][kWarpgroupTileTokens];  // of keys and values
    long long result_rows[2][kWarpgroupTileTokens];    // of their gradients; below 0 past the last one
    VisiblePlaces places[kWarpgroupTileThreads];
    long long visible_queries;                    // the number of queries that see the tile's keys
    Arrivals are_staged[kQueryBuffers];           // queries are in shared memory
    Arrivals are_written[kScoreGradientBuffers];  // gradients of scores are written; their writers no longer read the
                                                  // stage before
    Arrivals are_used[kScoreGradientBuffers];     // gradients of scores may be overwritten

    void prepare(int queries) {
        visible_queries = queries;
        constexpr int kWarps = kWarpgroupThreads / 32;
        for (Arrivals& of_place : are_staged) of_place.make(kWarps);
        for (Arrivals& of_place : are_written) of_place.make(kWarpgroups * kWarps);
        for (Arrivals& of_place : are_used) of_place.make(has_adders(COLUMNS) ? kWarps : kWarpgroups * kWarps);
    }
    int stages() const { return static_cast<int>((visible_queries + kWarpgroupRows - 1) / kWarpgroupRows); }
};

// Copies queries, output gradients and their statistics to shared memory. Each warp copies 16 rows of a stage, and
// looks them up itself, so that it need not wait for other warps.
template <class Element, int COLUMNS>
class QueryFetcher {
   public:
    QueryFetcher(NeighborhoodArguments const& arguments, Tile const& tile, TokenBox const& box,
                 GradientMemory<Element, COLUMNS>& shared)
        : tensors_(arguments.tensors),
          box_(box),
          shared_(shared),
          columns_(arguments.columns),
          first_query_(tile.offset_of(tensors_[NeighborhoodTensor::Queries], box.first)),
          first_output_gradient_(tile.offset_of(tensors_[NeighborhoodTensor::OutputGradient], box.first)),
          first_statistics_(tile.offset_of(tensors_[NeighborhoodTensor::QueryStatistics], box.first)) {}

    void look_up(int stage) {
        wait_for_warp();
        int const row = first_row_in_stage() + lane_index() % 16;
        int number = stage * kWarpgroupRows + row;
        if (number >= box_.count()) number = box_.count() - 1;
        bool const is_line = box_.is_line();
        long long const statistics =
            first_statistics_ + (is_line ? look_up_on_line(number) : look_up_in_box(row, number));
        if (lane_index() < 16) shared_.statistics_rows[stage % kStatisticsRowBuffers][row] = statistics;
        wait_for_warp();
    }

    // Copies the stage that was looked up last.
    void start_copies(int stage) {
        int const lane = computed_here(lane_index());
        auto& to = shared_.staged[stage % kQueryBuffers];
        if (box_.is_line()) start_copies_of_line(to, stage, lane);
        else start_copies_of_rows(to, lane);
        if (lane >= 16) return;
        int const row = first_row_in_stage() + lane;
        float const* const from = static_cast<float const*>(tensors_[NeighborhoodTensor::QueryStatistics].start) +
                                  shared_.statistics_rows[stage % kStatisticsRowBuffers][row];
        start_copy_of_4_bytes(&shared_.statistics[stage % kQueryBuffers].stats[row], from, true);
        start_copy_of_4_bytes(&shared_.statistics[stage % kQueryBuffers].deltas[row], from + 1, true);
    }

    void finish_copies(int stage) {
        wait_for_rows();
        shared_.are_staged[stage % kQueryBuffers].arrive();
    }

   private:
    static constexpr int kPieces = COLUMNS / 8, kRowsAtOnce = 32 / kPieces;

    // The offset from the statistics of the box's first query.
    long long look_up_on_line(int number) const {
        return number * tensors_[NeighborhoodTensor::QueryStatistics].steps[kMostAxes - 1];
    }
    // Half of the lanes look up queries, and half of them output gradients.
    long long look_up_in_box(int row, int number) const {
        Coordinates const place = place_in(box_, number);
        bool const is_query = lane_index() < 16;
        NeighborhoodAccess const& tensor =
            tensors_[is_query ? NeighborhoodTensor::Queries : NeighborhoodTensor::OutputGradient];
        long long const first = is_query ? first_query_ : first_output_gradient_;
        QueryPointers<Element>& rows = shared_.rows[row];
        (is_query ? rows.query : rows.output_gradient) =
            static_cast<Element const*>(tensor.start) + first + Tile::offset_from_first(tensor, place);
        return Tile::offset_from_first(tensors_[NeighborhoodTensor::QueryStatistics], place);
    }

    // Rows of a line are at equal distances.
    void start_copies_of_line(StagedQueries<Element, COLUMNS>& to, int stage, int lane) {
        int const first = first_row_in_stage() + lane / kPieces, column = lane % kPieces * 8;
        long long const number = stage * kWarpgroupRows + first;
        auto const start_of = [&](NeighborhoodTensor tensor, long long offset) {
            offset += number * tensors_[tensor].steps[kMostAxes - 1] + column;
            return static_cast<Element const*>(tensors_[tensor].start) + offset;
        };
        Element const* query = start_of(NeighborhoodTensor::Queries, first_query_);
        Element const* output_gradient = start_of(NeighborhoodTensor::OutputGradient, first_output_gradient_);
        int const rows = column < columns_ ? box_.count() - static_cast<int>(number) : 0;
#pragma unroll 4
        for (int row = 0; row < 16; row += kRowsAtOnce) {
            start_copy_of_16_bytes(to.queries.piece(first + row, column),
                                   query + row * tensors_[NeighborhoodTensor::Queries].steps[kMostAxes - 1],
                                   row < rows);
            start_copy_of_16_bytes(
                to.output_gradients.piece(first + row, column),
                output_gradient + row * tensors_[NeighborhoodTensor::OutputGradient].steps[kMostAxes - 1], row < rows);
        }
    }

    void start_copies_of_rows(StagedQueries<Element, COLUMNS>& to, int lane) {
        constexpr int kRows = 8,
                      kParts = kRows / kRowsAtOnce;  // addresses of kRows rows are loaded before the first copy starts
        int const column = lane % kPieces * 8;
        bool const is_there = column < columns_;
        int const offset = is_there ? column : 0;
#pragma unroll 1
        for (int some = 0; some < 16; some += kRows) {
            int const first = first_row_in_stage() + some + lane / kPieces;
            QueryPointers<Element> rows[kParts];
#pragma unroll
            for (int i = 0; i < kParts; ++i) rows[i] = shared_.rows[first + i * kRowsAtOnce];
#pragma unroll
            for (int i = 0; i < kParts; ++i) {
                int const row = first + i * kRowsAtOnce;
                start_copy_of_16_bytes(to.queries.piece(row, column), rows[i].query + offset, is_there);
                start_copy_of_16_bytes(to.output_gradients.piece(row, column), rows[i].output_gradient + offset,
                                       is_there);
            }
        }
    }

    NeighborhoodAccess const* tensors_;
    TokenBox const& box_;
    GradientMemory<Element, COLUMNS>& shared_;
    int columns_;
    long long first_query_, first_output_gradient_, first_statistics_;  // of the box's first place
};

// --- Gradients of queries

// The tile's part of the gradients of a stage's queries, for one panel of columns.
template <class Element, int COLUMNS>
class QueryGradientSums {
   public:
    QueryGradientSums(NeighborhoodArguments const& arguments, GradientMemory<Element, COLUMNS>& shared, int panel)
        : arguments_(arguments), shared_(shared), panel_(panel) {}

    void start(int stage) {
        shared_.are_written[stage % kScoreGradientBuffers].wait_for(stage / kScoreGradientBuffers);
        show_to_products();
        begin_products();
#pragma unroll
        for (int key = 0; key < kWarpgroupTileTokens; key += 16) {
            start_product<true, true>(sums_, Factor(shared_.score_gradients[stage % kScoreGradientBuffers], key, 0),
                                      Factor(shared_.keys.panels[panel_], key, 0), key > 0, Element());
        }
        end_products();
    }

    void finish(int stage) {
        long long const query = shared_.statistics_rows[stage % kStatisticsRowBuffers][row()] / 2;
        sums_of_row_ =
            static_cast<float*>(arguments_.tensors[NeighborhoodTensor::QuerySums].start) + query * arguments_.columns;
        wait_for_products<0>();
        hold(sums_);
        shared_.are_used[stage % kScoreGradientBuffers].arrive();
    }

    void add(int stage) {
        for (auto& four : sums_) make_neighbors(four);
        int const column = panel_ * kPanelColumns + lane_index() % 4 / 2 * 4;
        if (stage * kWarpgroupRows + row() >= shared_.visible_queries) return;
        float* const to = sums_of_row_ + column;
#pragma unroll
        for (int i = 0; i < kPanelColumns / 8; ++i) {
            if (column + 8 * i < arguments_.columns) add_four(to + 8 * i, sums_[i]);
        }
    }

   private:
    // A lane has two columns of each of two rows. Lanes 2n and 2n + 1 exchange numbers, so that each has four
    // neighboring columns of one row.
    static void make_neighbors(float (&sums)[4]) {
        bool const keeps_second = lane_index() % 2 != 0;
        for (int j = 0; j < 2; ++j) {
            float const other = from_lane_across(keeps_second ? sums[j] : sums[2 + j], 1);
            float const kept = keeps_second ? sums[2 + j] : sums[j];
            sums[j] = keeps_second ? other : kept;
            sums[2 + j] = keeps_second ? kept : other;
        }
    }

    // The row that the lane keeps after make_neighbors().
    static int row() {
        int const lane = computed_here(lane_index());
        return first_row_in_stage() + lane / 4 + lane % 2 * 8;
    }

    NeighborhoodArguments const& arguments_;
    GradientMemory<Element, COLUMNS>& shared_;
    int panel_;
    float sums_[kPanelColumns / 8][4];
    float* sums_of_row_;
};
