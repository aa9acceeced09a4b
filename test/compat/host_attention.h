// Attention as plain loops over host arrays, with which the GPU's results are compared.
#pragma once

#include "machine.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace compat {

// Elements by batch, head, row and column, under any strides.
template <class E>
struct View {
    E* first;
    std::vector<std::int64_t> dim, stride;

    E& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        return first[b * stride[0] + h * stride[1] + i * stride[2] + j * stride[3]];
    }
};

// Reproducible numbers between -1 and 1.
template <class E>
std::vector<E> random_values(std::size_t count, unsigned seed) {
    std::vector<E> values(count);
    for (E& value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = E(static_cast<float>(seed >> 8) / 8388608.0f - 1.0f);
    }
    return values;
}

// The term that is added to a scaled score: a bias, or minus infinity to mask.
using ScoreOffset = std::function<float(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)>;

constexpr float kMasked = -std::numeric_limits<float>::infinity();

inline float causal(std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) { return j <= i ? 0 : kMasked; }

// The probabilities of a row, and their log-sum-exp.
template <class E>
float probabilities(View<E> const& q, View<E> const& k, float scale, ScoreOffset const& offset,
                    std::array<std::int64_t, 3> row, std::vector<float>& p) {
    auto const [b, h, i] = row;
    std::int64_t const kv_head = h / (q.dim[1] / k.dim[1]);
    float greatest = kMasked, sum = 0;
    for (std::int64_t j = 0; j < k.dim[2]; ++j) {
        float dot = 0;
        for (std::int64_t c = 0; c < q.dim[3]; ++c) dot += float(q.at(b, h, i, c)) * float(k.at(b, kv_head, j, c));
        p[std::size_t(j)] = dot * scale + offset(b, h, i, j);
        greatest = std::max(greatest, p[std::size_t(j)]);
    }
    for (float& value : p) sum += value = greatest == kMasked ? 0 : std::exp(value - greatest);
    for (float& value : p) value = sum == 0 ? 0 : value / sum;
    return greatest + std::log(sum);
}

template <class Visit>
void each_row(std::vector<std::int64_t> const& dim, Visit visit) {
    for (std::int64_t b = 0; b < dim[0]; ++b) {
        for (std::int64_t h = 0; h < dim[1]; ++h) {
            for (std::int64_t i = 0; i < dim[2]; ++i) visit(b, h, i);
        }
    }
}

inline bool is_near(float actual, float expected) {
    return std::fabs(actual - expected) <= 0.01f + 0.02f * std::fabs(expected);
}

// Whether O, and Stats if present, match the loops' results.
template <class E>
bool is_attention(View<E> const& q, View<E> const& k, View<E> const& v, View<E> const& o, float scale,
                  ScoreOffset const& offset, std::vector<float> const& stats = {}) {
    bool is_good = true;
    std::vector<float> p(std::size_t(k.dim[2]));
    each_row(q.dim, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        float const sum = probabilities(q, k, scale, offset, {b, h, i}, p);
        if (!stats.empty()) is_good &= is_near(stats[std::size_t((b * q.dim[1] + h) * q.dim[2] + i)], sum);
        for (std::int64_t c = 0; c < v.dim[3]; ++c) {
            float expected = 0;
            for (std::int64_t j = 0; j < k.dim[2]; ++j) {
                expected += p[std::size_t(j)] * float(v.at(b, h / (q.dim[1] / v.dim[1]), j, c));
            }
            is_good &= is_near(float(o.at(b, h, i, c)), expected);
        }
    });
    return is_good;
}

// Gradients of Q, K and V as floats, dense and in the order batch, head, row, column. One K and V for each head of Q.
template <class E>
std::array<std::vector<float>, 3> gradients(View<E> const& q, View<E> const& k, View<E> const& v, View<E> const& dO,
                                            float scale, ScoreOffset const& offset) {
    std::int64_t const heads = q.dim[1], rows = q.dim[2], keys = k.dim[2], d = q.dim[3];
    std::vector<float> dQ(std::size_t(q.dim[0] * heads * rows * d)), dK(std::size_t(q.dim[0] * heads * keys * d)),
        dV(dK);
    std::vector<float> p(static_cast<std::size_t>(keys)), dP(p);
    each_row(q.dim, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        probabilities(q, k, scale, offset, {b, h, i}, p);
        float mean = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
            dP[std::size_t(j)] = 0;
            for (std::int64_t c = 0; c < d; ++c)
                dP[std::size_t(j)] += float(dO.at(b, h, i, c)) * float(v.at(b, h, j, c));
            mean += p[std::size_t(j)] * dP[std::size_t(j)];
        }
        for (std::int64_t j = 0; j < keys; ++j) {
            float const dS = p[std::size_t(j)] * (dP[std::size_t(j)] - mean) * scale;
            for (std::int64_t c = 0; c < d; ++c) {
                std::size_t const key = std::size_t(((b * heads + h) * keys + j) * d + c);
                dQ[std::size_t(((b * heads + h) * rows + i) * d + c)] += dS * float(k.at(b, h, j, c));
                dK[key] += dS * float(q.at(b, h, i, c));
                dV[key] += p[std::size_t(j)] * float(dO.at(b, h, i, c));
            }
        }
    });
    return {dQ, dK, dV};
}

template <class E>
bool are_values(View<E> const& actual, std::vector<float> const& expected) {
    bool is_good = true;
    std::size_t next = 0;
    each_row(actual.dim, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        for (std::int64_t c = 0; c < actual.dim[3]; ++c)
            is_good &= is_near(float(actual.at(b, h, i, c)), expected[next++]);
    });
    return is_good;
}

}  // namespace compat
