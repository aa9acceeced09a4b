// Blocks of rows that may be in pages. The code depends on macros for the options of scores. It has no include guard:
// it is read once for each set of them.

inline bool are_in_pages(Pages const& pages) { return kHasPages && pages.start != nullptr; }

// The map of keys or values of a sequence.
inline TensorMap const& map_of_rows(Sequence const& sequence, AttentionArguments const& arguments, Pages const& pages,
                                    ForwardMap number) {
    return are_in_pages(pages) ? arguments.maps[number] : map_for(sequence, arguments, number);
}

// The page of the lane's box of rows, which lanes have in the order of a block; none for boxes behind the sequence.
template <int ROWS>
inline int page_of_box(Pages const& pages, Sequence const& sequence, int first_row) {
    constexpr int kNoPage = -1;  // copies of it are zeros
    if (!are_in_pages(pages)) return kNoPage;
    int const in_block = lane_index() * pages.box_rows, row = first_row + in_block;
    if (in_block >= ROWS || row < 0 || row >= sequence.keys) return kNoPage;
    return pages.start[sequence.batch * pages.batch + (row >> pages.rows_as_power) * pages.step];
}

// The pages of the lane's boxes of a block, which is read one block ahead of its copies.
template <int ROWS>
struct BlockPages {
    int of_keys, of_values;

    BlockPages(AttentionArguments const& arguments, Sequence const& sequence, int block)
        : of_keys(page_of_box<ROWS>(arguments.key_pages, sequence, block * ROWS)),
          of_values(page_of_box<ROWS>(arguments.value_pages, sequence, block * ROWS)) {}
};

// Starts to fetch the rows of a sequence from that place on, with one thread of the warp, from where the map says or
// from the pages that lanes have found. The barrier's round waits for them.
template <class AllPanels>
inline void start_fetching(AllPanels& to, TensorMap const& map, Pages const& pages, int own_page, BoxPlace const& place,
                           Arrivals& arrivals) {
    if (!are_in_pages(pages)) return start_fetching(to, map, place, arrivals);
    if (lane_index() == 0) arrivals.arrive_and_expect(sizeof(to.panels));
    int const last_row_of_page = (1 << pages.rows_as_power) - 1;
    for (int row = 0, box = 0; row < AllPanels::kRows; row += pages.box_rows, ++box) {
        int const page = static_cast<int>(from_lane(static_cast<unsigned>(own_page), box));
        if (lane_index() != 0) continue;
        BoxPlace from{0, (place.row + row) & last_row_of_page, place.head, page};
        for (auto& panel : to.panels) {
            start_box_copy(panel.elements[row], map, from, arrivals);
            from.column += kPanelColumns;
        }
    }
}
