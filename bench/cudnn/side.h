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
    kQ,
    kK,
    kV,
    kO,
    kStats,
    kDO,
    kDQ,
    kDK,
    kDV,
    kBias,
    kDBias,
    kLengths,    // of queries and keys, and of prefixes
    kOnes,       // of queries, if present
    kStarts,     // ragged offsets of Q and O, and of K and V with as many heads
    kKeyStarts,  // of K and V with fewer heads
    kRowStarts,  // of Stats
    kPages,      // page tables of K and V
    kDocumentsOfQueries,
    kDocumentsOfKeys,
    kSeed,
    kPosition,  // of the dropout generator
    kSink,
    kDSink,
    kMax,
    kSumExp,
    kMask,
    kMaskScale,
    kMaskScaleInverse,
    kFactor,     // all scales and descales
    kMagnitude,  // the first Amax of FP8 attention
    kLastMagnitude = kMagnitude + 3,
    kScratchTable,  // constants that this library uploads
    kUidCount
};
constexpr std::int64_t kPageSize = 64, kDocumentSize = 512;

// The number of batch entries, padded or packed.
constexpr std::int64_t kBatches = 16;
constexpr std::int64_t length_of(std::int64_t b) { return b < 4 ? 2048 - 300 * b : 512; }
constexpr std::int64_t start_of(std::int64_t b) { return b == 0 ? 0 : start_of(b - 1) + length_of(b - 1); }

// Pointers for every tensor; the workspace is large enough for both sides.
struct Memory {
    void* tensors[kUidCount];
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
