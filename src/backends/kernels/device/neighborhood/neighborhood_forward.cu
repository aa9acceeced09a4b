// Neighborhood attention, a warp for each query; tensors: Queries, Keys, Values, Bias, Output, Stats, of which Bias and
// Stats may be missing. Options define X, the type of the elements, and LANE_COLUMNS, the number of columns that a lane
// has at once.
#include <neighborhood/neighborhood_tokens.cuh>

using namespace cudnn_frontend::kernels;

// Weights of a query's keys, 32 at a time, relative to the largest score so far.
struct LaneSoftmax {
    float largest = -infinity(), sum = 0;

    // Returns the lane's weight, and sets the factor for the sums so far.
    float add(float score, float& factor) {
        float const before = largest;
        largest = fmaxf(largest, largest_of_lanes(score));
        factor = largest == -infinity() ? 1.0f : expf(before - largest);
        float const weight = score == -infinity() ? 0.0f : expf(score - largest);
        sum = sum * factor + sum_of_lanes(weight);
        return weight;
    }
};

template <class Element, int COUNT>
inline LaneSoftmax attend(NeighborhoodArguments const& arguments, Token const& query, int first_column) {
    KeyWindow const window(arguments, query);
    LaneSoftmax softmax;
    Columns<COUNT> output;
    for (unsigned start = 0; start < window.count(); start += kLanes) {
        VisibleToken const key = window[start + lane_index()];
        float score = -infinity();
        if (key.is_there) {
            score = arguments.scale * dot<Element>(arguments, arguments.tensors[NeighborhoodTensor::Queries], query,
                                                   arguments.tensors[NeighborhoodTensor::Keys], key.token) +
                    bias_of<Element>(arguments, query, key.token);
        }
        float factor;
        float const weight = softmax.add(score, factor);
        for (float& sum : output.sums) sum *= factor;
        output.template add_rows<Element>(arguments, arguments.tensors[NeighborhoodTensor::Values], first_column, key,
                                          weight);
    }
    output.template store<Element>(arguments, arguments.tensors[NeighborhoodTensor::Output], first_column, query,
                                   inverse_of_sum(softmax.sum));
    return softmax;
}

template <class Element, int COUNT>
inline void neighborhood_forward(NeighborhoodArguments const& arguments) {
    long long const index = token_index();
    if (index >= tokens_of(arguments)) return;
    Token const query = token_of(arguments, index);
    LaneSoftmax softmax;
    for (int first = 0; first < arguments.columns; first += kLanes * COUNT) {
        softmax = attend<Element, COUNT>(arguments, query, first);
    }
    if (arguments.tensors[NeighborhoodTensor::Stats].start == nullptr || lane_index() != 0) return;
    *row_of<float>(arguments.tensors[NeighborhoodTensor::Stats], query) = softmax.largest + logf(softmax.sum);
}

extern "C" __global__ void __launch_bounds__(kLanes* kTokenWarps, 3)
    neighborhood_forward(__grid_constant__ NeighborhoodArguments const arguments) {
    neighborhood_forward<X, LANE_COLUMNS>(arguments);
}
