// In place of the kernels' own file of that name, which needs a GPU: the same products as the documentation of the
// instructions says, done at once.
#pragma once

#include "tensor_core.cuh"
#include "warp.cuh"

#include <stdexcept>

constexpr int kPanelColumns = 64;
constexpr int kPanelRowBytes = 2 * kPanelColumns, kPanelAlignment = 8 * kPanelRowBytes;

template <class Element, int ROWS>
struct alignas(kPanelAlignment) Panel {
    Element elements[ROWS][kPanelColumns];

    Element* piece(int row, int column) { return &elements[row][((column / 8) ^ (row % 8)) * 8]; }
};

// Elements are found by their addresses, as the units do.
struct Factor {
    unsigned char const* start;

    template <class Element, int ROWS>
    Factor(Panel<Element, ROWS> const& panel, int row, int column)
        : start(reinterpret_cast<unsigned char const*>(&panel.elements[row][column])) {}

    template <class Element>
    float at(int row, int column) const {
        auto const address = reinterpret_cast<std::uintptr_t>(start + row * kPanelRowBytes + column * 2);
        Element element;
        std::memcpy(&element, reinterpret_cast<void const*>(address ^ (address / kPanelRowBytes % 8 * 16)), 2);
        return to_float(element);
    }
    template <class Element>
    float at(int outer, int inner, bool is_transposed) const {
        return is_transposed ? at<Element>(inner, outer) : at<Element>(outer, inner);
    }
};

namespace host_matrix {

// of_a(i, k): of row lane / 4 + 8 * i of the warp.
template <class Element, int EIGHTS, class OfA>
void add_product(float (&sums)[EIGHTS][4], OfA const& of_a, Factor b, bool is_transposed, bool adds) {
    for (int i = 0; i < EIGHTS; ++i) {
        for (int j = 0; j < 4; ++j) {
            int const column = 8 * i + 2 * static_cast<int>(threadIdx.x % 4) + j % 2;
            float sum = adds ? sums[i][j] : 0;
            for (int k = 0; k < 16; ++k) sum += of_a(j / 2, k) * b.at<Element>(column, k, is_transposed);
            sums[i][j] = sum;
        }
    }
}

}  // namespace host_matrix

template <bool TRANSPOSED_A, bool TRANSPOSED_B, int EIGHTS, class Element>
void start_product(float (&sums)[EIGHTS][4], Factor a, Factor b, bool adds, Element) {
    int const row = static_cast<int>(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
    host_matrix::add_product<Element>(
        sums, [&](int i, int k) { return a.at<Element>(row + 8 * i, k, TRANSPOSED_A); }, b, TRANSPOSED_B, adds);
}
template <bool TRANSPOSED_B, class Element>
void start_product(float (&sums)[8][4], Block const& a, Factor b, bool adds, Element) {
    auto const all = sdpa_test::of_all_lanes(a);
    auto const of_a = [&](int i, int k) {
        auto const lane = threadIdx.x % 32 / 4 * 4 + static_cast<unsigned>(k % 8 / 2);
        unsigned const word = all[lane].words[i + k / 8 * 2];
        return to_float(Element{host_matrix::element(word, k % 2)});
    };
    host_matrix::add_product<Element>(sums, of_a, b, TRANSPOSED_B, adds);
}

inline void begin_products() {}
inline void end_products() {}
template <int ALL_BUT>
void wait_for_products() {}
template <int COUNT>
void hold(float (&)[COUNT][4]) {}
inline void hold(Block&) {}

// As load_block() has them.
inline void store_block(void* row, Block const& block) {
    auto const rows = sdpa_test::of_all_lanes(static_cast<unsigned char*>(row));
    unsigned const lane = threadIdx.x % 32;
    for (unsigned part = 0; part < 4; ++part) {
        std::memcpy(rows[8 * part + lane / 4] + 4 * (lane % 4), &block.words[part], 4);
    }
}
inline void show_to_products() {}

inline void add_four(float* to, float const (&numbers)[4]) {
    for (int i = 0; i < 4; ++i) to[i] += numbers[i];
}

class alignas(8) Arrivals {
   public:
    void make(int warps) {
        warps_ = static_cast<unsigned short>(warps);
        arrived_ = 0;
        ended_ = 0;
    }
    void arrive() {
        wait_for_warp();
        if (lane_index() != 0 || ++arrived_ < warps_) return;
        arrived_ = 0;
        ++ended_;
    }
    bool have_ended(int round) const {
        // The instruction knows odd rounds from even ones, no more.
        if (ended_ < round || ended_ > round + 1) throw std::logic_error("a warp waits for a round of another time");
        return ended_ > round;
    }
    void wait_for(int round) {
        while (!have_ended(round)) sdpa_test::let_others_run();
    }

   private:
    unsigned short warps_, arrived_;
    int ended_;
};

template <int COUNT>
void take_registers() {}
template <int COUNT>
void leave_registers() {}
