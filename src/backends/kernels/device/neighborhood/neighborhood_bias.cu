// The gradient of the relative position bias, a warp for each of its entries: the sum of the slots of all keys at the
// entry's distance from their queries; tensors: Slots, BiasGradient. The option X defines the type of the elements.
#include <neighborhood/neighborhood_entries.cuh>

using namespace cudnn_frontend::kernels;

template <class Element>
inline void neighborhood_bias(NeighborhoodArguments const& arguments) {
    NeighborhoodAccess const& slots = arguments.tensors[NeighborhoodTensor::Slots];
    sum_for_entry<Element>(arguments, [&](Token const& query, Token const&, long long slot) {
        return to_float(row_of<Element const>(slots, query)[slot * slots.column]);
    });
}

extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps)
    neighborhood_bias(__grid_constant__ NeighborhoodArguments const arguments) {
    neighborhood_bias<X>(arguments);
}
