// Which keys are visible to which queries along one axis of neighborhood attention. Kernels for GPUs include this file,
// too, so that it must not include any header.
#pragma once

#ifdef __CUDACC__
#define SDPA_GRAPH_EVERYWHERE __host__ __device__
#else
#define SDPA_GRAPH_EVERYWHERE
#endif

namespace cudnn_frontend::neighborhood {

// Positions whose difference is no multiple of the dilation are never visible to each other. The others form a group,
// in which windows are as they would be without dilation: `kernel` positions around the query, fewer after it where the
// number is even, and pushed inwards at the ends; or, where the axis is causal, the query and up to kernel - 1 before
// it.
//
// Kernels count in 32 bits where these are enough.
template <class Integer>
struct AxisOf {
    using Number = Integer;

    Number length = 1;
    Number kernel = 1;
    Number dilation = 1;  // kernel * dilation is at most length
    bool is_causal = false;
};
using Axis = AxisOf<long long>;

// first, first + dilation, ...
template <class Number>
struct PositionsOf {
    Number first = 0;
    Number count = 0;
};
using Positions = PositionsOf<long long>;

// The number of positions in a group.
template <class Number>
SDPA_GRAPH_EVERYWHERE constexpr Number dilation_group_length(Number length, Number dilation, Number group) {
    return (length - group + dilation - 1) / dilation;
}
// The number of positions in the group of this one.
template <class Number>
SDPA_GRAPH_EVERYWHERE constexpr Number dilation_group_length(AxisOf<Number> const& axis,
                                                             typename AxisOf<Number>::Number position) {
    return dilation_group_length(axis.length, axis.dilation, position % axis.dilation);
}

// The keys that are visible to a query, in the order of their slots.
template <class Number>
SDPA_GRAPH_EVERYWHERE constexpr PositionsOf<Number> keys_of(AxisOf<Number> const& axis,
                                                            typename AxisOf<Number>::Number query) {
    Number const group = query % axis.dilation;
    Number const place = query / axis.dilation;
    Number first = place - (axis.is_causal ? axis.kernel - 1 : axis.kernel / 2);
    if (first < 0) first = 0;
    if (axis.is_causal) return {first * axis.dilation + group, place + 1 - first};
    Number const last_first = dilation_group_length(axis, query) - axis.kernel;
    if (first > last_first) first = last_first;
    return {first * axis.dilation + group, axis.kernel};
}

// The queries to which a key is visible.
template <class Number>
SDPA_GRAPH_EVERYWHERE constexpr PositionsOf<Number> queries_of(AxisOf<Number> const& axis,
                                                               typename AxisOf<Number>::Number key) {
    Number const group = key % axis.dilation;
    Number const place = key / axis.dilation;
    Number const length = dilation_group_length(axis, key);
    Number first = place, end = place + axis.kernel;
    if (!axis.is_causal) {
        Number const after = axis.kernel - 1 - axis.kernel / 2;
        first = place < axis.kernel ? 0 : place - after;
        end = place >= length - axis.kernel ? length : place + axis.kernel / 2 + 1;
    }
    if (end > length) end = length;
    return {first * axis.dilation + group, end - first};
}

// The index, in a relative position bias of 2 * kernel - 1 entries, for the first slot of a query; the next slots
// follow.
SDPA_GRAPH_EVERYWHERE constexpr long long first_bias_of(Axis const& axis, long long query) {
    return (keys_of(axis, query).first - query) / axis.dilation + axis.kernel - 1;
}

}  // namespace cudnn_frontend::neighborhood
