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

    // A factor with more than 64 columns goes on in the panels behind this one.
    template <class Element, int ROWS>
    Factor(Panel<Element, ROWS> const& panel, int row, int column)
        : place((shared_address(&panel) & 0x3ffff) / 16 + (row * kPanelRowBytes + 2 * column) / 16 +
                (sizeof(panel) / 16 << 16)) {}

    // Pieces are permuted within their rows, and each 8 rows follow the ones before.
    static constexpr unsigned kPanels = 1u << 30 | kPanelAlignment / 16;
};

#define PLACES_OF_8(a, b, c, d, e, f, g, h) "%" #a ", %" #b ", %" #c ", %" #d ", %" #e ", %" #f ", %" #g ", %" #h
#define SUM_PLACES_16 PLACES_OF_8(0, 1, 2, 3, 4, 5, 6, 7) ", " PLACES_OF_8(8, 9, 10, 11, 12, 13, 14, 15)
#define SUM_PLACES_32 \
    SUM_PLACES_16 ", " PLACES_OF_8(16, 17, 18, 19, 20, 21, 22, 23) ", " PLACES_OF_8(24, 25, 26, 27, 28, 29, 30, 31)
#define SUM_PLACES_40 SUM_PLACES_32 ", " PLACES_OF_8(32, 33, 34, 35, 36, 37, 38, 39)
#define SUM_PLACES_64                                                                \
    SUM_PLACES_40 ", " PLACES_OF_8(40, 41, 42, 43, 44, 45, 46, 47) ", " PLACES_OF_8( \
        48, 49, 50, 51, 52, 53, 54, 55) ", " PLACES_OF_8(56, 57, 58, 59, 60, 61, 62, 63)
#define SUM_PLACES_96                                                                \
    SUM_PLACES_64 ", " PLACES_OF_8(64, 65, 66, 67, 68, 69, 70, 71) ", " PLACES_OF_8( \
        72, 73, 74, 75, 76, 77, 78, 79) ", " PLACES_OF_8(80, 81, 82, 83, 84, 85, 86, \
                                                         87) ", " PLACES_OF_8(88, 89, 90, 91, 92, 93, 94, 95)
#define SUM_PLACES_128                                                                                               \
    SUM_PLACES_96 ", " PLACES_OF_8(96, 97, 98, 99, 100, 101, 102, 103) ", " PLACES_OF_8(                             \
        104, 105, 106, 107, 108, 109, 110, 111) ", " PLACES_OF_8(112, 113, 114, 115, 116, 117, 118,                  \
                                                                 119) ", " PLACES_OF_8(120, 121, 122, 123, 124, 125, \
                                                                                       126, 127)

#define FOUR_SUMS(sums, i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define EIGHT_SUMS(sums, i) FOUR_SUMS(sums, i), FOUR_SUMS(sums, i + 1)
#define SUMS_16(sums) EIGHT_SUMS(sums, 0), EIGHT_SUMS(sums, 2)
#define SUMS_32(sums) SUMS_16(sums), EIGHT_SUMS(sums, 4), EIGHT_SUMS(sums, 6)
#define SUMS_40(sums) SUMS_32(sums), EIGHT_SUMS(sums, 8)
#define SUMS_64(sums) SUMS_40(sums), EIGHT_SUMS(sums, 10), EIGHT_SUMS(sums, 12), EIGHT_SUMS(sums, 14)
#define SUMS_96(sums) \
    SUMS_64(sums), EIGHT_SUMS(sums, 16), EIGHT_SUMS(sums, 18), EIGHT_SUMS(sums, 20), EIGHT_SUMS(sums, 22)
#define SUMS_128(sums) \
    SUMS_96(sums), EIGHT_SUMS(sums, 24), EIGHT_SUMS(sums, 26), EIGHT_SUMS(sums, 28), EIGHT_SUMS(sums, 30)

// Starts to add the product of 64 x 16 and 16 x COLUMNS elements to the sums, of which a thread has COUNT, and which
// may be read after wait_for_products(); without `adds` they are forgotten first. A warp has 16 rows of the sums, and a
// lane the columns that it has of a Block. A factor has the rows of A, or the columns of B, as rows of its panel;
// transposed, as columns. The other parameters are the numbers of the operands that follow the sums.
#define DEFINE_START_PRODUCT(Element, type, COLUMNS, COUNT, n0, n1, n2, n3, n4, n5, n6, n7)                           \
    template <bool TRANSPOSED_A, bool TRANSPOSED_B>                                                                   \
    inline void start_product(float(&sums)[COUNT / 4][4], Factor a, Factor b, bool adds, Element) {                   \
        asm volatile("{ .reg .pred adds; .reg .b64 a, b; setp.ne.b32 adds, %" #n2 ", 0; mov.b64 a, {%" #n0 ", %" #n5  \
                     "}; mov.b64 b, {%" #n1 ", %" #n5 "}; wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." type \
                     "." type " {" SUM_PLACES_##COUNT "}, a, b, adds, 1, 1, %" #n3 ", %" #n4 "; }"                    \
                     : SUMS_##COUNT(sums)                                                                             \
                     : "r"(a.place), "r"(b.place), "r"(static_cast<int>(adds)), "n"(TRANSPOSED_A), "n"(TRANSPOSED_B), \
                       "n"(Factor::kPanels));                                                                         \
    }                                                                                                                 \
    template <bool TRANSPOSED_B>                                                                                      \
    inline void start_product(float(&sums)[COUNT / 4][4], MatrixBlock const& a, Factor b, bool adds, Element) {       \
        asm volatile("{ .reg .pred adds; .reg .b64 b; setp.ne.b32 adds, %" #n5 ", 0; mov.b64 b, {%" #n4 ", %" #n7     \
                     "}; wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." type "." type " {" SUM_PLACES_##COUNT \
                     "}, {%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}, b, adds, 1, 1, %" #n6 "; }"                        \
                     : SUMS_##COUNT(sums)                                                                             \
                     : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.place),              \
                       "r"(static_cast<int>(adds)), "n"(TRANSPOSED_B), "n"(Factor::kPanels));                         \
    }
#define DEFINE_START_PRODUCTS(Element, type)                                         \
    DEFINE_START_PRODUCT(Element, type, 32, 16, 16, 17, 18, 19, 20, 21, 22, 23)      \
    DEFINE_START_PRODUCT(Element, type, 64, 32, 32, 33, 34, 35, 36, 37, 38, 39)      \
    DEFINE_START_PRODUCT(Element, type, 80, 40, 40, 41, 42, 43, 44, 45, 46, 47)      \
    DEFINE_START_PRODUCT(Element, type, 128, 64, 64, 65, 66, 67, 68, 69, 70, 71)     \
    DEFINE_START_PRODUCT(Element, type, 192, 96, 96, 97, 98, 99, 100, 101, 102, 103) \
    DEFINE_START_PRODUCT(Element, type, 256, 128, 128, 129, 130, 131, 132, 133, 134, 135)
DEFINE_START_PRODUCTS(bfloat16, "bf16")
DEFINE_START_PRODUCTS(half, "f16")
#undef DEFINE_START_PRODUCTS
#undef DEFINE_START_PRODUCT
#undef SUMS_128
#undef SUMS_96
#undef SUMS_64
#undef SUMS_40
#undef SUMS_32
#undef SUMS_16
#undef EIGHT_SUMS
#undef FOUR_SUMS
#undef SUM_PLACES_128
#undef SUM_PLACES_96
#undef SUM_PLACES_64
#undef SUM_PLACES_40
#undef SUM_PLACES_32
#undef SUM_PLACES_16
#undef PLACES_OF_8

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
#pragma unroll
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
// The same with each part transposed: the reverse of load_transposed_block().
inline void store_transposed_block(void* row, MatrixBlock const& block) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
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
    // An arrival of this thread's warp, for a round that also waits for so many bytes of copies.
    void arrive_and_expect(int bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)), "r"(bytes)
                     : "memory");
    }
    // The round waits for so many bytes more.
    void expect(int bytes) {
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(bytes)
                     : "memory");
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

// Makes barriers known to the copy engine, before the block's first barrier.
inline void show_barriers_to_copies() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Lets warpgroups wait for each other by named barriers, of which 1 to 15 are free: one that waits, and one that goes
// on.
inline void wait_for_turn(int number) { asm volatile("bar.sync %0, 256;" ::"r"(number) : "memory"); }
inline void give_turn(int number) { asm volatile("bar.arrive %0, 256;" ::"r"(number) : "memory"); }

// Waits for all threads of the warpgroup, by a named barrier of its own.
inline void wait_for_warpgroup(int number) { asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory"); }

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
