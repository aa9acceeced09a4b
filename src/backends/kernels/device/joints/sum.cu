// y = sum over i of x_i; operands: x, y, and y again if its elements are added too. Options define X and Y, the types
// of their elements, and INDEX, the type that counts.
#include <joints/strided_place.cuh>

template <class From, class To, int COUNT, int RUNS, class Index>
inline void sum(KernelArguments const& arguments) {
    StridedPlace<Index, 3> const place(arguments);
    if (!place.is_inside) return;
    float total[COUNT] = {};
    if (arguments.operands[2].start != nullptr) {
        Vector<To, COUNT, RUNS> before;
        before.load(place.template pointer<To>(arguments, 2), arguments.pair_distance);
        for (int i = 0; i < COUNT; ++i) total[i] = before[i];
    }
    auto const* x = place.template pointer<From>(arguments, 0);
    auto const parts = static_cast<Index>(arguments.parts);
    constexpr int kPartsAtOnce = kLoadsAtOnce / RUNS;
#pragma unroll 1
    for (Index start = 0; start < parts; start += kPartsAtOnce) {
        Vector<From, COUNT, RUNS> loaded[kPartsAtOnce];
#pragma unroll
        for (int i = 0; i < kPartsAtOnce; ++i) {
            if (start + i >= parts) continue;
            loaded[i].load(x, arguments.pair_distance);
            x += arguments.operands[0].part_stride;
        }
#pragma unroll
        for (int i = 0; i < kPartsAtOnce; ++i) {
            if (start + i >= parts) continue;
            for (int k = 0; k < COUNT; ++k) total[k] += loaded[i][k];
        }
    }
    Vector<To, COUNT, RUNS> result;
    result.assign(total);
    result.store(place.template pointer<To>(arguments, 1), arguments.pair_distance);
}

extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    sum_elements(__grid_constant__ KernelArguments const arguments) {
    sum<X, Y, 1, 1, INDEX>(arguments);
}
extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    sum_vectors(__grid_constant__ KernelArguments const arguments) {
    sum<X, Y, kVectorBytes / sizeof(X), 1, INDEX>(arguments);
}
extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    sum_pairs(__grid_constant__ KernelArguments const arguments) {
    sum<X, Y, 2 * kVectorBytes / sizeof(X), 2, INDEX>(arguments);
}
