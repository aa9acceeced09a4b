// Sums for the entries of a relative position bias, a warp for each: over all pairs of a query and a key that is
// visible to it and at the entry's distance from it.
#pragma once

#include <neighborhood/neighborhood_tokens.cuh>

// The slot of the key that is `distance` positions further along an axis; negative if it is not visible to the query.
inline long long slot_along(Axis const& axis, long long query, long long distance) {
    Positions const keys = keys_of(axis, query);
    long long const behind_first = query + distance - keys.first;
    long long const slot = behind_first / axis.dilation;
    return behind_first >= 0 && slot < keys.count ? slot : -1;
}

// Stores the sum of of_pair(query, key, slot of the key).
template <class Element, class OfPair>
inline void sum_for_entry(NeighborhoodArguments const& arguments, OfPair const& of_pair) {
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
    long long const tokens = tokens_of(arguments) / arguments.heads, of_space = tokens / arguments.batches;
    float sum = 0;
    for (long long number = lane_index(); number < tokens; number += kLanes) {
        Token query = token_of(arguments, number % of_space);
        query.head = entry.head;  // tokens of other heads are left out
        query.batch = number / of_space;
        Token key = query;
        long long slot = 0;
        bool is_seen = true;
        for (int axis = 0; axis < kMostAxes; ++axis) {
            Axis const& along = arguments.axes[axis];
            long long const distance = (entry.at[axis] - along.kernel + 1) * along.dilation;
            long long const at = slot_along(along, query.at[axis], distance);
            key.at[axis] += distance;
            is_seen = is_seen && at >= 0;
            slot = slot * along.kernel + at;
        }
        if (is_seen) sum += of_pair(query, key, slot);
    }
    sum = sum_of_lanes(sum);
    NeighborhoodAccess const& result = arguments.tensors[cudnn_frontend::kernels::NeighborhoodTensor::BiasGradient];
    if (lane_index() == 0) assign(*row_of<Element>(result, entry), sum);
}
