// Lengths of rows and of parts of the keys, by {batch, chunk}; operands: queries, keys, rows, part_keys. The arguments'
// numbers are the group, the chunk, the first query, the most queries and the first key. The option INDEX defines the
// type that counts.
#include <joints/strided_place.cuh>

inline long long from_0_to(long long most, long long number) { return number < 0 ? 0 : number > most ? most : number; }

template <class Index>
inline void split_lengths(KernelArguments const& arguments) {
    StridedPlace<Index, 4> const place(arguments);
    if (!place.is_inside) return;
    long long const group = arguments.numbers[0], chunk = arguments.numbers[1], first_key = arguments.numbers[4];
    long long const queries =
        from_0_to(arguments.numbers[3], *place.template pointer<int const>(arguments, 0) - arguments.numbers[2]);
    long long const keys =
        from_0_to(chunk, *place.template pointer<int const>(arguments, 1) - first_key - place.column * chunk);
    bool const is_empty = queries == 0 || keys == 0;
    *place.template pointer<int>(arguments, 2) = static_cast<int>(is_empty ? 0 : queries * group);
    *place.template pointer<int>(arguments, 3) = static_cast<int>(is_empty ? 0 : keys);
}

extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    split_lengths_elements(__grid_constant__ KernelArguments const arguments) {
    split_lengths<INDEX>(arguments);
}
