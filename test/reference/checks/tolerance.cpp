#include "reference/checks/tolerance.h"

#include <algorithm>
#include <cmath>

namespace oracle {
namespace {

using cudnn_frontend::DataType_t;

constexpr double kConstants = 4.0 * Precision::kSingle;

double absolute_dot(Array const& x, std::int64_t x_head, std::int64_t i, Array const& y, std::int64_t y_head,
                    std::int64_t j, std::int64_t b) {
    double const *const x_row = x.row(b, x_head, i), *const y_row = y.row(b, y_head, j);
    return sum_in_parts(x.dim[3], [&](std::int64_t d) { return std::abs(x_row[d] * y_row[d]); });
}

// A factor of 0 skips the product, also with infinity and NaN.
double times(double factor, double number) { return factor == 0.0 ? 0.0 : factor * number; }

double length(std::int64_t terms) { return static_cast<double>(terms + 4); }

template <class Visit>
void for_each_row(Problem const& p, Visit visit) {
    for (std::int64_t b = 0; b < p.batches(); ++b)
        for (std::int64_t h = 0; h < p.heads(); ++h)
            for (std::int64_t i = 0; i < p.queries(); ++i) visit(b, h, i);
}

double cap_of(Problem const& p) { return is_capped(p.modifier.kind) ? p.modifier.number : 0.0; }

// The error of 1 - tanh(x)^2, whose derivative by the score is at most 2 / cap.
double slope_error(Problem const& p, double score_error, double unit) {
    return cap_of(p) == 0.0 ? 0.0 : 8.0 * unit + 2.0 * score_error / cap_of(p);
}

// The largest error of a score in each row, {B,Hq,Sq,1}.
Array score_errors(Problem const& p, Array const& s, Precision const& precision) {
    Array result(p.batches(), p.heads(), p.queries(), 1);
    for_each_row(p, [&](auto b, auto h, auto i) {
        double& worst = result.at(b, h, i, 0);
        for (std::int64_t j = 0; j < p.keys(); ++j) {
            if (!std::isfinite(s.at(b, h, i, j))) continue;
            double const product = std::abs(p.scale) * absolute_dot(p.q, h, i, p.k, p.k_head(h), j, b);
            double const terms =
                std::abs(p.bias_at(b, h, i, j)) + std::abs(p.alibi_at(h, i, j)) + std::abs(s.at(b, h, i, j));
            // Kernels compute tanh from exponentials, whose difference loses some bits.
            double const modified = std::abs(p.modifier.addend(h, i, j)) + 8.0 * cap_of(p);
            double const rounding =
                precision.sum_unit(p.q.dim[3]) * product + 4.0 * precision.unit * (terms + modified);
            worst = std::max(worst, rounding + kConstants * std::abs(p.alibi_at(h, i, j)));
        }
    });
    return result;
}

// A probability's relative error, per row.
double probability_error(Problem const& p, double score_error, double unit) {
    return 2.0 * score_error + static_cast<double>(2 * p.keys() + 16) * unit + (p.dropout_mask ? kConstants : 0.0);
}

// The error of Stats after backward has converted them to natural logarithms and subtracted them from scores.
double stats_error(Precision const& precision, double stats) {
    return (4.0 * precision.unit + precision.stats_unit) * std::abs(stats);
}

// The floor of a factor that may be rounded before dropout's scale.
double dropped_floor_of(Problem const& p, Precision const& precision) {
    return precision.factor_floor * std::max(1.0, p.dropout_scale);
}

Array zeros_like(Array const& array) { return Array(array.dim[0], array.dim[1], array.dim[2], array.dim[3]); }

void add_storage_error(Array& errors, Array const& exact, DataType_t type) {
    for (std::size_t n = 0; n < errors.values.size(); ++n) {
        errors.values[n] += storage_error(type, std::abs(exact.values[n]) + errors.values[n]);
    }
}

// The error of a number after a quantization step, from its error before.
double narrowed_error(std::optional<Narrowing> const& narrow, double value, double error) {
    return narrow ? narrow->uncertainty(value, error) : error;
}

}  // namespace

double storage_error(DataType_t type, double value) {
    if (value == 0.0 || !std::isfinite(value)) return 0.0;
    double const magnitude = std::abs(value);
    switch (type) {
        case DataType_t::HALF: return magnitude * 0x1p-11 + 0x1p-25;
        case DataType_t::BFLOAT16: return magnitude * 0x1p-8 + 0x1p-133;
        case DataType_t::FP8_E4M3: return magnitude * roundoff(Fp8::E4m3) + half_step(Fp8::E4m3);
        case DataType_t::FP8_E5M2: return magnitude * roundoff(Fp8::E5m2) + half_step(Fp8::E5m2);
        default: return magnitude * 0x1p-24 + 0x1p-149;
    }
}

Forward allowed_error(Problem const& p, Forward const& exact, Precision const& precision) {
    Array const s = scores(p);
    Array const probability = probabilities(s, exact.stats);
    Array const score_error = score_errors(p, s, precision);
    Array const row = zeros_like(exact.stats);
    double const smallest = precision.smallest();
    double const dropped_floor = dropped_floor_of(p, precision);
    Forward allowed{zeros_like(exact.o), row, row, row};
    for_each_row(p, [&](auto b, auto h, auto i) {
        double const stats = exact.stats.at(b, h, i, 0), max = exact.max.at(b, h, i, 0);
        bool const has_scores = std::isfinite(stats);
        double const stored = has_scores ? precision.row_unit * (2.0 + std::abs(max)) : 0.0;
        double const relative = probability_error(p, score_error.at(b, h, i, 0), precision.unit) + stored;
        if (has_scores) {
            allowed.stats.at(b, h, i, 0) = relative + (2.0 * precision.unit + precision.stats_unit) * std::abs(stats);
            allowed.max.at(b, h, i, 0) = score_error.at(b, h, i, 0) + precision.unit * std::abs(max);
            allowed.sum_exp.at(b, h, i, 0) = relative * exact.sum_exp.at(b, h, i, 0);
        }
        for (std::int64_t j = 0; j < p.keys(); ++j) {
            double const keep = std::abs(p.dropout_at(b, h, i, j));
            double const weight = probability.at(b, h, i, j) * keep;
            if (probability.at(b, h, i, j) == 0.0 || weight == 0.0) continue;
            allowed.amax_s = std::max(allowed.amax_s, weight * relative + precision.smallest() * keep);
            double const before =
                narrowed_error(p.narrow_probability, probability.at(b, h, i, j) * p.dropout_at(b, h, i, j),
                               weight * relative + precision.smallest() * keep);
            double const rounding = precision.sum_unit(p.keys()) + precision.factor_unit;
            double const share = before + weight * rounding + dropped_floor;
            double* const o = allowed.o.row(b, h, i);
            double const* const v = p.v.row(b, p.v_head(h), j);
            for (std::int64_t d = 0; d < p.v.dim[3]; ++d) o[d] += share * std::abs(v[d]) + smallest;
        }
    });
    allowed.amax_o = greatest_magnitude(allowed.o);
    add_storage_error(allowed.o, exact.o, precision.io);
    add_storage_error(allowed.stats, exact.stats, DataType_t::FLOAT);
    add_storage_error(allowed.max, exact.max, DataType_t::FLOAT);
    add_storage_error(allowed.sum_exp, exact.sum_exp, DataType_t::FLOAT);
    return allowed;
}

// The error of -p_sink D, summed over rows.
static Array sink_errors(Problem const& p, Array const& o, Array const& stats, Array const& d_o,
                         Precision const& precision) {
    Array result(1, p.heads(), 1, 1);
    double const additions = static_cast<double>(p.batches() * p.queries()) + length(p.v.dim[3]) + 16.0;
    for_each_row(p, [&](auto b, auto h, auto i) {
        double const row = stats.at(b, h, i, 0), sink = p.sink_at(h);
        if (!std::isfinite(row) || !std::isfinite(sink) || p.is_past(b, i)) return;
        double const relative = precision.unit * (additions + 4.0 * (std::abs(row) + std::abs(sink))) +
                                precision.stats_unit * std::abs(row);
        double const flushed = precision.smallest() * static_cast<double>(p.v.dim[3]);
        result.at(0, h, 0, 0) +=
            std::exp(sink - row) * (relative * absolute_dot(d_o, h, i, o, h, i, b) + flushed) + precision.smallest();
    });
    return result;
}

// Amax is that of the gradients before they are stored.
static void store_gradients(Problem const& p, Backward const& exact, Precision const& precision, Backward& allowed) {
    allowed.amax_d_q = greatest_magnitude(allowed.d_q);
    allowed.amax_d_k = greatest_magnitude(allowed.d_k);
    allowed.amax_d_v = greatest_magnitude(allowed.d_v);
    add_storage_error(allowed.d_q, exact.d_q, precision.io);
    add_storage_error(allowed.d_k, exact.d_k, precision.io);
    add_storage_error(allowed.d_v, exact.d_v, precision.io);
    for (Array* const gradient : {&allowed.d_q, &allowed.d_k, &allowed.d_v}) {
        for (double& error : gradient->values) error += precision.parts_floor;
    }
    if (p.bias) add_storage_error(allowed.d_bias, exact.d_bias, precision.bias);
    if (p.sink) add_storage_error(allowed.d_sink, exact.d_sink, DataType_t::FLOAT);
}

Backward allowed_error(Problem const& p, Array const& o, Array const& stats, Array const& d_o, Backward const& exact,
                       Precision const& precision) {
    double const unit = precision.unit, smallest = precision.smallest();
    Array const s = scores(p);
    Array const probability = probabilities(s, stats);
    Array const score_error = score_errors(p, s, precision);
    Backward allowed{zeros_like(exact.d_q), zeros_like(exact.d_k), zeros_like(exact.d_v), zeros_like(exact.d_bias),
                     p.sink ? sink_errors(p, o, stats, d_o, precision) : Array()};
    double const of_keys = precision.sum_unit(p.queries() * (p.heads() / p.k.dim[1]));
    double const of_queries = precision.sum_unit(p.keys());
    double const of_values = precision.sum_unit(p.queries() * (p.heads() / p.v.dim[1]));
    double const rows_per_bias = p.bias ? static_cast<double>(s.values.size() / exact.d_bias.values.size() + 4) : 0.0;
    double const k_roundings = p.k.dim[1] < p.heads() ? 2.0 : 1.0, v_roundings = p.v.dim[1] < p.heads() ? 2.0 : 1.0;
    double const factor_unit = precision.factor_unit, factor_floor = precision.factor_floor;
    // A kernel may have applied the scale to the number that it flushes to zero.
    double const flushed = smallest / std::min(1.0, std::abs(p.scale));
    double const dropped_floor = dropped_floor_of(p, precision);
    for_each_row(p, [&](auto b, auto h, auto i) {
        double const row = stats.at(b, h, i, 0);
        double const relative = probability_error(p, score_error.at(b, h, i, 0), unit) + stats_error(precision, row);
        double const row_dot = absolute_dot(d_o, h, i, o, h, i, b);
        for (std::int64_t j = 0; j < p.keys(); ++j) {
            double const weight = probability.at(b, h, i, j);
            if (weight == 0.0) continue;
            double const keep = std::abs(p.dropout_at(b, h, i, j));
            // dS = P (dP - D), both sums of d_v products.
            double const difference = times(keep, absolute_dot(d_o, h, i, p.v, p.v_head(h), j, b)) + row_dot;
            double const d_score = weight * difference;
            double const d_score_error = d_score * (relative + precision.sum_unit(p.v.dim[3] + 4)) +
                                         (smallest + factor_floor) * difference + flushed;
            // P and dP are each rounded once, and dS after it has the scale, which is divided out again.
            if (p.bias)
                allowed.d_bias.at(b, h, i, j) += d_score_error + d_score * (unit + factor_unit) * rows_per_bias +
                                                 2.0 * dropped_floor + dropped_floor / std::min(1.0, std::abs(p.scale));
            double const wide_error = d_score_error + d_score * slope_error(p, score_error.at(b, h, i, 0), unit);
            allowed.amax_d_p = std::max(allowed.amax_d_p, std::abs(p.scale) * wide_error);
            // Below, the scale is part of the other factor.
            double const wide = p.narrow_gradient ? product_gradient(p, weight, o, d_o, {b, h, i, j}) : 0.0;
            double const d_product_error =
                narrowed_error(p.narrow_gradient, wide, std::abs(p.scale) * wide_error) / std::abs(p.scale);
            double const q_error = d_product_error + d_score * precision.gradient_unit;
            double const k_error = d_product_error + d_score * precision.gradient_unit * k_roundings;
            double const *const q_row = p.q.row(b, h, i), *const k_row = p.k.row(b, p.k_head(h), j);
            double *const d_q = allowed.d_q.row(b, h, i), *const d_k = allowed.d_k.row(b, p.k_head(h), j);
            for (std::int64_t d = 0; d < p.q.dim[3]; ++d) {
                double const q = std::abs(p.scale * q_row[d]), k = std::abs(p.scale * k_row[d]);
                // dS is rounded to the inputs' type with the scale applied.
                double const q_floor = precision.gradient_floor * std::abs(k_row[d]) + smallest;
                double const k_floor = precision.gradient_floor * (std::abs(q_row[d]) + 1.0) + smallest;
                d_q[d] += (q_error + d_score * of_queries) * k + q_floor;
                d_k[d] += (k_error + d_score * of_keys) * q + k_floor;
            }
            double const before = narrowed_error(p.narrow_probability, weight * p.dropout_at(b, h, i, j),
                                                 keep * (weight * relative + smallest));
            double const share = before + keep * weight * (of_values + factor_unit * v_roundings) + dropped_floor;
            bool const starts_sum = i == 0 || probability.at(b, h, i - 1, j) == 0.0;
            double const head_floor = starts_sum ? factor_floor : 0.0;  // for each query head's own sum
            double const* const d_o_row = d_o.row(b, h, i);
            double* const d_v = allowed.d_v.row(b, p.v_head(h), j);
            for (std::int64_t d = 0; d < p.v.dim[3]; ++d) {
                double const of_row = times(share, std::abs(d_o_row[d]));
                d_v[d] += of_row + smallest + head_floor;
            }
        }
    });
    store_gradients(p, exact, precision, allowed);
    return allowed;
}

}  // namespace oracle
