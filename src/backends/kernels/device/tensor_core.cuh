// Matrix products of a warp, copies to shared memory that go on while threads compute, and fast functions of numbers,
// with instructions of compute capability 8.0 and newer.
#pragma once

#include <conversions.cuh>

// A lane's part of 16 x 16 elements. It has row lane / 4 and the row 8 further, and in each two elements from column
// 2 * (lane % 4) on and two elements 8 columns further, in this order: {row, column}, {row + 8, column},
// {row, column + 8}, {row + 8, column + 8}.
struct MatrixBlock {
    unsigned words[4];
};

inline unsigned shared_address(void const* pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); }

// A block has four 8 x 8 parts: lane l passes row l % 8 of part l / 8. A part's rows have 16 bytes.
inline MatrixBlock load_block(void const* row) {
    MatrixBlock block;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(block.words[0]), "=r"(block.words[1]), "=r"(block.words[2]), "=r"(block.words[3])
                 : "r"(shared_address(row)));
    return block;
}
// The same with each part transposed.
inline MatrixBlock load_transposed_block(void const* row) {
    MatrixBlock block;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(block.words[0]), "=r"(block.words[1]), "=r"(block.words[2]), "=r"(block.words[3])
                 : "r"(shared_address(row)));
    return block;
}

// Adds the product of a block and a 16 x 8 part, given by columns, to the sums. These have row lane / 4 and the row 8
// further, and in each two columns from 2 * (lane % 4) on.
inline void multiply_add(float (&sums)[4], MatrixBlock const& a, unsigned b0, unsigned b1, bfloat16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b0), "r"(b1));
}
inline void multiply_add(float (&sums)[4], MatrixBlock const& a, unsigned b0, unsigned b1, half) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b0), "r"(b1));
}

inline unsigned pack(float low, float high, bfloat16) {
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}
inline unsigned pack(float low, float high, half) {
    unsigned word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}

// Writes zeros if nothing is there; `from` is not read then.
inline void start_copy_of_16_bytes(void* to, void const* from, bool is_there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(is_there ? 16 : 0)
                 : "memory");
}
inline void start_copy_of_4_bytes(void* to, void const* from, bool is_there) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(is_there ? 4 : 0)
                 : "memory");
}
// Waits for the copies that this thread started.
inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

inline float power_of_2(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// 1 / x, to a unit in the last place.
inline float inverse_of(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
inline float root_of(float x) {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
// To 2.4e-7 between 0.5 and 2, elsewhere to that part of the result. Subnormal numbers count as 0.
inline float logarithm_to_2(float x) {
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
// Sine and cosine to 7e-7, for angles between -pi and pi.
inline float sine_of_angle(float x) {
    float result;
    asm("sin.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
inline float cosine_of_angle(float x) {
    float result;
    asm("cos.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// NaN in either operand is NaN in the result.
inline float greater(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
inline float lesser(float a, float b) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
