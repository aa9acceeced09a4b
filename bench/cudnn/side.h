// One side of the comparison: the same program, compiled with this library's headers or with the existing frontend's.
#pragma once

#include <cstdint>

struct cudnnContext;

enum class Option {
    None,
    Causal,
    BottomRight,
    Window,
    Bias,
    BiasGradient,
    Alibi,
    Padding,
    Ragged,
    BoundedRagged,
    Paged,
    Dropout,
    Sink,
    Softcap,
    SumExp,
    Deterministic,
    DropoutMask,
    SinkGradient,
    Distance,
    Documents,
    Prefix,
    Grid,
    GridReadyMade,
    DynamicShapes
};

enum class Io { Bfloat16, Fp8 };

struct Sizes {
    std::int64_t b, h_q, h_k, h_v, s_q, s_kv, d_qk, d_v;
};

struct Shape : Sizes {
    char const* name;
    bool is_backward;
    Option option;
    Io io = Io::Bfloat16;
};

// Uids of the tensors, and their indices in Memory.
enum Uid {
    Q,
    K,
    V,
    O,
    Stats,
    DO,
    DQ,
    DK,
    DV,
    Bias,
    DBias,
    Lengths,    // of queries and keys, and of prefixes
    Ones,       // of queries, if present
    Starts,     // ragged offsets of Q and O, and of K and V with as many heads
    KeyStarts,  // of K and V with fewer heads
    RowStarts,  // of Stats
    Pages,      // page tables of K and V
    DocumentsOfQueries,
    DocumentsOfKeys,
    Seed,
    Position,  // of the dropout generator
    Sink,
    DSink,
    Max,
    SumExp,
    Mask,
    MaskScale,
    MaskScaleInverse,
    Factor,     // all scales and descales
    Magnitude,  // the first Amax of FP8 attention
    LastMagnitude = Magnitude + 3,
    ScratchTable,  // constants that this library uploads
    Count
};
constexpr std::int64_t kPageSize = 64, kDocumentSize = 512;

// The number of batch entries, padded or packed.
constexpr std::int64_t kBatches = 16;
constexpr std::int64_t length_of(std::int64_t b) { return b < 4 ? 2048 - 300 * b : 512; }
constexpr std::int64_t start_of(std::int64_t b) { return b == 0 ? 0 : start_of(b - 1) + length_of(b - 1); }

// Pointers for every tensor; the workspace is large enough for both sides.
struct Memory {
    void* tensors[Uid::Count];
    void* workspace;
};

// Microseconds.
struct Cost {
    double describe, lower, heuristics, build, execute;
    std::int64_t workspace;
};

struct Side {
    // Plans the shape; the plan is kept until the next call. Prints a line and returns false on failure.
    bool (*plan)(cudnnContext* handle, Shape const& shape, Cost& cost);
    bool (*execute)(cudnnContext* handle, Memory const& memory);
    // Whether graphs that were planned before are known; this library's alone are.
    void (*keep_graphs)(bool are_kept);
};

extern "C" Side bench_side();
