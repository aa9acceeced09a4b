// The gradient of a sink token. The options X and Y define the types of the elements of O and of its gradient.
#include <joints/sink_gradient_arguments.h>
#include <conversions.cuh>
#include <warp.cuh>

using cudnn_frontend::kernels::kSinkWarps;
using cudnn_frontend::kernels::RowsAccess;
using cudnn_frontend::kernels::SinkGradientArguments;

constexpr int kRowsAtOnce = 8;  // of a warp, so that it waits for memory once for all of them

template <class Element>
inline Element const* head_of(RowsAccess const& rows, long long batch, long long head) {
    long long start = batch;
    if (rows.offsets != nullptr) {
        start = rows.offset_bytes == 8 ? static_cast<long long const*>(rows.offsets)[batch]
                                       : static_cast<int const*>(rows.offsets)[batch];
    }
    return static_cast<Element const*>(rows.start) + start * rows.batch + head * rows.head;
}

inline bool is_minus_infinity(float x) { return x == -__uint_as_float(0x7f800000u); }

// The sink's share of a row's probabilities: 0 if the row's log-sum-exp or the sink is minus infinity.
inline float share_of_sink(float sink, float stats) {
    constexpr float kLog2OfE = 1.4426950408889634f;
    return is_minus_infinity(sink) || is_minus_infinity(stats) ? 0.0f : exp2f((sink - stats) * kLog2OfE);
}

// A warp's share of the sum, in all of its lanes. Which rows it has, and in which order it adds them up, depends on the
// problem alone, so that the bits are the same in every run.
template <class OfO, class OfGradient>
inline double sum_of_warp(SinkGradientArguments const& t, long long head, int warp) {
    float const sink = static_cast<float const*>(t.sink)[head * t.sink_head];
    double sum = 0;
    for (long long batch = 0; batch < t.batches; ++batch) {
        int const* const lengths = static_cast<int const*>(t.lengths);
        long long const rows = lengths == nullptr ? t.rows : lengths[batch * t.length_batch];
        float const* const stats = head_of<float>(t.stats, batch, head);
        OfO const* const o = head_of<OfO>(t.o, batch, head);
        OfGradient const* const d_o = head_of<OfGradient>(t.d_o, batch, head);
        for (long long first = warp * kRowsAtOnce; first < rows; first += kSinkWarps * kRowsAtOnce) {
            float dots[kRowsAtOnce] = {};
#pragma unroll 1
            for (long long column = lane_index(); column < t.columns; column += 32) {
#pragma unroll
                for (int i = 0; i < kRowsAtOnce; ++i) {
                    if (first + i >= rows) continue;
                    dots[i] += to_float(o[(first + i) * t.o.row + column * t.o.column]) *
                               to_float(d_o[(first + i) * t.d_o.row + column * t.d_o.column]);
                }
            }
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i) {
                for (int bits = 16; bits > 0; bits /= 2) dots[i] += from_lane_across(dots[i], bits);
                float const share = first + i < rows ? share_of_sink(sink, stats[(first + i) * t.stats.row]) : 0.0f;
                if (share != 0) sum += static_cast<double>(share) * static_cast<double>(dots[i]);
            }
        }
    }
    return sum;
}

// A block for each head.
template <class OfO, class OfGradient>
inline void sink_gradient(SinkGradientArguments const& arguments) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    double* const sums = reinterpret_cast<double*>(shared_memory);
    long long const head = blockIdx.x;
    int const warp = static_cast<int>(threadIdx.x / 32);
    double const sum = sum_of_warp<OfO, OfGradient>(arguments, head, warp);
    if (lane_index() == 0) sums[warp] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    double total = 0;
    for (int i = 0; i < kSinkWarps; ++i) total += sums[i];
    static_cast<float*>(arguments.gradient)[head * arguments.gradient_head] = static_cast<float>(-total);
}

extern "C" __global__ void __launch_bounds__(32 * kSinkWarps)
    sink_gradient(__grid_constant__ SinkGradientArguments const arguments) {
    sink_gradient<X, Y>(arguments);
}
