#include "host_products.h"

#include "conversions.cuh"
#include "cuda_words.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace host_matrix {
namespace {

using sdpa_test::SharedMemoryOfProduct;
constexpr int kPieceElements = SharedMemoryOfProduct::kPieceBytes / 2;

using Bits = std::array<unsigned short, kPieceElements>;
constexpr unsigned short kNan = 0xffff;  // of both types
constexpr Bits kUnseen{kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan};

class FactorInMemory {
   public:
    FactorInMemory(SharedMemoryOfProduct const& memory, unsigned char const* start, int panel_bytes)
        : memory_(memory), start_(start), panel_bytes_(panel_bytes) {
        if (reinterpret_cast<std::uintptr_t>(start) % SharedMemoryOfProduct::kPieceBytes != 0) {
            throw std::logic_error("a factor of a product begins within a piece");
        }
    }

    // The elements from a column on, a multiple of 8; NaN where the product does not see them.
    Bits piece(int row, int column) const {
        auto const place = reinterpret_cast<std::uintptr_t>(start_ + column / kPanelColumns * panel_bytes_ +
                                                            row * kPanelRowBytes + column % kPanelColumns * 2);
        auto const* const address = reinterpret_cast<unsigned char const*>(place ^ (place / kPanelRowBytes % 8 * 16));
        if (!memory_.has(address)) return kUnseen;
        Bits bits;
        std::memcpy(bits.data(), address, sizeof(bits));
        return bits;
    }

   private:
    SharedMemoryOfProduct const& memory_;
    unsigned char const* start_;
    int panel_bytes_;
};

template <class Element>
float number(Bits const& bits, int place) {
    return to_float(Element{bits[static_cast<std::size_t>(place)]});
}

int first_row() { return static_cast<int>(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4); }

// The unit may read all rows of A for each warp. So the result is NaN where any is missing, which one lane tests. NaN
// that a kernel computes has other bits.
template <bool TRANSPOSED>
bool lacks_rows(FactorInMemory const& a) {
    for (int row = 0; row < 64; row += TRANSPOSED ? 8 : 1) {
        for (int k = 0; k < 16; k += TRANSPOSED ? 1 : 8) {
            if ((TRANSPOSED ? a.piece(k, row) : a.piece(row, k))[0] == kNan) return true;
        }
    }
    return false;
}

template <class Element, bool TRANSPOSED>
void load_rows(FactorInMemory const& a, float (&rows)[2][16]) {
    for (int half = 0; half < 2; ++half) {
        int const row = first_row() + 8 * half;
        if constexpr (TRANSPOSED) {
            for (int k = 0; k < 16; ++k) rows[half][k] = number<Element>(a.piece(k, row / 8 * 8), row % 8);
        } else {
            for (int k = 0; k < 16; k += kPieceElements) {
                Bits const piece = a.piece(row, k);
                for (int i = 0; i < kPieceElements; ++i) rows[half][k + i] = number<Element>(piece, i);
            }
        }
    }
    if (threadIdx.x % 32 == 0 && lacks_rows<TRANSPOSED>(a)) rows[0][0] = number<Element>(kUnseen, 0);
}

// The thread has two of each 8 columns.
template <class Element, bool TRANSPOSED>
void load_columns(FactorInMemory const& b, int eighths, sdpa_test::ProductFactors& factors) {
    int const first = 2 * static_cast<int>(threadIdx.x % 4);
    for (int eighth = 0; eighth < eighths; ++eighth) {
        if constexpr (TRANSPOSED) {
            for (int k = 0; k < 16; ++k) {
                Bits const piece = b.piece(k, 8 * eighth);
                for (int j = 0; j < 2; ++j) factors.columns[k][2 * eighth + j] = number<Element>(piece, first + j);
            }
        } else {
            for (int j = 0; j < 2; ++j) {
                for (int k = 0; k < 16; k += kPieceElements) {
                    Bits const piece = b.piece(8 * eighth + first + j, k);
                    for (int i = 0; i < kPieceElements; ++i) {
                        factors.columns[k + i][2 * eighth + j] = number<Element>(piece, i);
                    }
                }
            }
        }
    }
}

}  // namespace

template <class Element, bool TRANSPOSED_A, bool TRANSPOSED_B>
void load_factors(sdpa_test::AsyncProduct const& product, sdpa_test::ProductFactors& factors) {
    SharedMemoryOfProduct const memory(product.writes_before);
    if (product.a != nullptr) {
        load_rows<Element, TRANSPOSED_A>(FactorInMemory(memory, product.a, 0), factors.rows);
    } else {
        std::memcpy(factors.rows, product.rows, sizeof(factors.rows));
    }
    load_columns<Element, TRANSPOSED_B>(FactorInMemory(memory, product.b, product.panel_bytes), product.eighths,
                                        factors);
}

#define SDPA_TEST_FACTORS(element)                                                                                 \
    template void load_factors<element, false, false>(sdpa_test::AsyncProduct const&, sdpa_test::ProductFactors&); \
    template void load_factors<element, false, true>(sdpa_test::AsyncProduct const&, sdpa_test::ProductFactors&);  \
    template void load_factors<element, true, false>(sdpa_test::AsyncProduct const&, sdpa_test::ProductFactors&);  \
    template void load_factors<element, true, true>(sdpa_test::AsyncProduct const&, sdpa_test::ProductFactors&);
SDPA_TEST_FACTORS(half)
SDPA_TEST_FACTORS(bfloat16)
#undef SDPA_TEST_FACTORS

}  // namespace host_matrix

namespace sdpa_test {

void add_products(ProductFactors const& factors, int columns, ThreadSums& sums) {
    for (int row = 0; row < 2; ++row) {
        for (int k = 0; k < 16; ++k) {
            float const of_row = factors.rows[row][k];
            for (int column = 0; column < columns; ++column) {
                sums.rows[row][column] += of_row * factors.columns[k][column];
            }
        }
    }
}

}  // namespace sdpa_test
