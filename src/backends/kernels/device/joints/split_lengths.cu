// Lengths of rows and of parts of the keys, by {batch, chunk}; operands: queries, keys, rows, part_keys. The arguments'
// numbers are the group and the chunk. The option INDEX defines the type that counts.
#include <joints/strided_place.cuh>

template <class Index>
inline void split_lengths(KernelArguments const& arguments) {
    StridedPlace<Index, 4> const place(arguments);
    if (!place.is_inside) return;
    int const queries = *place.template pointer<int const>(arguments, 0);
    long long const group = arguments.numbers[0], chunk = arguments.numbers[1];
    long long const rest = *place.template pointer<int const>(arguments, 1) - place.column * chunk;
    long long const keys = rest < 0 ? 0 : rest > chunk ? chunk : rest;
    bool const is_empty = queries == 0 || keys == 0;
    *place.template pointer<int>(arguments, 2) = static_cast<int>(is_empty ? 0 : queries * group);
    *place.template pointer<int>(arguments, 3) = static_cast<int>(is_empty ? 0 : keys);
}

extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    split_lengths_elements(__grid_constant__ KernelArguments const arguments) {
    split_lengths<INDEX>(arguments);
}
