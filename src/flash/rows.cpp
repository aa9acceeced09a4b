#include "flash/rows.h"

#include "calls/views.h"
#include "core/data_type.h"
#include "flash/memory.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdpa_graph::flash {
namespace {

using enum Argument;

float marked(float log_sum) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return log_sum == -kInfinity ? kInfinity : log_sum;
}

// Calls visit(row of the packed tensor) for the rows of all sequences.
template <class Visit>
void for_each_row(Call const& call, Lengths const& lengths, Visit const& visit) {
    auto const starts = integers_of(*call.at(CU_SEQLENS_Q));
    for (std::size_t n = 0; n < lengths.q.size(); ++n) {
        for (std::int64_t i = 0; i < lengths.q[n]; ++i) visit(starts[n] + i);
    }
}

float product_of_rows(Tensor_view const& a, std::int64_t at_a, Tensor_view const& b, std::int64_t at_b) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < a.dim.back(); ++c)
        sum += fe::core::load(a.type, a.data, at_a + c) * fe::core::load(b.type, b.data, at_b + c);
    return static_cast<float>(sum);
}

}  // namespace

void mark_rows_without_keys(Tensor_view const& log_sums) {
    auto* const values = static_cast<float*>(log_sums.data);
    std::transform(values, values + calls::elements_of(log_sums), values, marked);
}

void spread_log_sums(Call const& call, Lengths const& lengths, float const* rows, Tensor_view const& log_sums) {
    std::int64_t const heads = log_sums.dim[0], total = log_sums.dim[1];
    auto* const values = static_cast<float*>(log_sums.data);
    for_each_row(call, lengths, [&](std::int64_t row) {
        for (std::int64_t h = 0; h < heads; ++h) values[h * total + row] = marked(rows[row * heads + h]);
    });
}

void gather_log_sums(Call const& call, Lengths const& lengths, Tensor_view const& log_sums, float* rows) {
    std::int64_t const heads = log_sums.dim[0], total = log_sums.dim[1];
    auto const* const values = static_cast<float const*>(log_sums.data);
    for_each_row(call, lengths, [&](std::int64_t row) {
        for (std::int64_t h = 0; h < heads; ++h) rows[row * heads + h] = values[h * total + row];
    });
}

void write_softmax_d(Call const& call, Lengths const* lengths, Tensor_view const& softmax_d) {
    constexpr std::int64_t kPaddingOfSequence = 128;
    Tensor_view const &dout = *call.at(DOUT), &out = *call.at(OUT);
    float const kept = 1.0f - call.p_dropout;
    auto* const values = static_cast<float*>(softmax_d.data);
    if (lengths == nullptr) {
        std::int64_t const heads = dout.dim[2], padded = softmax_d.dim[2];
        for (std::int64_t n = 0; n < dout.dim[0]; ++n)
            for (std::int64_t h = 0; h < heads; ++h)
                for (std::int64_t i = 0; i < dout.dim[1]; ++i) {
                    auto const at = [&](auto const& stride) { return n * stride[0] + i * stride[1] + h * stride[2]; };
                    values[(n * heads + h) * padded + i] =
                        kept * product_of_rows(dout, at(dout.stride), out, at(out.stride));
                }
        return;
    }
    auto const starts = integers_of(*call.at(CU_SEQLENS_Q));
    for (std::size_t n = 0; n < lengths->q.size(); ++n)
        for (std::int64_t h = 0; h < dout.dim[1]; ++h)
            for (std::int64_t i = 0; i < lengths->q[n]; ++i) {
                std::int64_t const row = starts[n] + i;
                auto const at = [&](auto const& stride) { return row * stride[0] + h * stride[1]; };
                values[h * softmax_d.dim[1] + row + kPaddingOfSequence * static_cast<std::int64_t>(n)] =
                    kept * product_of_rows(dout, at(dout.stride), out, at(out.stride));
            }
}

void write_signed(Tensor_view const& p, void const* probabilities, float const* kept, std::int64_t queries,
                  std::int64_t keys) {
    fill_zeros(p);
    std::int64_t const matrices = p.dim[0] * p.dim[1], rows = std::min(queries, p.dim[2]);
    for (std::int64_t m = 0; m < matrices; ++m)
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < std::min(keys, p.dim[3]); ++j) {
                std::int64_t const from = (m * queries + i) * keys + j;
                double const value = fe::core::load(p.type, probabilities, from);
                fe::core::store(p.type, p.data, (m * p.dim[2] + i) * p.dim[3] + j,
                                std::copysign(value, kept[from] != 0.0f ? 1.0 : -1.0));
            }
}

}  // namespace sdpa_graph::flash
