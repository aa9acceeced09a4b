#include "reference/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oracle {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

double dot(Array const& x, std::int64_t x_head, std::int64_t i, Array const& y, std::int64_t y_head, std::int64_t j,
           std::int64_t b) {
    double const *const x_row = x.row(b, x_head, i), *const y_row = y.row(b, y_head, j);
    return sum_in_parts(x.dim[3], [&](std::int64_t d) { return x_row[d] * y_row[d]; });
}

// Adds the multiple of `count` numbers to others.
void add_multiple(double* to, double factor, double const* numbers, std::int64_t count) {
    for (std::int64_t d = 0; d < count; ++d) to[d] += factor * numbers[d];
}

// Calls visit(b, h, i, j) for each score.
template <class Visit>
void for_each_score(Problem const& p, Visit visit) {
    for (std::int64_t b = 0; b < p.batches(); ++b)
        for (std::int64_t h = 0; h < p.heads(); ++h)
            for (std::int64_t i = 0; i < p.queries(); ++i)
                for (std::int64_t j = 0; j < p.keys(); ++j) visit(b, h, i, j);
}

// NaN if either is NaN.
double greater(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// Fills in stats, max and sum_exp of one row. A row with only -inf has a sum of 0.
void sum_row(Problem const& p, Array const& s, std::int64_t b, std::int64_t h, std::int64_t i, Forward& result) {
    double largest = p.sink_at(h);
    for (std::int64_t j = 0; j < s.dim[3]; ++j) largest = greater(largest, s.at(b, h, i, j));
    double sum = 0.0;
    auto const add = [&](double score) { sum += score == kMasked ? 0.0 : std::exp(score - largest); };
    add(p.sink_at(h));
    for (std::int64_t j = 0; j < s.dim[3]; ++j) add(s.at(b, h, i, j));
    result.max.at(b, h, i, 0) = largest;
    result.sum_exp.at(b, h, i, 0) = sum;
    result.stats.at(b, h, i, 0) = sum == 0.0 ? kMasked : largest + std::log(sum);
}

}  // namespace

double alibi_slope(std::int64_t head, std::int64_t heads) {
    std::int64_t n = 1;
    while (2 * n <= heads) n *= 2;
    auto const exponent = [n](double base, std::int64_t step) {
        return -base * static_cast<double>(step) / static_cast<double>(n);
    };
    return std::exp2(head < n ? exponent(8.0, head + 1) : exponent(4.0, 2 * (head - n) + 1));
}

double greatest_magnitude(Array const& array) {
    double greatest = 0.0;
    for (double const value : array.values) greatest = greater(greatest, std::abs(value));
    return greatest;
}

double Problem::product_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return scale * dot(q, h, i, k, k_head(h), j, b);
}

bool Problem::is_past(std::int64_t b, std::int64_t i) const {
    return len_q && i >= (*len_q)[static_cast<std::size_t>(b)];
}

bool Problem::keeps(std::int64_t b, std::int64_t i, std::int64_t j) const {
    auto const entry = static_cast<std::size_t>(b);
    std::int64_t const rows = len_q ? (*len_q)[entry] : queries();
    std::int64_t const columns = len_kv ? (*len_kv)[entry] : keys();
    std::int64_t const diagonal = i + (bottom_right ? columns - rows : 0);
    return i < rows && j < columns && (!right || j <= diagonal + *right) && (!left || j > diagonal - *left);
}

bool Problem::keeps_tile(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (!block_mask) return true;
    auto const byte = static_cast<unsigned>(block_mask->at(b, h, i / 128, j / 128 / 8));
    return (byte & (1u << (j / 128 % 8))) != 0;
}

double Problem::sink_at(std::int64_t h) const { return sink ? sink->at(0, h, 0, 0) : kMasked; }

double Problem::bias_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return bias ? bias->at(b, h, i, j) : 0.0;
}

double Problem::alibi_at(std::int64_t h, std::int64_t i, std::int64_t j) const {
    return alibi ? alibi_slope(h, heads()) * static_cast<double>(j - i) : 0.0;
}

double Problem::dropout_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return dropout_mask ? dropout_mask->at(b, h, i, j) * dropout_scale : 1.0;
}

Array scores(Problem const& p) {
    Array s(p.batches(), p.heads(), p.queries(), p.keys(), kMasked);
    for_each_score(p, [&](auto b, auto h, auto i, auto j) {
        if (!p.keeps(b, i, j) || !p.keeps_tile(b, h, i, j)) return;
        s.at(b, h, i, j) =
            p.modifier.value(p.product_at(b, h, i, j), b, h, i, j) + p.bias_at(b, h, i, j) + p.alibi_at(h, i, j);
    });
    return s;
}

Array probabilities(Array const& s, Array const& stats) {
    Array result(s.dim[0], s.dim[1], s.dim[2], s.dim[3]);
    for (std::size_t n = 0; n < s.values.size(); ++n) {
        double const row = stats.values[n / static_cast<std::size_t>(s.dim[3])];
        if (s.values[n] != kMasked && row != kMasked) result.values[n] = std::exp(s.values[n] - row);
    }
    return result;
}

Forward forward(Problem const& p) {
    Array const s = scores(p);
    Array const row(p.batches(), p.heads(), p.queries(), 1);
    Forward result{Array(p.batches(), p.heads(), p.queries(), p.v.dim[3]), row, row, row};
    for (std::int64_t b = 0; b < p.batches(); ++b)
        for (std::int64_t h = 0; h < p.heads(); ++h)
            for (std::int64_t i = 0; i < p.queries(); ++i) sum_row(p, s, b, h, i, result);
    Array const probability = probabilities(s, result.stats);
    for_each_score(p, [&](auto b, auto h, auto i, auto j) {
        if (probability.at(b, h, i, j) == 0.0) return;
        double const kept = probability.at(b, h, i, j) * p.dropout_at(b, h, i, j);
        if (kept == 0.0) return;
        result.amax_s = greater(result.amax_s, std::abs(kept));
        double const weight = p.narrow_probability ? (*p.narrow_probability)(kept) : kept;
        if (weight == 0.0) return;
        add_multiple(result.o.row(b, h, i), weight, p.v.row(b, p.v_head(h), j), p.v.dim[3]);
    });
    result.amax_o = greatest_magnitude(result.o);
    return result;
}

// The sink lowers the keys' probabilities: d p_j / d sink = -p_j p_sink, so that a row's O changes by -p_sink O.
static Array gradient_of_sink(Problem const& p, Array const& o, Array const& stats, Array const& d_o) {
    Array result(1, p.heads(), 1, 1);
    for (std::int64_t b = 0; b < p.batches(); ++b)
        for (std::int64_t h = 0; h < p.heads(); ++h)
            for (std::int64_t i = 0; i < p.queries(); ++i) {
                double const row = stats.at(b, h, i, 0);
                if (row == kMasked || p.is_past(b, i)) continue;
                result.at(0, h, 0, 0) -= std::exp(p.sink_at(h) - row) * dot(d_o, h, i, o, h, i, b);
            }
    return result;
}

// D of each row, the sum of dO * O.
static Array row_dots(Problem const& p, Array const& o, Array const& d_o) {
    Array result(p.batches(), p.heads(), p.queries(), 1);
    for (std::int64_t b = 0; b < p.batches(); ++b)
        for (std::int64_t h = 0; h < p.heads(); ++h)
            for (std::int64_t i = 0; i < p.queries(); ++i) result.at(b, h, i, 0) = dot(d_o, h, i, o, h, i, b);
    return result;
}

static double score_gradient(Problem const& p, double probability, double row_dot, Array const& d_o,
                             std::array<std::int64_t, 4> const& at) {
    auto const [b, h, i, j] = at;
    double const keep = p.dropout_at(b, h, i, j);
    double const d_probability = keep == 0.0 ? 0.0 : dot(d_o, h, i, p.v, p.v_head(h), j, b) * keep;
    return probability * (d_probability - row_dot);
}

// The gradient of the product of a score.
static double product_gradient_of(Problem const& p, double score_gradient, std::array<std::int64_t, 4> const& at) {
    auto const [b, h, i, j] = at;
    double const slope = is_capped(p.modifier.kind) ? p.modifier.slope(p.product_at(b, h, i, j)) : 1.0;
    return score_gradient * slope * p.scale;
}

double product_gradient(Problem const& p, double probability, Array const& o, Array const& d_o,
                        std::array<std::int64_t, 4> const& at) {
    double const row_dot = dot(d_o, at[1], at[2], o, at[1], at[2], at[0]);
    return product_gradient_of(p, score_gradient(p, probability, row_dot, d_o, at), at);
}

Backward backward(Problem const& p, Array const& o, Array const& stats, Array const& d_o) {
    auto const zeros_of = [](auto const& dim) { return Array(dim[0], dim[1], dim[2], dim[3]); };
    auto const zeros = [&](Array const& like) { return zeros_of(like.dim); };
    Backward result{zeros(p.q), zeros(p.k), zeros(p.v), p.bias ? zeros_of(p.d_bias_dim.value_or(p.bias->dim)) : Array(),
                    p.sink ? gradient_of_sink(p, o, stats, d_o) : Array()};
    Array const probability = probabilities(scores(p), stats), row_dot = row_dots(p, o, d_o);
    for_each_score(p, [&](auto b, auto h, auto i, auto j) {
        double const weight = probability.at(b, h, i, j);
        if (weight == 0.0) return;
        double const keep = p.dropout_at(b, h, i, j);
        double const d_score = score_gradient(p, weight, row_dot.at(b, h, i, 0), d_o, {b, h, i, j});
        if (p.bias) result.d_bias.at(b, h, i, j) += d_score;
        double const wide = product_gradient_of(p, d_score, {b, h, i, j});
        result.amax_d_p = greater(result.amax_d_p, std::abs(wide));
        double const d_product = p.narrow_gradient ? (*p.narrow_gradient)(wide) : wide;
        double const kept = p.narrow_probability ? (*p.narrow_probability)(weight * keep) : weight * keep;
        if (d_product != 0.0) {
            add_multiple(result.d_q.row(b, h, i), d_product, p.k.row(b, p.k_head(h), j), p.q.dim[3]);
            add_multiple(result.d_k.row(b, p.k_head(h), j), d_product, p.q.row(b, h, i), p.q.dim[3]);
        }
        if (kept != 0.0) add_multiple(result.d_v.row(b, p.v_head(h), j), kept, d_o.row(b, h, i), p.v.dim[3]);
    });
    result.amax_d_q = greatest_magnitude(result.d_q);
    result.amax_d_k = greatest_magnitude(result.d_k);
    result.amax_d_v = greatest_magnitude(result.d_v);
    return result;
}

}  // namespace oracle
