// The gradient of the relative position bias, a warp for each of its entries: the sum of the slots of all keys that lie
// as the entry says from their queries; tensors: Slots, BiasGradient. The option X defines the type of the elements.
#include <neighborhood_tokens.cuh>

using namespace cudnn_frontend::kernels;

// The slot of the key that lies `distance` positions on along an axis; negative if the query does not see it.
inline long long slot_along(Axis const& axis, long long query, long long distance) {
    Positions const keys = keys_of(axis, query);
    long long const behind_first = query + distance - keys.first;
    long long const slot = behind_first / axis.dilation;
    return behind_first >= 0 && slot < keys.count ? slot : -1;
}

template <class Element>
inline void neighborhood_bias(NeighborhoodArguments const& arguments) {
    NeighborhoodAccess const& slots = arguments.tensors[kSlots];
    long long index = token_index();
    Token entry{};
    long long entries = arguments.heads;
    for (int axis = kMostAxes; axis-- > 0;) {
        long long const count = 2 * arguments.axes[axis].kernel - 1;
        entry.at[axis] = index % count;
        index /= count;
        entries *= count;
    }
    if (token_index() >= entries) return;
    entry.head = index;
    long long const tokens = tokens_of(arguments) / arguments.heads;
    float sum = 0;
    for (long long number = lane_index(); number < tokens; number += kLanes) {
        // All heads but the entry's are left out.
        long long const of_space = tokens / arguments.batches;
        Token query = token_of(arguments, number % of_space);
        query.head = entry.head;
        query.batch = number / of_space;
        long long slot = 0;
        bool is_seen = true;
        for (int axis = 0; axis < kMostAxes; ++axis) {
            Axis const& along = arguments.axes[axis];
            long long const at =
                slot_along(along, query.at[axis], (entry.at[axis] - along.kernel + 1) * along.dilation);
            is_seen = is_seen && at >= 0;
            slot = slot * along.kernel + at;
        }
        if (is_seen) sum += to_float(row_of<Element const>(slots, query)[slot * slots.column]);
    }
    sum = sum_of_lanes(sum);
    if (lane_index() == 0) assign(*row_of<Element>(arguments.tensors[kBiasGradient], entry), sum);
}

extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps)
    neighborhood_bias(__grid_constant__ NeighborhoodArguments const arguments) {
    neighborhood_bias<X>(arguments);
}
