// This replaces the kernels' own file of that name, which needs a GPU. The products are those of the instructions'
// documentation, done at their start or at the wait for them (host_async.h, host_products.h).
#pragma once

#include "unit/kernels/host/host_additions.h"
#include "unit/kernels/host/host_boxes.h"
#include "unit/kernels/host/host_products.h"
#include "unit/kernels/host/tensor_core.cuh"
#include "unit/kernels/host/warp.cuh"

#include <cstring>
#include <source_location>
#include <stdexcept>

template <class Element, int ROWS>
struct alignas(kPanelAlignment) Panel {
    Element elements[ROWS][kPanelColumns];

    Element* piece(int row, int column) { return &elements[row][((column / 8) ^ (row % 8)) * 8]; }
};

// Elements are found by their addresses, as the units do.
struct Factor {
    unsigned char const* start;
    int panel_bytes;

    template <class Element, int ROWS>
    Factor(Panel<Element, ROWS> const& panel, int row, int column)
        : start(reinterpret_cast<unsigned char const*>(&panel.elements[row][column])),
          panel_bytes(static_cast<int>(sizeof(panel))) {}
};

namespace host_matrix {

// The widths of the kernels' own products.
constexpr bool has_products(int columns) {
    return columns == 32 || columns == 64 || columns == 80 || columns == 128 || columns == 192 || columns == 256;
}

}  // namespace host_matrix

template <bool TRANSPOSED_A, bool TRANSPOSED_B, int EIGHTHS, class Element>
void start_product(float (&sums)[EIGHTHS][4], Factor a, Factor b, bool adds, Element) {
    static_assert(host_matrix::has_products(8 * EIGHTHS));
    sdpa_test::start_async_product({sums, EIGHTHS, adds, host_matrix::load_factors<Element, TRANSPOSED_A, TRANSPOSED_B>,
                                    a.start, b.start, b.panel_bytes});
}
template <bool TRANSPOSED_B, int EIGHTHS, class Element>
void start_product(float (&sums)[EIGHTHS][4], MatrixBlock const& a, Factor b, bool adds, Element) {
    static_assert(host_matrix::has_products(8 * EIGHTHS));
    sdpa_test::AsyncProduct product{
        sums,    EIGHTHS,       adds,    host_matrix::load_factors<Element, false, TRANSPOSED_B>, nullptr,
        b.start, b.panel_bytes, a.words, {a.words[0], a.words[1], a.words[2], a.words[3]}};
    auto const all = sdpa_test::of_all_lanes(a);
    for (int half = 0; half < 2; ++half) {
        for (int k = 0; k < 16; ++k) {
            auto const lane = threadIdx.x % 32 / 4 * 4 + static_cast<unsigned>(k % 8 / 2);
            unsigned const word = all[lane].words[half + k / 8 * 2];
            product.rows[half][k] = to_float(Element{host_matrix::element(word, k % 2)});
        }
    }
    sdpa_test::start_async_product(product);
}

inline void begin_products(std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("begin_products()", where)) sdpa_test::begin_async_products();
}
inline void end_products(std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("end_products()", where)) sdpa_test::end_async_products();
}
template <int ALL_BUT>
void wait_for_products(std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("wait_for_products()", where)) sdpa_test::finish_async_products(ALL_BUT);
}
template <int COUNT>
void hold(float (&)[COUNT][4]) {}
inline void hold(MatrixBlock&) {}

// Stores the elements where load_block() has them.
inline void store_block(void* row, MatrixBlock const& block) {
    auto const rows = sdpa_test::of_all_lanes(static_cast<unsigned char*>(row));
    unsigned const lane = threadIdx.x % 32;
    for (unsigned part = 0; part < 4; ++part) {
        unsigned char* const to = rows[8 * part + lane / 4] + 4 * (lane % 4);
        std::memcpy(to, &block.words[part], 4);
        sdpa_test::note_write(to, 4);
    }
}
// Stores the elements where load_transposed_block() has them.
inline void store_transposed_block(void* row, MatrixBlock const& block) {
    auto const rows = sdpa_test::of_all_lanes(static_cast<unsigned short*>(row));
    unsigned const lane = threadIdx.x % 32;
    for (unsigned part = 0; part < 4; ++part) {
        for (unsigned i = 0; i < 2; ++i) {
            unsigned short* const to = rows[8 * part + 2 * (lane % 4) + i] + lane / 4;
            *to = host_matrix::element(block.words[part], static_cast<int>(i));
            sdpa_test::note_write(to, sizeof(*to));
        }
    }
}
inline void show_to_products(std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("show_to_products()", where)) sdpa_test::show_writes_to_products();
}

inline void add_four(float* to, float const (&numbers)[4]) { sdpa_test::add_to_memory(to, numbers); }

class alignas(8) Arrivals {
   public:
    void make(int warps) {
        warps_ = static_cast<unsigned short>(warps);
        arrived_ = 0;
        ended_ = 0;
        sdpa_test::note_write(this, sizeof(*this));
        sdpa_test::make_box_barrier(this);
    }
    void arrive() {
        wait_for_warp();
        if (lane_index() == 0) count_arrival();
    }
    void arrive_and_expect(int bytes) {
        sdpa_test::expect_box_bytes(this, bytes);
        count_arrival();
    }
    void expect(int bytes) { sdpa_test::expect_box_bytes(this, bytes); }
    bool have_ended(int round, std::source_location const where = std::source_location::current()) {
        if (sdpa_test::is_left_out("have_ended()", where)) return true;
        return test(round);
    }
    void wait_for(int round, std::source_location const where = std::source_location::current()) {
        if (sdpa_test::is_left_out("wait_for()", where)) return;
        sdpa_test::wait_until([&] { return test(round); });
    }
    // Ends the round if all that it waits for is here.
    void end_round() {
        if (arrived_ < warps_ || !sdpa_test::has_all_box_bytes(this)) return;
        sdpa_test::pass_on_engine_writes(this, static_cast<unsigned>(ended_));
        sdpa_test::begin_box_round(this);
        arrived_ = 0;
        ++ended_;
    }

   private:
    void check_is_known() const {
        if (!sdpa_test::knows_write(this)) throw std::logic_error("a warp uses a barrier that it may not know yet");
    }
    void count_arrival() {
        check_is_known();
        sdpa_test::pass_on_writes(this, static_cast<unsigned>(ended_));
        if (++arrived_ > warps_) throw std::logic_error("more warps arrive at a barrier than it was made for");
        end_round();
    }
    bool test(int round) {
        check_is_known();
        // The instruction knows odd rounds from even ones, no more.
        if (ended_ < round || ended_ > round + 1) throw std::logic_error("a warp waits for a round of another time");
        if (ended_ == round && arrived_ == warps_) {
            sdpa_test::finish_box_copies(this);
            end_round();
        }
        if (ended_ == round) return false;
        sdpa_test::learn_of_writes(this, static_cast<unsigned>(round));
        return true;
    }

    unsigned short warps_, arrived_;
    int ended_;
};

inline void show_barriers_to_copies(std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("show_barriers_to_copies()", where)) sdpa_test::show_box_barriers();
}

namespace host_matrix {

inline char const* named_barrier(int number) {
    static char const barriers[sdpa_test::kNamedBarriers] = {};
    return &barriers[number];
}

inline void wait_at_named(int number, unsigned threads) {
    auto const barrier = static_cast<unsigned>(number);
    unsigned const round = sdpa_test::named_round(barrier);
    sdpa_test::pass_on_writes(named_barrier(number), round);
    sdpa_test::wait_at(barrier, threads);
    sdpa_test::learn_of_writes(named_barrier(number), round);
}

}  // namespace host_matrix

// Turns order the work of two warpgroups, and no result depends on them.
inline void give_turn(int number) {
    auto const barrier = static_cast<unsigned>(number);
    sdpa_test::pass_on_writes(host_matrix::named_barrier(number), sdpa_test::named_round(barrier));
    sdpa_test::arrive_at(barrier, 256);
}
inline void wait_for_turn(int number) { host_matrix::wait_at_named(number, 256); }

inline void wait_for_warpgroup(int number, std::source_location const where = std::source_location::current()) {
    if (!sdpa_test::is_left_out("wait_for_warpgroup()", where)) host_matrix::wait_at_named(number, 128);
}

template <int COUNT>
void take_registers() {}
template <int COUNT>
void leave_registers() {}
