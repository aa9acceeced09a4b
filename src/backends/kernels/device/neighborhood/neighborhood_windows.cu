// Products that windows relate, a warp for each token; tensors: Queries, Keys and Slots, each of which is computed from
// the other two, and Bias, which may be missing and is added to Slots. BiasGradient sums Slots. Options define X, the
// type of the elements, and LANE_COLUMNS, the number of columns that a lane has at once.
#include <neighborhood/neighborhood_tokens.cuh>

using namespace cudnn_frontend::kernels;

// The bias of the first slot of a window. Those of the other slots follow it.
inline Token first_bias_of(NeighborhoodArguments const& arguments, Token const& query) {
    Token entry = query;
    entry.batch = 0;
    for (int axis = 0; axis < kMostAxes; ++axis) {
        entry.at[axis] = cudnn_frontend::neighborhood::first_bias_of(arguments.axes[axis], query.at[axis]);
    }
    return entry;
}

template <class Element>
inline float bias_of(NeighborhoodArguments const& arguments, Token entry, unsigned slot) {
    NeighborhoodAccess const& bias = arguments.tensors[NeighborhoodTensor::Bias];
    if (bias.start == nullptr) return 0;
    for (int axis = kMostAxes; axis-- > 0;) {
        unsigned const kernel = static_cast<unsigned>(arguments.axes[axis].kernel);
        entry.at[axis] += slot % kernel;
        slot /= kernel;
    }
    return to_float(*row_of<Element const>(bias, entry));
}

template <class Element>
inline void window_slots(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const query = token_of(arguments, index);
    KeyWindow const window(arguments, query);
    Token const first_bias = first_bias_of(arguments, query);
    NeighborhoodAccess const* const tensors = arguments.tensors;
    Element* const row = row_of<Element>(tensors[NeighborhoodTensor::Slots], query);
    for (unsigned slot = lane_index(); slot < window.count(); slot += kLanes) {
        VisibleToken const key = window[slot];
        float product = arguments.without_key;
        if (key.is_there) {
            product = arguments.scale * dot<Element>(arguments, tensors[NeighborhoodTensor::Queries], query,
                                                     tensors[NeighborhoodTensor::Keys], key.token) +
                      bias_of<Element>(arguments, first_bias, slot);
        }
        assign(row[slot * tensors[NeighborhoodTensor::Slots].column], product);
    }
}

// Sums rows of the keys that are visible to the token, or of the queries that see it, each times its weight.
template <class Element, int COUNT, class AnyWindow, class WeightOf>
inline void sum_rows(NeighborhoodArguments const& arguments, Token const& token, AnyWindow const& window,
                     NeighborhoodAccess const& rows, NeighborhoodAccess const& result, WeightOf const& weight_of) {
    for (int first = 0; first < arguments.columns; first += kLanes * COUNT) {
        Columns<COUNT> sums;
        for (unsigned start = 0; start < window.count(); start += kLanes) {
            VisibleToken const visible = window[start + lane_index()];
            float const weight = visible.is_there ? weight_of(start + lane_index(), visible.token) : 0.0f;
            sums.template add_rows<Element>(arguments, rows, first, visible, weight);
        }
        sums.template store<Element>(arguments, result, first, token, arguments.scale);
    }
}

template <class Element, int COUNT>
inline void window_queries(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const query = token_of(arguments, index);
    NeighborhoodAccess const& slots = arguments.tensors[NeighborhoodTensor::Slots];
    Element const* const row = row_of<Element const>(slots, query);
    sum_rows<Element, COUNT>(arguments, query, KeyWindow(arguments, query), arguments.tensors[NeighborhoodTensor::Keys],
                             arguments.tensors[NeighborhoodTensor::Queries],
                             [&](unsigned slot, Token const&) { return to_float(row[slot * slots.column]); });
}

template <class Element, int COUNT>
inline void window_keys(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const key = token_of(arguments, index);
    InverseWindow const window(arguments, key);
    NeighborhoodAccess const& slots = arguments.tensors[NeighborhoodTensor::Slots];
    sum_rows<Element, COUNT>(
        arguments, key, window, arguments.tensors[NeighborhoodTensor::Queries],
        arguments.tensors[NeighborhoodTensor::Keys], [&](unsigned, Token const& query) {
            return to_float(row_of<Element const>(slots, query)[window.slot_for(query) * slots.column]);
        });
}

extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps)
    neighborhood_window_slots(__grid_constant__ NeighborhoodArguments const arguments) {
    window_slots<X>(arguments);
}
extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps)
    neighborhood_window_queries(__grid_constant__ NeighborhoodArguments const arguments) {
    window_queries<X, LANE_COLUMNS>(arguments);
}
extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps)
    neighborhood_window_keys(__grid_constant__ NeighborhoodArguments const arguments) {
    window_keys<X, LANE_COLUMNS>(arguments);
}
