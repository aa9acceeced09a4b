// This replaces the kernels' own file of that name, which needs a GPU: the copies are done as host_boxes.h says.
#pragma once

#include "unit/kernels/host/hopper/warpgroup.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>

struct BoxPlace {
    int column, row, head, batch;
};

namespace host_matrix {

template <class Map>
sdpa_test::HostTensorMap read_map(Map const& map) {
    static_assert(sizeof(sdpa_test::HostTensorMap) <= sizeof(map.bytes));
    sdpa_test::HostTensorMap read;
    std::memcpy(&read, map.bytes, sizeof(read));
    return read;
}

inline sdpa_test::HostBoxPlace place_of(BoxPlace const& place) {
    return {place.column, place.row, place.head, place.batch};
}

}  // namespace host_matrix

template <class Map>
void start_box_copy(void* panel, Map const& map, BoxPlace const& place, Arrivals& arrivals) {
    sdpa_test::check_map_of_copy(&map);
    sdpa_test::start_box_copy(panel, host_matrix::read_map(map), host_matrix::place_of(place), &arrivals);
    arrivals.end_round();
}

inline void start_row_copy(void* to, void const* from, int bytes, Arrivals& arrivals) {
    sdpa_test::start_row_copy(to, from, static_cast<std::size_t>(bytes), &arrivals);
    arrivals.end_round();
}

template <class Map>
void start_box_store(Map const& map, BoxPlace const& place, void const* panel) {
    sdpa_test::check_map_of_copy(&map);
    sdpa_test::start_box_store(host_matrix::read_map(map), host_matrix::place_of(place), panel);
}
inline void end_box_stores(std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("end_box_stores()", where)) sdpa_test::end_box_stores();
}
inline void wait_for_box_stores(std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("wait_for_box_stores()", where)) sdpa_test::finish_box_stores();
}

inline void set_start(void* map, void const* start) {
    std::memcpy(static_cast<unsigned char*>(map) + offsetof(sdpa_test::HostTensorMap, start), &start, sizeof(start));
}
inline void set_rows(void* map, int rows) {
    std::int64_t const count = rows;
    constexpr std::size_t kRows = offsetof(sdpa_test::HostTensorMap, dims) + sizeof(count);
    std::memcpy(static_cast<unsigned char*>(map) + kRows, &count, sizeof(count));
}
inline void store_map(void* to, void const* map) {
    if (lane_index() != 0) return;
    std::memcpy(to, map, sizeof(sdpa_test::HostTensorMap));
    sdpa_test::note_stored_map(to);
}
inline void acquire_map(void const* map, std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("acquire_map()", where)) sdpa_test::show_map_to_copies(map);
}
