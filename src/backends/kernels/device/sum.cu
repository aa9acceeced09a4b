// y = sum over i of x_i; operands: x, y, and y again if what it holds is added. Options define X and Y,
// the types of their elements, and INDEX, the type that counts steps.
#include <elements.cuh>

template <class From, class To, int COUNT, class Index>
inline void sum(KernelArguments const& arguments) {
    Place<Index, 3> const place(arguments);
    if (!place.is_inside) return;
    float total[COUNT] = {};
    if (arguments.operands[2].start != nullptr) {
        Vector<To, COUNT> before;
        before.load(place.template pointer<To>(arguments, 2));
        for (int i = 0; i < COUNT; ++i) total[i] = to_float(before.elements[i]);
    }
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
