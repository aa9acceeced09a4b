// y = sum over i of x_i; operands: x, y. Options define X and Y, the types of their elements, and
// INDEX, the type that counts steps.
#include <elements.cuh>

template <class From, class To, int COUNT, class Index>
inline void sum(KernelArguments const& arguments) {
    Place<Index, 2> const place(arguments);
    if (!place.is_inside) return;
    float total[COUNT] = {};
    for_each_part<From, COUNT>(place.template pointer<From>(arguments, 0), arguments.operands[0].part_stride,
                               arguments.parts, [&](long long, From const(&x)[COUNT]) {
                                   for (int i = 0; i < COUNT; ++i) total[i] += to_float(x[i]);
                               });
    store(place.template pointer<To>(arguments, 1), total);
}

extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    sum_vectors(__grid_constant__ KernelArguments const arguments) {
    sum<X, Y, 16 / sizeof(X), INDEX>(arguments);
}
extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    sum_elements(__grid_constant__ KernelArguments const arguments) {
    sum<X, Y, 1, INDEX>(arguments);
}
