// The shared memory of a block in attention_gradients.cu, and the warp that fetches keys and queries into it.
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/gradient_order.cuh>

template <class Element, int COLUMNS, int VALUE_COLUMNS>
struct GradientMemory {
    static constexpr int kQueries = kTileQueries;
    using Scores = Panels<Element, kTileKeys, kQueries>;  // rows are keys

    Panels<Element, kTileKeys, COLUMNS> keys;
    Panels<Element, kTileKeys, VALUE_COLUMNS> values;
    Panels<Element, kQueries, COLUMNS> queries[kQueryStages];
    Panels<Element, kQueries, VALUE_COLUMNS> output_gradients[kQueryStages];
    Scores score_gradients[score_tiles(COLUMNS)];  // and tiles of weights where columns are split
    KeyBias<kGradientWarpgroups, kQueries, kFetchesBias> bias[kQueryStages];
    DistanceNumbers<kQueries> distances[kGradientWarpgroups * 4];
    alignas(16) float statistics[kQueryStages][2][kQueries];
    Arrivals keys_are_here, values_are_here;
    Arrivals queries_are_here[kQueryStages], output_gradients_are_here[kQueryStages], are_read[kQueryStages];
    Arrivals cut_rows_are_here;  // those of a tile that goes beyond its sequence
    SumSteps<kIsDeterministic> sum_steps;

    Scores& shared_weights(int buffer) { return score_gradients[kScoreGradientStages + buffer]; }

    void make_barriers() {
        constexpr int kWarps = kGradientWarpgroups * 4;
        keys_are_here.make(1);
        values_are_here.make(1);
        cut_rows_are_here.make(1);
        for (int stage = 0; stage < kQueryStages; ++stage) {
            queries_are_here[stage].make(1);
            output_gradients_are_here[stage].make(1);
            are_read[stage].make(kWarps);
        }
        sum_steps.make(kWarps);
        show_barriers_to_copies();
    }
};

template <class Element, int COLUMNS, int VALUE_COLUMNS>
class QueryFetcher {
   public:
    using Memory = GradientMemory<Element, COLUMNS, VALUE_COLUMNS>;
    static constexpr int kQueries = Memory::kQueries;

    QueryFetcher(GradientArguments const& arguments, Memory& memory) : arguments_(arguments), memory_(memory) {}

    void fetch_all(KeyTile const& tile) {
        acquire_maps(tile, arguments_);
        fetch_keys(tile);
        EntryMaps const& entries = arguments_.entries;
        TensorMap const& queries = map_for(tile, arguments_, QueryMap);
        TensorMap const& output_gradient = map_for(tile, arguments_, OutputGradientMap);
        for_each_block<kQueries>(arguments_, tile, [&](int head, int block, bool) {
            fetch(tile, {0, block * kQueries, head, batch_for(tile, entries)}, queries, output_gradient);
        });
    }

   private:
    static constexpr int kNoEnd = 0x7fffffff;

    void fetch_keys(KeyTile const& tile) {
        EntryMaps const& entries = arguments_.entries;
        BoxPlace const place{0, tile.first, tile.head, batch_for(tile, entries)};
        int const end = has_rows_behind(arguments_.sequences.key_lengths) ? tile.keys : kNoEnd;
        fetch_rows(memory_.keys, map_for(tile, arguments_, KeyMap), place, memory_.keys_are_here, end);
        fetch_rows(memory_.values, map_for(tile, arguments_, ValueMap), place, memory_.values_are_here, end);
    }

    // Rows behind a sequence are 0 where a map of an entry does not have them.
    bool has_rows_behind(int const* lengths) const { return lengths != nullptr && arguments_.entries.start == nullptr; }

    void fetch(KeyTile const& tile, BoxPlace const& place, TensorMap const& queries, TensorMap const& output_gradient) {
        int const stage = ring_.stage();
        int const end = has_rows_behind(arguments_.sequences.query_lengths) ? tile.queries : kNoEnd;
        if (ring_.round() > 0) memory_.are_read[stage].wait_for(ring_.round() - 1);
        fetch_statistics(memory_.statistics[stage], query_tile(arguments_, tile, place.head, place.row / kQueries),
                         memory_.queries_are_here[stage]);
        fetch_bias(tile, place, stage);
        fetch_rows(memory_.queries[stage], queries, place, memory_.queries_are_here[stage], end);
        fetch_rows(memory_.output_gradients[stage], output_gradient, place, memory_.output_gradients_are_here[stage],
                   end);
        ring_.go_on();
    }

    // In the round that fetch_rows() ends.
    void fetch_statistics(float (&to)[2][kQueries], long long tile, Arrivals& arrivals) {
        if (lane_index() != 0) return;
        arrivals.expect(sizeof(to));
        start_row_copy(to, arguments_.tiles.statistics + tile * (2 * kQueries), sizeof(to), arrivals);
    }
    void fetch_bias(KeyTile const& tile, BoxPlace const& place, int stage) {
        if constexpr (kFetchesBias) {
            if (!arguments_.bias.is_boxed || lane_index() != 0) return;
            memory_.bias[stage].fetch(arguments_.bias_map,
                                      bias_place(arguments_.bias, tile.first, place.row, place.head, tile.batch),
                                      memory_.queries_are_here[stage]);
        }
    }

    // Rows from `end` on become 0, where sequences have lengths; the copy engine sets those behind the tensor to 0.
    template <class AllPanels>
    void fetch_rows(AllPanels& to, TensorMap const& map, BoxPlace const& place, Arrivals& arrivals, int end) {
        bool const is_cut = end - place.row < AllPanels::kRows;
        start_fetching(to, map, place, is_cut ? memory_.cut_rows_are_here : arrivals);
        if (!is_cut) return;
        memory_.cut_rows_are_here.wait_for(cuts_++);
        clear_rows(to, larger(end - place.row, 0));
        arrivals.arrive();
    }

    GradientArguments const& arguments_;
    Memory& memory_;
    Ring<kQueryStages> ring_;
    int cuts_ = 0;
};
