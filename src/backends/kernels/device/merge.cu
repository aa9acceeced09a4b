// Attention over parts of the keys, merged by log-sum-exp; operands: partial o, partial stats, o, stats, of which the
// last may be missing. Options define X and Y, the types of the elements of partial o and o, and INDEX, the type that
// counts steps.
#include <elements.cuh>

// A part that saw no key has the weight 0; where none saw one, so is the largest -inf, and the difference not a number.
inline float weight(float stats, float largest) { return stats == -infinity() ? 0.0f : expf(stats - largest); }

template <class From, class To, int COUNT, class Index>
inline void merge(KernelArguments const& arguments) {
    Place<Index, 4> const place(arguments);
    if (!place.is_inside) return;
    float const* const stats = place.template pointer<float>(arguments, 1);
    long long const stats_stride = arguments.operands[1].part_stride;
    float largest = -infinity();  // of those that are numbers: others come in by their weights
    for (long long part = 0; part < arguments.parts; ++part) largest = fmaxf(largest, stats[part * stats_stride]);
    float weights = 0;
    float merged[COUNT] = {};
    for_each_part<From, COUNT>(place.template pointer<From>(arguments, 0), arguments.operands[0].part_stride,
                               arguments.parts, [&](long long part, From const(&o)[COUNT]) {
                                   float const part_stats = stats[part * stats_stride];
                                   float const part_weight = weight(part_stats, largest);
                                   bool const is_seen = part_stats != -infinity();  // else o may be anything
                                   weights += part_weight;
                                   for (int i = 0; i < COUNT; ++i) {
                                       merged[i] += part_weight * (is_seen ? to_float(o[i]) : 0.0f);
                                   }
                               });
    float const factor = weights == 0 ? 0.0f : 1 / weights;
    for (int i = 0; i < COUNT; ++i) merged[i] *= factor;
    store(place.template pointer<To>(arguments, 2), merged);
    if (arguments.operands[3].start != nullptr && place.column == 0) {
        *place.template pointer<float>(arguments, 3) = largest + logf(weights);
    }
}

extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    merge_vectors(__grid_constant__ KernelArguments const arguments) {
    merge<X, Y, 16 / sizeof(X), INDEX>(arguments);
}
extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    merge_elements(__grid_constant__ KernelArguments const arguments) {
    merge<X, Y, 1, INDEX>(arguments);
}
