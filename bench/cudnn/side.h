// One side of the comparison: the same program, compiled with this library's headers or with the existing frontend's.
#pragma once

#include <cstdint>

struct cudnnContext;

struct Shape {
    char const* name;
    std::int64_t b, h_q, h_kv, s_q, s_kv, d;
    bool is_causal, is_backward;
};

// Pointers for every tensor, by uid; the workspace is large enough for both sides.
struct Memory {
    void* tensors[16];
    void* workspace;
};

// Microseconds.
struct Cost {
    double describe_and_lower, heuristics, build, execute;
    std::int64_t workspace;
};

struct Side {
    // Plans the shape; the plan stays until the next call. False with a line on the terminal where it fails.
    bool (*plan)(cudnnContext* handle, Shape const& shape, Cost& cost);
    bool (*execute)(cudnnContext* handle, Memory const& memory);
};

extern "C" Side bench_side();
