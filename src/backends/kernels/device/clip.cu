// y = x - column * chunk, clipped to what lies between 0 and the chunk; operands: x, y. The chunk is the arguments'
// number. Options define X and Y, the types of their elements, and INDEX, the type that counts steps.
#include <elements.cuh>

inline void clip(KernelArguments const& arguments) {
    Place<INDEX, 2> const place(arguments);
    if (!place.is_inside) return;
    long long const chunk = arguments.number;
    long long const rest = *place.pointer<X>(arguments, 0) - place.column * chunk;
    *place.pointer<Y>(arguments, 1) = static_cast<Y>(rest < 0 ? 0 : rest > chunk ? chunk : rest);
}

extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    clip_vectors(__grid_constant__ KernelArguments const arguments) {
    clip(arguments);
}
extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    clip_elements(__grid_constant__ KernelArguments const arguments) {
    clip(arguments);
}
