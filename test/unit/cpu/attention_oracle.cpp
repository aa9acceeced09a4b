#include "attention_oracle.h"

#include "cpu/philox.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attention_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t volume(Dims const& dim) { return static_cast<std::size_t>(dim[0] * dim[1] * dim[2] * dim[3]); }

std::size_t index(Dims const& dim, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    auto const wrap = [](std::int64_t at, std::int64_t size) { return size == 1 ? 0 : at; };
    std::int64_t const row = (wrap(b, dim[0]) * dim[1] + wrap(h, dim[1])) * dim[2] + wrap(i, dim[2]);
    return static_cast<std::size_t>(row * dim[3] + wrap(j, dim[3]));
}

double slope(std::int64_t head, std::int64_t heads) {
    std::int64_t power = 1;
    while (power * 2 <= heads) power *= 2;
    auto const n = static_cast<double>(power);
    if (head < power) return std::pow(2.0, -8.0 * static_cast<double>(head + 1) / n);
    return std::pow(2.0, -4.0 * static_cast<double>(2 * (head - power) + 1) / n);
}

// One query of one head: its scores, masks and dropout.
class Row {
   public:
    Row(Case const& test, Data const& data, std::int64_t b, std::int64_t h, std::int64_t i)
        : test_(test), data_(data), b_(b), h_(h), i_(i) {
        Sizes const& s = test.sizes;
        bool const padding = test.options.padding;
        queries_ = padding ? test.lengths_q[static_cast<std::size_t>(b)] : s.sq;
        keys_ = padding ? test.lengths_kv[static_cast<std::size_t>(b)] : s.skv;
        key_head = h / (s.hq / s.hk);
        value_head = h / (s.hq / s.hv);
    }

    bool sees(std::int64_t j) const {
        if (i_ >= queries_ || j >= keys_) return false;
        bool const bottom = test_.options.alignment == fe::DiagonalAlignment_t::BOTTOM_RIGHT;
        std::int64_t const diagonal = i_ + (bottom ? keys_ - queries_ : 0);
        auto const &left = test_.options.left_bound, &right = test_.options.right_bound;
        return !(right && j > diagonal + *right) && !(left && j <= diagonal - *left);
    }
    double score(std::int64_t j) const {
        if (!sees(j)) return -kInfinity;
        double dot = 0.0;
        for (std::int64_t d = 0; d < test_.sizes.dqk; ++d) {
            dot += data_.q.at(b_, h_, i_, d) * data_.k.at(b_, key_head, j, d);
        }
        double score = dot * scale(test_, data_);
        if (test_.has_bias) score += data_.bias.at(b_, h_, i_, j);
        if (test_.options.alibi) score += slope(h_, test_.sizes.hq) * static_cast<double>(j - i_);
        return score;
    }
    double mask(std::int64_t j) const {
        if (test_.dropout == Dropout::Mask) return data_.dropout_mask.at(b_, h_, i_, j);
        if (test_.dropout == Dropout::None) return 1.0;
        Sizes const& s = test_.sizes;
        fe::cpu::DropoutMask const generator(static_cast<std::int64_t>(data_.seed.at(0, 0, 0, 0)),
                                             static_cast<std::int64_t>(data_.offset.at(0, 0, 0, 0)),
                                             1.0 - *test_.options.dropout_probability, s.skv);
        return generator.keeps((b_ * s.hq + h_) * s.sq + i_, j) ? 1.0 : 0.0;
    }
    static double scale(Case const& test, Data const& data) {
        return test.scale_tensor ? data.scale.at(0, 0, 0, 0) : double{test.options.scale_value.value_or(1.0f)};
    }
    static double dropout_scale(Case const& test) {
        if (test.dropout == Dropout::Mask) return 1.25;
        return test.dropout == Dropout::Philox ? 1.0 / (1.0 - *test.options.dropout_probability) : 1.0;
    }

    std::int64_t key_head, value_head;

   private:
    Case const& test_;
    Data const& data_;
    std::int64_t b_, h_, i_, queries_, keys_;
};

template <class Visit>
void for_each_row(Sizes const& s, Visit visit) {
    for (std::int64_t b = 0; b < s.b; ++b) {
        for (std::int64_t h = 0; h < s.hq; ++h) {
            for (std::int64_t i = 0; i < s.sq; ++i) visit(b, h, i);
        }
    }
}

void forward_row(Case const& test, Data const& data, Row const& row, std::int64_t b, std::int64_t h, std::int64_t i,
                 ForwardNumbers& out) {
    Sizes const& s = test.sizes;
    std::vector<double> scores;
    for (std::int64_t j = 0; j < s.skv; ++j) scores.push_back(row.score(j));
    double const top = *std::max_element(scores.begin(), scores.end());
    if (top == -kInfinity) return;
    double sum = 0.0;
    for (double const score : scores) sum += std::exp(score - top);
    out.stats[index(data.stats.view.dim, b, h, i, 0)] = top + std::log(sum);
    for (std::int64_t j = 0; j < s.skv; ++j) {
        double const p = std::exp(scores[static_cast<std::size_t>(j)] - top) / sum;
        if (p == 0.0) continue;
        double const weight = p * row.mask(j) * Row::dropout_scale(test);
        for (std::int64_t d = 0; d < s.dv; ++d) {
            out.o[index(data.o.view.dim, b, h, i, d)] += weight * data.v.at(b, row.value_head, j, d);
        }
    }
}

// dS and P (with dropout) of one score.
struct ScoreGradient {
    double d_s, p;
};

ScoreGradient differentiate(Case const& test, Data const& data, Row const& row, std::int64_t b, std::int64_t h,
                            std::int64_t i, std::int64_t j) {
    double d_p = 0.0, dot = 0.0;
    for (std::int64_t d = 0; d < test.sizes.dv; ++d) {
        d_p += data.d_o.at(b, h, i, d) * data.v.at(b, row.value_head, j, d);
        dot += data.d_o.at(b, h, i, d) * data.o.at(b, h, i, d);
    }
    double const p = std::exp(row.score(j) - data.stats.at(b, h, i, 0));
    double const c = Row::dropout_scale(test), mask = row.mask(j);
    return {p * (d_p * mask * c - dot), p * mask * c};
}

}  // namespace

ForwardNumbers forward_oracle(Case const& test, Data const& data) {
    Sizes const& s = test.sizes;
    ForwardNumbers out{Numbers(volume(data.o.view.dim)), Numbers(volume(data.stats.view.dim), -kInfinity),
                       Numbers(volume(data.rng_dump.view.dim))};
    for_each_row(s, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        Row const row(test, data, b, h, i);
        forward_row(test, data, row, b, h, i, out);
        for (std::int64_t j = 0; j < s.skv; ++j)
            out.dropout_mask[index(data.rng_dump.view.dim, b, h, i, j)] = row.mask(j);
    });
    return out;
}

BackwardNumbers backward_oracle(Case const& test, Data const& data) {
    Sizes const& s = test.sizes;
    Dims const q = data.q.view.dim, k = data.k.view.dim, v = data.v.view.dim, bias = data.bias.view.dim;
    BackwardNumbers out{Numbers(volume(q)), Numbers(volume(k)), Numbers(volume(v)), Numbers(volume(bias))};
    double const scale = Row::scale(test, data);
    for_each_row(s, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        Row const row(test, data, b, h, i);
        for (std::int64_t j = 0; j < s.skv; ++j) {
            if (!row.sees(j)) continue;
            auto const [d_s, p] = differentiate(test, data, row, b, h, i, j);
            out.d_bias[index(bias, b, h, i, j)] += d_s;
            for (std::int64_t d = 0; d < s.dqk; ++d) {
                out.d_q[index(q, b, h, i, d)] += scale * d_s * data.k.at(b, row.key_head, j, d);
                out.d_k[index(k, b, row.key_head, j, d)] += scale * d_s * data.q.at(b, h, i, d);
            }
            for (std::int64_t d = 0; d < s.dv; ++d) {
                out.d_v[index(v, b, row.value_head, j, d)] += p * data.d_o.at(b, h, i, d);
            }
        }
    });
    return out;
}

}  // namespace attention_test
