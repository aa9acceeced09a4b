// Attention over parts of the keys, merged by log-sum-exp; operands: partial o, partial stats, o, stats, partial
// lengths, of which the last two may be missing. Options define X and Y, the types of the elements of partial o and o,
// and INDEX, the type that counts.
#include <joints/strided_place.cuh>

constexpr float kLog2OfE = 1.4426950408889634f, kLnOf2 = 0.6931471805599453f;

// The sums over the parts, relative to exp(largest), where largest is the largest of their log-sum-exps.
template <class From, int COUNT, int RUNS>
class Merged {
   public:
    using MergedPart = Vector<From, COUNT, RUNS>;

    // Adds two parts at a time, however many of them a thread loads at once, so that the bits of an element depend on
    // its parts alone.
    void add_two(float const* stats, MergedPart* parts, bool are_first, bool are_both) {
        float const larger = fmaxf(stats[0], stats[1]);
        if (are_first) largest_ = larger;
        else if (larger > largest_) relate_to(larger);
        add(stats[0], parts[0]);
        if (are_both) add(stats[1], parts[1]);
    }

    void divide() {
        float const factor = weights_ == 0 ? 0.0f : __fdividef(1.0f, weights_);
        for (float& number : o_) number *= factor;
    }
    float const (&o() const)[COUNT] { return o_; }
    float stats() const { return largest_ + kLnOf2 * __log2f(weights_); }

   private:
    // A part without visible keys has the weight 0, even if no part has any: -inf is never subtracted.
    float weight(float stats) const {
        float const finite = largest_ == -infinity() ? 0.0f : largest_;
        return exp2f((stats - finite) * kLog2OfE);
    }
    void relate_to(float larger) {
        float const before = largest_;
        largest_ = larger;
        float const factor = weight(before);
        weights_ *= factor;
        for (float& number : o_) number *= factor;
    }
    void add(float stats, MergedPart& part) {
        float const part_weight = weight(stats);
        if (stats == -infinity()) part.clear();  // it may hold anything
        weights_ += part_weight;
        for (int i = 0; i < COUNT; ++i) o_[i] += part_weight * part[i];
    }

    float largest_ = -infinity(), weights_ = 0;
    float o_[COUNT] = {};
};

template <class From, class To, int COUNT, int RUNS, class Index>
inline void merge(KernelArguments const& arguments) {
    StridedPlace<Index, 5> const place(arguments);
    if (!place.is_inside) return;
    auto const* o = place.template pointer<From>(arguments, 0);
    auto const* stats = place.template pointer<float>(arguments, 1);
    auto const* lengths = place.template pointer<int>(arguments, 4);
    bool const has_lengths = arguments.operands[4].start != nullptr;
    auto const parts = static_cast<Index>(arguments.parts);
    Merged<From, COUNT, RUNS> merged;
    constexpr int kPartsAtOnce = kLoadsAtOnce / RUNS;
#pragma unroll 1
    for (Index start = 0; start < parts; start += kPartsAtOnce) {
        Vector<From, COUNT, RUNS> loaded[kPartsAtOnce];
        float loaded_stats[kPartsAtOnce];
#pragma unroll
        for (int i = 0; i < kPartsAtOnce; ++i) {
            loaded_stats[i] = -infinity();
            if (start + i >= parts) continue;
            loaded_stats[i] = has_lengths && *lengths == 0 ? -infinity() : *stats;
            loaded[i].load(o, arguments.pair_distance);
            lengths += arguments.operands[4].part_stride;
            stats += arguments.operands[1].part_stride;
            o += arguments.operands[0].part_stride;
        }
#pragma unroll
        for (int i = 0; i < kPartsAtOnce; i += 2) {
            if (start + i < parts) merged.add_two(loaded_stats + i, loaded + i, start + i == 0, start + i + 1 < parts);
        }
    }
    merged.divide();
    Vector<To, COUNT, RUNS> result;
    result.assign(merged.o());
    result.store(place.template pointer<To>(arguments, 2), arguments.pair_distance);
    if (arguments.operands[3].start != nullptr && place.column == 0) {
        *place.template pointer<float>(arguments, 3) = merged.stats();
    }
}

extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    merge_elements(__grid_constant__ KernelArguments const arguments) {
    merge<X, Y, 1, 1, INDEX>(arguments);
}
extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    merge_vectors(__grid_constant__ KernelArguments const arguments) {
    merge<X, Y, kVectorBytes / sizeof(X), 1, INDEX>(arguments);
}
extern "C" __global__ void __launch_bounds__(kThreadsAtMost)
    merge_pairs(__grid_constant__ KernelArguments const arguments) {
    merge<X, Y, 2 * kVectorBytes / sizeof(X), 2, INDEX>(arguments);
}
