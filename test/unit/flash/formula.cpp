#include "formula.h"

#include <cmath>
#include <limits>

namespace flash_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The steps by which the functions read their arguments, in their order.
struct Band {
    std::int64_t left, right;
    bool is_causal_kernel;
};

Band band_of(Masking const& m) {
    bool causal = m.is_causal;
    std::int64_t left = m.left, right = m.right;
    auto const drop_wide_windows = [&] {
        if (left >= m.keys) left = -1;
        if (right >= m.keys) right = -1;
    };
    auto const drop_causal_of_one = [&] {
        if (m.queries == 1 && !m.has_slopes) causal = false;
    };
    if (m.function == Function::MhaFwd) {
        drop_wide_windows();
        drop_causal_of_one();
        if (causal) right = 0;
    } else {
        drop_causal_of_one();
        if (causal) right = 0;
        drop_wide_windows();
    }
    bool const is_causal_kernel = left < 0 && right == 0;
    if (left < 0 && right >= 0) left = m.keys;
    if (right < 0 && left >= 0) right = m.keys;
    return {left, right, is_causal_kernel};
}

double dot(std::vector<double> const& a, std::int64_t i, std::vector<double> const& b, std::int64_t j,
           std::int64_t width) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < width; ++c)
        sum += a[static_cast<std::size_t>(i * width + c)] * b[static_cast<std::size_t>(j * width + c)];
    return sum;
}

void add_row(std::vector<double>& to, std::int64_t i, double factor, std::vector<double> const& from, std::int64_t j,
             std::int64_t width) {
    for (std::int64_t c = 0; c < width; ++c)
        to[static_cast<std::size_t>(i * width + c)] += factor * from[static_cast<std::size_t>(j * width + c)];
}

struct Row {
    std::vector<double> scores, slopes_of_cap;  // the latter: 1 - tanh^2
};

Row row_of(Formula const& f, Band const& band, std::int64_t i) {
    Row row;
    std::int64_t const shift = f.keys - f.queries;
    for (std::int64_t j = 0; j < f.keys; ++j) {
        double x = f.scale * dot(f.q, i, f.k, j, f.width), slope_of_cap = 1.0;
        if (f.softcap > 0.0) {
            double const t = std::tanh(x / f.softcap);
            x = f.softcap * t;
            slope_of_cap = 1.0 - t * t;
        }
        auto const distance = static_cast<double>(std::abs(i + shift - j));
        if (f.masking.has_slopes) x += band.is_causal_kernel ? f.slope * static_cast<double>(j) : -f.slope * distance;
        bool const is_kept =
            (band.right < 0 || j <= i + shift + band.right) && (band.left < 0 || j >= i + shift - band.left);
        row.scores.push_back(is_kept ? x : -kInfinity);
        row.slopes_of_cap.push_back(slope_of_cap);
    }
    return row;
}

double log_sum_of(std::vector<double> const& scores) {
    double most = -kInfinity, sum = 0.0;
    for (double const x : scores) most = std::max(most, x);
    if (most == -kInfinity) return kInfinity;
    for (double const x : scores) sum += std::exp(x - most);
    return most + std::log(sum);
}

void add_gradients(Formula const& f, Row const& row, std::int64_t i, Answer& answer) {
    double const factor = 1.0 / (1.0 - f.p_dropout);
    double const sum = dot(f.dout, i, answer.out, i, f.width);
    answer.softmax_d.push_back((1.0 - f.p_dropout) * sum);
    for (std::int64_t j = 0; j < f.keys; ++j) {
        auto const at = static_cast<std::size_t>(i * f.keys + j);
        double const p = answer.probabilities[at];
        double const kept = f.kept.empty() || f.kept[at] ? factor : 0.0;
        double const dp = kept * dot(f.dout, i, f.v, j, f.width);
        double const ds = p * (dp - sum) * row.slopes_of_cap[static_cast<std::size_t>(j)];
        add_row(answer.dv, j, kept * p, f.dout, i, f.width);
        add_row(answer.dq, i, f.scale * ds, f.k, j, f.width);
        add_row(answer.dk, j, f.scale * ds, f.q, i, f.width);
    }
}

}  // namespace

Answer evaluate(Formula const& f) {
    Answer answer;
    Band const band = band_of(f.masking);
    answer.out.assign(f.q.size(), 0.0);
    answer.dq.assign(f.q.size(), 0.0);
    answer.dk.assign(f.k.size(), 0.0);
    answer.dv.assign(f.v.size(), 0.0);
    for (std::int64_t i = 0; i < f.queries; ++i) {
        Row const row = row_of(f, band, i);
        double const log_sum = log_sum_of(row.scores);
        answer.log_sums.push_back(log_sum);
        for (std::int64_t j = 0; j < f.keys; ++j) {
            double const p = std::exp(row.scores[static_cast<std::size_t>(j)] - log_sum);
            answer.probabilities.push_back(p);
            bool const is_kept = f.kept.empty() || f.kept[static_cast<std::size_t>(i * f.keys + j)];
            if (is_kept) add_row(answer.out, i, p / (1.0 - f.p_dropout), f.v, j, f.width);
        }
        if (!f.dout.empty()) add_gradients(f, row, i, answer);
    }
    return answer;
}

}  // namespace flash_test
