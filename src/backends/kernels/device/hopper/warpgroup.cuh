// Matrix products of a warpgroup: four warps, the first of whose numbers is a multiple of four, on units that read
// their factors from shared memory by themselves. They use instructions that only compute capability 9.0 has.
#pragma once

#include <tensor_core.cuh>
#include <warp.cuh>

constexpr int kPanelColumns = 64;
constexpr int kPanelRowBytes = 2 * kPanelColumns, kPanelAlignment = 8 * kPanelRowBytes;

// 64 columns of a matrix. A row has 8 pieces of 16 bytes each. The one at column 8 * i lies at place i ^ row % 8, so
// that neighboring rows have theirs in different banks.
template <class Element, int ROWS>
struct alignas(kPanelAlignment) Panel {
    Element elements[ROWS][kPanelColumns];

    Element* piece(int row, int column) { return &elements[row][((column / 8) ^ (row % 8)) * 8]; }
};

// A part of a panel as a factor, from that row and column on: multiples of 8 and of 16. The units find pieces by their
// addresses.
struct Factor {
    unsigned place;  // the lower half of a descriptor; kPanels, the upper half, is the same for all

    template <class Element, int ROWS>
    Factor(Panel<Element, ROWS> const& panel, int row, int column)
        : place((shared_address(&panel) & 0x3ffff) / 16 + (row * kPanelRowBytes + 2 * column) / 16) {}

    // Pieces are permuted within their rows, and each 8 rows follow the ones before.
    static constexpr unsigned kPanels = 1u << 30 | kPanelAlignment / 16;
};

#define SUM_PLACES_32                                                                                                \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
    "%24, %25, %26, %27, %28, %29, %30, %31"
#define FOUR_SUMS(sums) "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
#define SUMS_32(sums)                                                                                   \
    FOUR_SUMS(sums[0]), FOUR_SUMS(sums[1]), FOUR_SUMS(sums[2]), FOUR_SUMS(sums[3]), FOUR_SUMS(sums[4]), \
        FOUR_SUMS(sums[5]), FOUR_SUMS(sums[6]), FOUR_SUMS(sums[7])

// Starts to add the product of 64 x 16 and 16 x 64 elements to the sums, which may be read after
// wait_for_products(); without `adds` they are forgotten first. A warp has 16 rows of the sums, and a lane the columns
// that it has of a Block. A factor has the rows of A, or the columns of B, as rows of its panel; transposed, as
// columns.
#define DEFINE_START_PRODUCT(Element, type)                                                                       \
    template <bool TRANSPOSED_A, bool TRANSPOSED_B>                                                               \
    inline void start_product(float(&sums)[8][4], Factor a, Factor b, bool adds, Element) {                       \
        asm volatile(                                                                                             \
            "{ .reg .pred adds; .reg .b64 a, b; setp.ne.b32 adds, %34, 0; mov.b64 a, {%32, %37}; "                \
            "mov.b64 b, {%33, %37}; wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" SUM_PLACES_32 \
            "}, a, b, adds, 1, 1, %35, %36; }"                                                                    \
            : SUMS_32(sums)                                                                                       \
            : "r"(a.place), "r"(b.place), "r"(static_cast<int>(adds)), "n"(TRANSPOSED_A), "n"(TRANSPOSED_B),      \
              "n"(Factor::kPanels));                                                                              \
    }                                                                                                             \
    template <bool TRANSPOSED_B>                                                                                  \
    inline void start_product(float(&sums)[8][4], MatrixBlock const& a, Factor b, bool adds, Element) {           \
        asm volatile(                                                                                             \
            "{ .reg .pred adds; .reg .b64 b; setp.ne.b32 adds, %37, 0; mov.b64 b, {%36, %39}; "                   \
            "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" SUM_PLACES_32                        \
            "}, {%32, %33, %34, %35}, b, adds, 1, 1, %38; }"                                                      \
            : SUMS_32(sums)                                                                                       \
            : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.place),                   \
              "r"(static_cast<int>(adds)), "n"(TRANSPOSED_B), "n"(Factor::kPanels));                              \
    }
DEFINE_START_PRODUCT(bfloat16, "bf16")
DEFINE_START_PRODUCT(half, "f16")
#undef DEFINE_START_PRODUCT
#undef SUMS_32
#undef FOUR_SUMS
#undef SUM_PLACES_32

// Needed before the first product, and when registers of products were written since.
inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Products that were started since the last call become a commit group.
inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all commit groups except the last ones.
template <int ALL_BUT>
inline void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(ALL_BUT) : "memory");
}
// Makes known to the compiler that unfinished products write sums and read the words of a Block: these are written
// before it and read behind it.
template <int COUNT>
inline void hold(float (&sums)[COUNT][4]) {
    for (auto& four : sums) {
        for (float& sum : four) asm volatile("" : "+f"(sum)::"memory");
    }
}
inline void hold(MatrixBlock& block) {
    for (unsigned& word : block.words) asm volatile("" : "+r"(word)::"memory");
}

// The reverse of load_block().
inline void store_block(void* row, MatrixBlock const& block) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
                 "r"(block.words[0]), "r"(block.words[1]), "r"(block.words[2]), "r"(block.words[3])
                 : "memory");
}

// Makes earlier writes to shared memory, by this thread or by threads that it waited for, visible to later products:
// its own, and those of threads that wait for its next barrier or arrival.
inline void show_to_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Adds four numbers to memory, which begins at a multiple of 16 bytes, in any order with others.
inline void add_four(float* to, float const (&numbers)[4]) {
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(numbers[0]),
                 "f"(numbers[1]), "f"(numbers[2]), "f"(numbers[3])
                 : "memory");
}

// An mbarrier. A round ends when the number of warps given to make() have arrived, one arrival each, and the next round
// begins. Their earlier writes are visible to the threads that waited. A wait tests only whether a round is odd or
// even: no thread may ask for a round while the one before it goes on, nor after the next one has ended.
class Arrivals {
   public:
    void make(int warps) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(warps) : "memory");
    }
    void arrive() {
        wait_for_warp();
        if (lane_index() != 0) return;
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
    }
    // Whether a round, the first of which is 0, has ended.
    bool have_ended(int round) {
        int ended;
        asm volatile(
            "{ .reg .pred has_ended; mbarrier.try_wait.parity.shared::cta.b64 has_ended, [%1], %2; "
            "selp.b32 %0, 1, 0, has_ended; }"
            : "=r"(ended)
            : "r"(shared_address(this)), "r"(round % 2)
            : "memory");
        return ended != 0;
    }
    void wait_for(int round) {
        while (!have_ended(round)) {
        }
    }

   private:
    unsigned long long state_;
};

// Sets the number of registers of a thread, a multiple of 8. All warps of a warpgroup must call it. take_registers()
// waits until other warpgroups have released enough by leave_registers().
template <int COUNT>
inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
inline void leave_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
