// The words in which the library writes a graph's own score modifier, as score_code.cuh.
#pragma once

#include <attention/attention_arguments.h>
#include <tensor_core.cuh>

using namespace cudnn_frontend::kernels;

// Where a score is.
struct ScorePlace {
    int batch, head, query, key;
};

inline float number_in(float x) { return x; }
inline float number_in(half x) { return to_float(x); }
inline float number_in(bfloat16 x) { return to_float(x); }
inline int number_in(int x) { return x; }
inline int number_in(signed char x) { return x; }
inline int number_in(unsigned char x) { return x; }
inline long long number_in(long long x) { return x; }

template <class Element, bool VARIES_BY_QUERY, bool VARIES_BY_KEY>
inline auto element_of(ScoreNumbers const& tensor, ScorePlace const& at) {
    long long place = at.batch * tensor.batch + at.head * tensor.head;
    if (VARIES_BY_QUERY) place += at.query * tensor.row;
    if (VARIES_BY_KEY) place += at.key * tensor.column;
    return number_in(static_cast<Element const*>(tensor.start)[place]);
}
inline float number_of(ScoreInputs const& inputs, int number) { return __uint_as_float(inputs.numbers[number]); }
inline int integer_of(ScoreInputs const& inputs, int number) { return static_cast<int>(inputs.numbers[number]); }

// NaN in either operand is NaN in the result.
template <class A, class B>
inline auto greater_of(A a, B b) {
    return a != a || a > b ? a : b;
}
template <class A, class B>
inline auto lesser_of(A a, B b) {
    return a != a || a < b ? a : b;
}
template <class Number>
inline Number magnitude_of(Number a) {
    return a < 0 ? -a : a;
}
inline float remainder_of(float a, float b) { return fmodf(a, b); }
inline int remainder_of(int a, int b) { return a % b; }
inline long long remainder_of(long long a, long long b) { return a % b; }
inline float sigmoid_of(float a) { return inverse_of(1.0f + power_of_2(-kLog2OfE * a)); }
// Exact to a few units of 1e-7: the instruction for it is not.
inline float tanh_of(float a) { return 1.0f - 2.0f * inverse_of(1.0f + power_of_2(2 * kLog2OfE * a)); }
