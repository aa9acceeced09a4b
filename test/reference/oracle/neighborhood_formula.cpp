#include "reference/oracle/neighborhood_formula.h"

#include <cmath>
#include <cstddef>
#include <limits>

namespace neighborhood_formula {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Computed from the key's side, as the inverse of the window that the library starts from.
bool sees(Axis const& axis, std::int64_t query, std::int64_t key) {
    std::int64_t const span = axis.kernel * axis.dilation;
    if ((query - key) % axis.dilation != 0) return false;
    if (axis.is_causal) return query >= key && query < key + span;
    std::int64_t const left = axis.kernel / 2, right = axis.kernel - 1 - left;
    bool const is_early_enough = key >= axis.length - span || query < key + (left + 1) * axis.dilation;
    bool const is_late_enough = key < span || query >= key - right * axis.dilation;
    return is_early_enough && is_late_enough;
}

// The keys along the last of the axes, in order, behind each of those along the axes before.
void extend(std::vector<Seen>& seen, Axis const& axis, std::int64_t query) {
    std::vector<Seen> longer;
    for (Seen const& before : seen) {
        std::int64_t slot = 0;
        for (std::int64_t key = 0; key < axis.length; ++key) {
            if (!sees(axis, query, key)) continue;
            longer.push_back({before.key * axis.length + key, before.slot * axis.kernel + slot++,
                              before.bias * (2 * axis.kernel - 1) + (key - query) / axis.dilation + axis.kernel - 1});
        }
    }
    seen = longer;
}

double dot(Numbers const& a, std::int64_t row_a, Numbers const& b, std::int64_t row_b, std::int64_t width) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < width; ++c) sum += a[at(row_a * width + c)] * b[at(row_b * width + c)];
    return sum;
}

void add(Numbers& to, std::int64_t row_to, double factor, Numbers const& from, std::int64_t row_from,
         std::int64_t width) {
    for (std::int64_t c = 0; c < width; ++c) to[at(row_to * width + c)] += factor * from[at(row_from * width + c)];
}

double score(Head const& head, std::int64_t query, Seen const& seen, double scale) {
    double const bias = head.bias.empty() ? 0.0 : head.bias[at(seen.bias)];
    return scale * dot(head.q, query, head.k, seen.key, head.width) + bias;
}

Numbers zeros(std::int64_t rows, std::int64_t columns) { return Numbers(at(rows * columns), 0.0); }

}  // namespace

std::int64_t Head::tokens() const {
    std::int64_t product = 1;
    for (Axis const& axis : axes) product *= axis.length;
    return product;
}

std::int64_t Head::slots() const {
    std::int64_t product = 1;
    for (Axis const& axis : axes) product *= axis.kernel;
    return product;
}

std::int64_t Head::bias_entries() const {
    std::int64_t product = 1;
    for (Axis const& axis : axes) product *= 2 * axis.kernel - 1;
    return product;
}

std::vector<Seen> keys_of(std::vector<Axis> const& axes, std::int64_t query) {
    std::vector<std::int64_t> places(axes.size());
    for (std::size_t a = axes.size(); a-- > 0; query /= axes[a].length) places[a] = query % axes[a].length;
    std::vector<Seen> seen{{0, 0, 0}};
    for (std::size_t a = 0; a < axes.size(); ++a) extend(seen, axes[a], places[a]);
    return seen;
}

Forward fused_forward(Head const& head) {
    Forward result{zeros(head.tokens(), head.width), zeros(head.tokens(), 1)};
    for (std::int64_t query = 0; query < head.tokens(); ++query) {
        auto const window = keys_of(head.axes, query);
        double greatest = -std::numeric_limits<double>::infinity(), sum = 0.0;
        for (Seen const& seen : window) greatest = std::fmax(greatest, score(head, query, seen, head.scale));
        result.stats[at(query)] = greatest;
        if (greatest == -std::numeric_limits<double>::infinity()) continue;  // the bias masks all keys
        for (Seen const& seen : window) sum += std::exp(score(head, query, seen, head.scale) - greatest);
        double const log_sum = result.stats[at(query)] = greatest + std::log(sum);
        for (Seen const& seen : window) {
            double const weight = std::exp(score(head, query, seen, head.scale) - log_sum);
            add(result.o, query, weight, head.v, seen.key, head.width);
        }
    }
    return result;
}

Gradients fused_backward(Head const& head, Numbers const& o, Numbers const& stats, Numbers const& d_o) {
    Numbers const none = zeros(head.tokens(), head.width);
    Gradients result{none, none, none, zeros(head.bias.empty() ? 0 : head.bias_entries(), 1), {}};
    for (std::int64_t query = 0; query < head.tokens(); ++query) {
        double const delta = dot(d_o, query, o, query, head.width);
        for (Seen const& seen : keys_of(head.axes, query)) {
            if (score(head, query, seen, head.scale) == -std::numeric_limits<double>::infinity()) continue;
            double const weight = std::exp(score(head, query, seen, head.scale) - stats[at(query)]);
            double const d_score = weight * (dot(d_o, query, head.v, seen.key, head.width) - delta);
            add(result.q, query, head.scale * d_score, head.k, seen.key, head.width);
            add(result.k, seen.key, head.scale * d_score, head.q, query, head.width);
            add(result.v, seen.key, weight, d_o, query, head.width);
            if (!head.bias.empty()) result.bias[at(seen.bias)] += d_score;
        }
    }
    return result;
}

Numbers qk_forward(Head const& head) {
    Numbers attn(at(head.tokens() * head.slots()), -std::numeric_limits<double>::infinity());
    for (std::int64_t query = 0; query < head.tokens(); ++query)
        for (Seen const& seen : keys_of(head.axes, query))
            attn[at(query * head.slots() + seen.slot)] = score(head, query, seen, 1.0);
    return attn;
}

Gradients qk_backward(Head const& head, Numbers const& d_attn) {
    Numbers const none = zeros(head.tokens(), head.width);
    Gradients result{none, none, {}, zeros(head.bias_entries(), 1), {}};
    for (std::int64_t query = 0; query < head.tokens(); ++query) {
        for (Seen const& seen : keys_of(head.axes, query)) {
            double const gradient = d_attn[at(query * head.slots() + seen.slot)];
            add(result.q, query, gradient, head.k, seen.key, head.width);
            add(result.k, seen.key, gradient, head.q, query, head.width);
            result.bias[at(seen.bias)] += gradient;
        }
    }
    return result;
}

Numbers av_forward(Head const& head, Numbers const& attn) {
    Numbers o = zeros(head.tokens(), head.width);
    for (std::int64_t query = 0; query < head.tokens(); ++query)
        for (Seen const& seen : keys_of(head.axes, query))
            add(o, query, attn[at(query * head.slots() + seen.slot)], head.v, seen.key, head.width);
    return o;
}

Gradients av_backward(Head const& head, Numbers const& attn, Numbers const& d_o) {
    Gradients result{{}, {}, zeros(head.tokens(), head.width), {}, zeros(head.tokens(), head.slots())};
    for (std::int64_t query = 0; query < head.tokens(); ++query) {
        for (Seen const& seen : keys_of(head.axes, query)) {
            std::int64_t const slot = query * head.slots() + seen.slot;
            result.attn[at(slot)] = dot(d_o, query, head.v, seen.key, head.width);
            add(result.v, seen.key, attn[at(slot)], d_o, query, head.width);
        }
    }
    return result;
}

}  // namespace neighborhood_formula
