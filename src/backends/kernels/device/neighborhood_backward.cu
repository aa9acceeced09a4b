// The gradients of neighborhood attention, a warp for each query and then for each key; tensors: Queries, Keys, Values,
// Output, Stats, OutputGradient and Delta, which the queries' kernel writes and the keys' kernel reads; QueryGradient;
// KeyGradient, ValueGradient. Options define X, the type of the elements, and LANE_COLUMNS, how many columns a lane has
// at once.
#include <neighborhood_tokens.cuh>

using namespace cudnn_frontend::kernels;

// Of a query and a key: the weight that attention gave to the key, and the gradient of its score.
struct Pair {
    float weight = 0, gradient = 0;
};

template <class Element>
inline Pair pair_of(NeighborhoodArguments const& arguments, Token const& query, Token const& key, float delta) {
    NeighborhoodAccess const* const tensors = arguments.tensors;
    float const score = arguments.scale * dot<Element>(arguments, tensors[kQueries], query, tensors[kKeys], key);
    float const weight = expf(score - *row_of<float const>(tensors[kStats], query));
    float const of_weight = dot<Element>(arguments, tensors[kOutputGradient], query, tensors[kValues], key);
    return {weight, weight * (of_weight - delta)};
}

// The product of a row of Output and that of its gradient.
template <class Element>
inline float delta_of(NeighborhoodArguments const& arguments, Token const& query) {
    NeighborhoodAccess const& output = arguments.tensors[kOutput];
    NeighborhoodAccess const& gradient = arguments.tensors[kOutputGradient];
    Element const* const of_output = row_of<Element const>(output, query);
    Element const* const of_gradient = row_of<Element const>(gradient, query);
    float sum = 0;
    for (int i = lane_index(); i < arguments.columns; i += kLanes) {
        sum += to_float(of_output[i * output.column]) * to_float(of_gradient[i * gradient.column]);
    }
    return sum_of_lanes(sum);
}

template <class Element, int COUNT>
inline void query_gradients(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const query = token_of(arguments, index);
    Window const window(arguments, query);
    float const delta = delta_of<Element>(arguments, query);
    if (lane_index() == 0) *row_of<float>(arguments.tensors[kDelta], query) = delta;
    for (int first = 0; first < arguments.columns; first += kLanes * COUNT) {
        Columns<COUNT> gradient;
        for (unsigned start = 0; start < window.count(); start += kLanes) {
            Met const key = window[start + lane_index()];
            Pair const pair = key.is_there ? pair_of<Element>(arguments, query, key.token, delta) : Pair{};
            gradient.template add_rows<Element>(arguments, arguments.tensors[kKeys], first, key, pair.gradient);
        }
        gradient.template store<Element>(arguments, arguments.tensors[kQueryGradient], first, query, arguments.scale);
    }
}

template <class Element, int COUNT>
inline void key_gradients(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const key = token_of(arguments, index);
    InverseWindow const window(arguments, key);
    NeighborhoodAccess const* const tensors = arguments.tensors;
    for (int first = 0; first < arguments.columns; first += kLanes * COUNT) {
        Columns<COUNT> of_key, of_value;
        for (unsigned start = 0; start < window.count(); start += kLanes) {
            Met const query = window[start + lane_index()];
            Pair pair;
            if (query.is_there) {
                float const delta = *row_of<float const>(tensors[kDelta], query.token);
                pair = pair_of<Element>(arguments, query.token, key, delta);
            }
            of_key.template add_rows<Element>(arguments, tensors[kQueries], first, query, pair.gradient);
            of_value.template add_rows<Element>(arguments, tensors[kOutputGradient], first, query, pair.weight);
        }
        of_key.template store<Element>(arguments, tensors[kKeyGradient], first, key, arguments.scale);
        of_value.template store<Element>(arguments, tensors[kValueGradient], first, key, 1);
    }
}

extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps, 3)
    neighborhood_query_gradients(__grid_constant__ NeighborhoodArguments const arguments) {
    query_gradients<X, LANE_COLUMNS>(arguments);
}
extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps, 3)
    neighborhood_key_gradients(__grid_constant__ NeighborhoodArguments const arguments) {
    key_gradients<X, LANE_COLUMNS>(arguments);
}
