// The words in which the library writes a graph's own score modifier, as score_code.cuh.
#pragma once

#include <attention/attention_arguments.h>
#include <tensor_core.cuh>

using namespace cudnn_frontend::kernels;

// Where a score is, and what depends on the distance of its query and key.
struct ScorePlace {
    int batch, head, query, key;
    DistanceTerms of_distance;
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

// A number that all scores have in common. What is computed of such numbers alone is computed once for many scores.
struct Uniform {
    float value;
    operator float() const { return value; }
};
inline Uniform operator*(Uniform a, Uniform b) { return {a.value * b.value}; }
inline Uniform inverse_of(Uniform a) { return {inverse_of(a.value)}; }
inline Uniform number_of(ScoreInputs const& inputs, int number) { return {__uint_as_float(inputs.numbers[number])}; }

// number * factor + addend. Further steps by uniform numbers change the factor and the addend, so that a chain of them
// costs one instruction.
struct Linear {
    float number;
    float factor, addend;  // uniform
    operator float() const { return fmaf(number, factor, addend); }
};
inline Linear operator*(Linear a, Uniform b) { return {a.number, a.factor * b.value, a.addend * b.value}; }
inline Linear operator*(Uniform a, Linear b) { return b * a; }
inline Linear operator+(Linear a, Uniform b) { return {a.number, a.factor, a.addend + b.value}; }
inline Linear operator+(Uniform a, Linear b) { return b + a; }
inline Linear operator-(Linear a, Uniform b) { return {a.number, a.factor, a.addend - b.value}; }
inline Linear operator-(Linear a) { return {a.number, -a.factor, -a.addend}; }

// The result of a step that is computed in FLOAT.
inline Linear as_float(Linear a) { return a; }
inline Uniform as_float(Uniform a) { return a; }
inline float as_float(float a) { return a; }

// Scores as powers of 2, and a term that is one already.
inline float power_of(float score, float term) { return fmaf(score, kLog2OfE, term); }
inline float power_of(Linear score, float term) {
    return fmaf(score.number, score.factor * kLog2OfE, fmaf(score.addend, kLog2OfE, term));
}

inline float plain(Linear a) { return a; }
inline float plain(Uniform a) { return a; }
template <class Number>
inline Number plain(Number a) {
    return a;
}
inline int integer_of(ScoreInputs const& inputs, int number) { return static_cast<int>(inputs.numbers[number]); }

template <class Choice, class A, class B>
inline auto chosen_of(Choice choice, A a, B b) {
    return choice != 0 ? plain(a) : plain(b);
}
// As for two floats (tensor_core.cuh).
template <class A, class B>
inline auto greater(A a, B b) {
    return chosen_of(a != a || a > b, a, b);
}
template <class A, class B>
inline auto lesser(A a, B b) {
    return chosen_of(a != a || a < b, a, b);
}
// NaN in either operand is NaN in the result.
template <class A, class B>
inline auto greater_of(A a, B b) {
    return greater(plain(a), plain(b));
}
template <class A, class B>
inline auto lesser_of(A a, B b) {
    return lesser(plain(a), plain(b));
}
template <class Number>
inline auto magnitude_of(Number a) {
    return a < 0 ? -plain(a) : plain(a);
}
inline float remainder_of(float a, float b) { return fmodf(a, b); }
inline int remainder_of(int a, int b) { return a % b; }
inline long long remainder_of(long long a, long long b) { return a % b; }

inline float logarithm_of(float x) { return kLnOf2 * logarithm_to_2(x); }

// The angle between -pi and pi of the same sine, for less than 2^14 turns: up to rounding, which is half a turn at
// 2^22. A turn is the sum of two numbers, so that its products are exact enough.
inline float angle_of(float x) {
    constexpr float kTurn = 6.2831855f, kRestOfTurn = -1.7484556e-7f;
    float const turns = rintf(x * (1.0f / kTurn));
    return fmaf(turns, -kRestOfTurn, fmaf(turns, -kTurn, x));
}
inline float sine_of(float x) { return sine_of_angle(angle_of(x)); }
inline float cosine_of(float x) { return cosine_of_angle(angle_of(x)); }

// 1 / (1 + e^(factor * x + addend)).
inline float logistic(float x, float factor, float addend) {
    return inverse_of(1.0f + power_of_2(fmaf(x, kLog2OfE * factor, kLog2OfE * addend)));
}
inline float sigmoid_of(float a) { return logistic(a, -1.0f, 0.0f); }
inline float sigmoid_of(Linear a) { return logistic(a.number, -a.factor, -a.addend); }
// Exact to a few units of 1e-7: the instruction for it is not.
inline Linear tanh_of(float a) { return {logistic(a, 2.0f, 0.0f), -2.0f, 1.0f}; }
inline Linear tanh_of(Linear a) { return {logistic(a.number, 2.0f * a.factor, 2.0f * a.addend), -2.0f, 1.0f}; }

// --- Scores near 0, for which tanh has a short form

// number * factor, where the factor is uniform.
struct Scaled {
    float number, factor;
    operator float() const { return number * factor; }
};
template <class Number>
inline constexpr bool kIsScaled = false;
template <>
inline constexpr bool kIsScaled<Scaled> = true;
inline Scaled operator*(Scaled a, Uniform b) { return {a.number, a.factor * b.value}; }
inline Scaled operator*(Uniform a, Scaled b) { return b * a; }
inline Scaled operator-(Scaled a) { return {a.number, -a.factor}; }
inline Scaled as_float(Scaled a) { return a; }
inline float plain(Scaled a) { return a; }
inline float power_of(Scaled score, float term) { return fmaf(score.number, score.factor * kLog2OfE, term); }

// Returns a number and sets the factor: their product is the score in units of log2.
inline float without_factor(Scaled score, float& factor) {
    factor = score.factor * kLog2OfE;
    return score.number;
}
inline float without_factor(float score, float& factor) {
    factor = kLog2OfE;
    return score;
}
// Whether the greatest number is that of the greatest score.
inline bool keeps_order(Scaled score) { return score.factor > 0; }
inline bool keeps_order(float) { return true; }

// Whether short_tanh_of() is exact, to 7e-7 of the result. The sixth power of the factor is a normal number.
inline bool has_short_tanh(Scaled a) { return fabsf(a) <= 0.5f && fabsf(a.factor) >= 1e-6f && fabsf(a.factor) <= 1e6f; }
// An odd polynomial of degree 7, with the least greatest relative error. Its number has no greater magnitude than that
// of `a`.
inline Scaled short_tanh_of(Scaled a) {
    float const square = a.number * a.number, uniform = a.factor * a.factor;
    float const third = -0.3332816f * uniform, fifth = 0.1320536f * uniform * uniform,
                seventh = -0.044750642f * uniform * uniform * uniform;
    return {fmaf(a.number * square, fmaf(fmaf(seventh, square, fifth), square, third), a.number), a.factor};
}
