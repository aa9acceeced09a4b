// This replaces the kernels' own file of that name, which needs a GPU, with what the documentation of the instructions
// says.
#pragma once

#include "conversions.cuh"
#include "cuda_words.h"
#include "host_async.h"
#include "host_threads.h"

#include <cmath>
#include <cstring>
#include <source_location>

// Where a kernel assigns to one in shared memory, products see it after a fence.
struct alignas(16) uint4 {
    unsigned x, y, z, w;

    uint4(unsigned x_ = 0, unsigned y_ = 0, unsigned z_ = 0, unsigned w_ = 0) : x(x_), y(y_), z(z_), w(w_) {}
    uint4(uint4 const&) = default;
    uint4& operator=(uint4 const& other) {
        std::memcpy(static_cast<void*>(this), &other, sizeof(other));
        sdpa_test::note_write(this, sizeof(other));
        return *this;
    }
};

struct MatrixBlock {
    unsigned words[4];
};

namespace host_matrix {

inline unsigned short element(unsigned word, int number) {
    return static_cast<unsigned short>(number == 0 ? word : word >> 16);
}
inline unsigned word(unsigned short low, unsigned short high) { return low | static_cast<unsigned>(high) << 16; }

// Lane l passes row l % 8 of part l / 8, and gets of each part two elements: of row l / 4 those from column 2 * (l % 4)
// on.
inline MatrixBlock load(void const* row, bool transposed) {
    auto const rows = sdpa_test::of_all_lanes(static_cast<unsigned short const*>(row));
    MatrixBlock block;
    unsigned const lane = threadIdx.x % 32;
    for (unsigned part = 0; part < 4; ++part) {
        unsigned const outer = lane / 4, inner = 2 * (lane % 4);
        block.words[part] = transposed ? word(rows[8 * part + inner][outer], rows[8 * part + inner + 1][outer])
                                       : word(rows[8 * part + outer][inner], rows[8 * part + outer][inner + 1]);
    }
    return block;
}

}  // namespace host_matrix

inline MatrixBlock load_block(void const* row) { return host_matrix::load(row, false); }
inline MatrixBlock load_transposed_block(void const* row) { return host_matrix::load(row, true); }

template <class Element>
void multiply_add(float (&sums)[4], MatrixBlock const& a, unsigned b0, unsigned b1, Element) {
    struct Factors {
        MatrixBlock a;
        unsigned b[2];
    };
    auto const all = sdpa_test::of_all_lanes(Factors{a, {b0, b1}});
    auto const number = [](unsigned word, unsigned place) {
        return to_float(Element{host_matrix::element(word, static_cast<int>(place))});
    };
    unsigned const lane = threadIdx.x % 32;
    for (unsigned i = 0; i < 4; ++i) {
        unsigned const row = lane / 4, column = 2 * (lane % 4) + i % 2;
        for (unsigned k = 0; k < 16; ++k) {
            unsigned const of_a = all[row * 4 + k % 8 / 2].a.words[i / 2 + k / 8 * 2];
            unsigned const of_b = all[column * 4 + k % 8 / 2].b[k / 8];
            sums[i] += number(of_a, k % 2) * number(of_b, k % 2);
        }
    }
}

template <class Element>
unsigned pack(float low, float high, Element) {
    Element of_low, of_high;
    assign(of_low, low);
    assign(of_high, high);
    return host_matrix::word(of_low.bits, of_high.bits);
}

inline void start_copy_of_16_bytes(void* to, void const* from, bool is_there) {
    sdpa_test::start_async_copy(to, is_there ? from : nullptr, 16);
}
inline void start_copy_of_4_bytes(void* to, void const* from, bool is_there) {
    sdpa_test::start_async_copy(to, is_there ? from : nullptr, 4);
}
// An object, since kernels pass it on: the call that is left out is the one in the kernel.
struct WaitForCopies {
    void operator()(std::source_location const where = std::source_location::current()) const {
        if (!sdpa_test::is_left_out("wait_for_copies()", where)) sdpa_test::finish_async_copies();
    }
};
inline constexpr WaitForCopies wait_for_copies;

inline float power_of_2(float x) { return std::exp2(x); }
inline float inverse_of(float x) { return 1.0f / x; }
inline float root_of(float x) { return std::sqrt(x); }
inline float logarithm_to_2(float x) { return std::log2(x); }
inline float sine_of_angle(float x) { return std::sin(x); }
inline float cosine_of_angle(float x) { return std::cos(x); }
inline float greater(float a, float b) { return a != a || a > b ? a : b; }
inline float lesser(float a, float b) { return a != a || a < b ? a : b; }
