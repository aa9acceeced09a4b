// The gradient of the sink token. One thread sums each head, in a fixed order.
#include "core/threads.h"
#include "cpu/attention/attention_backward.h"
#include "cpu/attention/attention_tile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

// The dot product of dO and O for one query.
double row_dot(AttentionTensors const& tensors, std::int64_t b, std::int64_t h, std::int64_t i) {
    constexpr std::int64_t kPiece = 64;
    std::array<float, kPiece> d_o, o;
    double sum = 0.0;
    for (std::int64_t d = 0; d < tensors[Port::O].dim[3]; d += kPiece) {
        std::int64_t const count = std::min(kPiece, tensors[Port::O].dim[3] - d);
        load_tile(slice_of(tensors[Port::DO], b, h, i, d), {d_o.data(), kPiece, 1, count}, count);
        load_tile(slice_of(tensors[Port::O], b, h, i, d), {o.data(), kPiece, 1, count}, count);
        for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) sum += double{d_o[n]} * double{o[n]};
    }
    return sum;
}

// The sink's probability in a row; 0 for a row without keys whose sink is -inf.
double sink_probability(double sink, double log_sum) {
    return log_sum == -std::numeric_limits<double>::infinity() ? 0.0 : std::exp(sink - log_sum);
}

}  // namespace

void store_sink_gradients(BackwardRun const& run, AttentionProblem const& problem, int threads) {
    DataView const &d_sink = run.tensors[Port::DSinkToken], &stats = run.tensors[Port::Stats];
    if (!d_sink) return;
    core::parallel_for(threads, run.shape.heads, [&](int, std::int64_t h) {
        double const sink = double{problem.sink_of(h)};
        double sum = 0.0;
        for (std::int64_t b = 0; b < run.shape.batches; ++b) {
            std::int64_t const queries = problem.sequence(b).queries;
            for (std::int64_t i = 0; i < queries; ++i) {
                double const log_sum = core::load(stats.type, stats.data, stats.at(b, h, i, 0));
                double const probability = sink_probability(sink, log_sum * double{problem.log_of_base});
                if (probability != 0.0) sum -= probability * row_dot(run.tensors, b, h, i);
            }
        }
        core::store(d_sink.type, d_sink.data, d_sink.at(0, h, 0, 0), sum);
    });
}

}  // namespace cudnn_frontend::cpu
