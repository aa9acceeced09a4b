// The gradients of neighborhood attention, a warp for each query, then for each key, and for each entry of the bias;
// tensors: Queries, Keys, Values, Bias, which may be missing, Output, Stats, OutputGradient and Delta, which the
// queries' kernel writes and the others read; QueryGradient; KeyGradient, ValueGradient; BiasGradient. Options define
// X, the type of the elements, LANE_COLUMNS, the number of columns that a lane has at once, and HAS_BIAS.
#include <neighborhood/neighborhood_entries.cuh>

using namespace cudnn_frontend::kernels;

// The weight that attention gave to a key for a query, and the gradient of their score.
struct KeyWeight {
    float weight = 0, gradient = 0;
};

template <class Element, bool WITH_BIAS>
inline KeyWeight pair_of(NeighborhoodArguments const& arguments, Token const& query, Token const& key, float delta) {
    NeighborhoodAccess const* const tensors = arguments.tensors;
    float score = arguments.scale * dot<Element>(arguments, tensors[NeighborhoodTensor::Queries], query,
                                                 tensors[NeighborhoodTensor::Keys], key);
    if (WITH_BIAS) score += bias_of<Element>(arguments, query, key);
    if (WITH_BIAS && score == -infinity()) return {};  // Stats may be -inf too
    float const weight = expf(score - *row_of<float const>(tensors[NeighborhoodTensor::Stats], query));
    float const of_weight = dot<Element>(arguments, tensors[NeighborhoodTensor::OutputGradient], query,
                                         tensors[NeighborhoodTensor::Values], key);
    return {weight, weight * (of_weight - delta)};
}

// The product of a row of Output and that of its gradient.
template <class Element>
inline float delta_of(NeighborhoodArguments const& arguments, Token const& query) {
    NeighborhoodAccess const& output = arguments.tensors[NeighborhoodTensor::Output];
    NeighborhoodAccess const& gradient = arguments.tensors[NeighborhoodTensor::OutputGradient];
    Element const* const of_output = row_of<Element const>(output, query);
    Element const* const of_gradient = row_of<Element const>(gradient, query);
    float sum = 0;
    for (int i = lane_index(); i < arguments.columns; i += kLanes) {
        sum += to_float(of_output[i * output.column]) * to_float(of_gradient[i * gradient.column]);
    }
    return sum_of_lanes(sum);
}

template <class Element, int COUNT, bool WITH_BIAS>
inline void query_gradients(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const query = token_of(arguments, index);
    KeyWindow const window(arguments, query);
    float const delta = delta_of<Element>(arguments, query);
    if (lane_index() == 0) *row_of<float>(arguments.tensors[NeighborhoodTensor::Delta], query) = delta;
    for (int first = 0; first < arguments.columns; first += kLanes * COUNT) {
        Columns<COUNT> gradient;
        for (unsigned start = 0; start < window.count(); start += kLanes) {
            VisibleToken const key = window[start + lane_index()];
            KeyWeight const pair =
                key.is_there ? pair_of<Element, WITH_BIAS>(arguments, query, key.token, delta) : KeyWeight{};
            gradient.template add_rows<Element>(arguments, arguments.tensors[NeighborhoodTensor::Keys], first, key,
                                                pair.gradient);
        }
        gradient.template store<Element>(arguments, arguments.tensors[NeighborhoodTensor::QueryGradient], first, query,
                                         arguments.scale);
    }
}

template <class Element, int COUNT, bool WITH_BIAS>
inline void key_gradients(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const key = token_of(arguments, index);
    InverseWindow const window(arguments, key);
    NeighborhoodAccess const* const tensors = arguments.tensors;
    for (int first = 0; first < arguments.columns; first += kLanes * COUNT) {
        Columns<COUNT> of_key, of_value;
        for (unsigned start = 0; start < window.count(); start += kLanes) {
            VisibleToken const query = window[start + lane_index()];
            KeyWeight pair;
            if (query.is_there) {
                float const delta = *row_of<float const>(tensors[NeighborhoodTensor::Delta], query.token);
                pair = pair_of<Element, WITH_BIAS>(arguments, query.token, key, delta);
            }
            of_key.template add_rows<Element>(arguments, tensors[NeighborhoodTensor::Queries], first, query,
                                              pair.gradient);
            of_value.template add_rows<Element>(arguments, tensors[NeighborhoodTensor::OutputGradient], first, query,
                                                pair.weight);
        }
        of_key.template store<Element>(arguments, tensors[NeighborhoodTensor::KeyGradient], first, key,
                                       arguments.scale);
        of_value.template store<Element>(arguments, tensors[NeighborhoodTensor::ValueGradient], first, key, 1);
    }
}

template <class Element>
inline void bias_gradients(NeighborhoodArguments const& arguments) {
    sum_for_entry<Element>(arguments, [&](Token const& query, Token const& key, long long) {
        float const delta = *row_of<float const>(arguments.tensors[NeighborhoodTensor::Delta], query);
        return pair_of<Element, true>(arguments, query, key, delta).gradient;
    });
}

constexpr int kBlocks = HAS_BIAS ? 2 : 3;  // on a multiprocessor, at least, so that no register is spilled

extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps, kBlocks)
    neighborhood_query_gradients(__grid_constant__ NeighborhoodArguments const arguments) {
    query_gradients<X, LANE_COLUMNS, HAS_BIAS>(arguments);
}
extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps, kBlocks)
    neighborhood_key_gradients(__grid_constant__ NeighborhoodArguments const arguments) {
    key_gradients<X, LANE_COLUMNS, HAS_BIAS>(arguments);
}
#if HAS_BIAS
extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps, kBlocks)
    neighborhood_bias_gradients(__grid_constant__ NeighborhoodArguments const arguments) {
    bias_gradients<X>(arguments);
}
#endif
