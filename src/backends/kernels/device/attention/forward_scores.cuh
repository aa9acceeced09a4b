// The terms of scores in attention_forward.cu, and the weights that dropout keeps.
// The code depends on macros for the options of scores. It has no include guard: it is read once for each set of them.

#include <attention/distance_terms.cuh>
#include <attention/dropout.cuh>

// How a block's scores follow from products: by the score modifier, by its short form for scores near 0, or without it.
enum class ScoreForm { Unchanged, Modified, Short };

// Makes scores of the products in the lane's two rows, times log2(e).
template <int KEYS>
class ScoreTerms {
   public:
    ScoreTerms(AttentionArguments const& arguments, Sequence const& sequence, int first_query)
        : arguments_(arguments), batch_(sequence.batch), head_(sequence.head), first_query_(first_query) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            queries_[half] = smaller(first_query + lane_index() / 4 + 8 * half, arguments.sequences.query_rows - 1);
            if (!kHasBias) continue;
            ScoreNumbers const& bias = arguments.bias;
            bias_rows_[half] = static_cast<BiasElement const*>(bias.start) + sequence.batch * bias.batch +
                               sequence.head * bias.head + queries_[half] * bias.row;
        }
        if (kHasAlibi) slope_ = kLog2OfE * alibi_slope(sequence.head, arguments.sequences.heads);
        // The address need not be a multiple of two elements.
        are_pairs_ = arguments.bias.are_pairs && reinterpret_cast<unsigned long long>(arguments.bias.start) % 4 == 0;
    }

    // Uses the time of products: computes terms of distances where scores are modified, waits for a bias that the copy
    // engine fetches and reads it, and starts to read another one of 2 bytes. `number` counts the warpgroup's blocks.
    template <class Memory>
    void prepare(int block, bool is_modified, Memory& memory, int warpgroup, int number) {
        is_modified_ = is_modified;
        distances_ = &memory.distances[warpgroup * (kThreadsOfWarpgroup / 32) + row_of_warp() / kRowsOfWarp];
        if (is_modified) {
            distances_->template compute<true>(batch_, head_, block * KEYS - first_query_, arguments_.sequences,
                                               arguments_.inputs);
        }
        if constexpr (kFetchesBias) {
            if (arguments_.bias.is_boxed) return memory.bias.read(words_, warpgroup, memory.bias_rounds, number);
        }
        if constexpr (kReadsAhead) {
#pragma unroll
            for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
                for (int half = 0; half < 2; ++half) words_[i][half] = read_pair(block, i, half);
            }
        }
    }

    // Whether the modifier changes scores of the block for which it was prepared.
    bool is_modified() const { return is_modified_; }

    // The greatest magnitude of the lane's products, for the short form.
    static float greatest_of(float const (&products)[KEYS / 8][4]) {
        float greatest = 0;
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) greatest = fmaxf(greatest, fabsf(products[i][j]));
        }
        return greatest;
    }
    // Whether the modifier's short form serves for all of the warp's products.
    bool are_short(float greatest) const {
        Scaled const score{greatest, arguments_.scale};
        bool const are = has_short_score(score, arguments_.inputs) &&
                         (!kSharesFactor || keeps_order(short_score(score, ScorePlace(), arguments_.inputs)));
        return ballot(!are) == 0;
    }
    // Whether it is certain that no score of the short form is greater than its row's base plus `most_above`.
    static bool are_below(float const (&bases)[2], float most_above, float greatest, float factor) {
        return kSharesFactor && ballot(greatest * factor > fminf(bases[0], bases[1]) + most_above) == 0;
    }

    // Replaces the products by numbers and returns a factor: a number times the factor is a score in units of log2.
    template <ScoreForm FORM>
    float add(float (&scores)[KEYS / 8][4], int block) const {
        float factor = 1.0f;
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    float& score = scores[i][2 * half + j];
                    float term = kHasBias ? kLog2OfE * number_at(block, i, half, j) : 0.0f;
                    int const key = key_of(block, i) + j;
                    if (kHasAlibi) term += slope_ * static_cast<float>(key - queries_[half]);
                    if constexpr (FORM == ScoreForm::Unchanged) {
                        score = fmaf(score, arguments_.scale_as_power, term);
                        continue;
                    }
                    ScorePlace const place =
                        with_distance({batch_, head_, queries_[half], smaller(key, last_key()), {}},
                                      distances_->at(i, 2 * half + j), arguments_.inputs);
                    if constexpr (FORM == ScoreForm::Modified) {
                        score =
                            power_of(modified_score({score, arguments_.scale, 0.0f}, place, arguments_.inputs), term);
                    } else {
                        auto const made = short_score({score, arguments_.scale}, place, arguments_.inputs);
                        score = kSharesFactor ? without_factor(made, factor) : power_of(made, term);
                    }
                }
            }
        }
        return factor;
    }

   private:
    // Whether the short form leaves one factor for all scores.
    static constexpr bool kSharesFactor =
        kIsScaled<decltype(short_score(Scaled(), ScorePlace(), ScoreInputs()))> && !kHasBias && !kHasAlibi;
    static constexpr bool kReadsAhead = kHasBias && sizeof(BiasElement) == 2;

    int key_of(int block, int i) const { return block * KEYS + 8 * i + 2 * (lane_index() % 4); }
    int last_key() const { return arguments_.sequences.key_rows - 1; }
    BiasElement bias_of(int block, int i, int half, int j) const {
        return bias_rows_[half][smaller(key_of(block, i) + j, last_key()) * arguments_.bias.column];
    }
    float number_at(int block, int i, int half, int j) const {
        if constexpr (kReadsAhead) return to_float<BiasElement>(words_[i][half] >> 16 * j);
        else return to_float(bias_of(block, i, half, j));
    }
    unsigned read_pair(int block, int i, int half) const {
        int const key = key_of(block, i);
        if (are_pairs_ && key < last_key()) {
            return *reinterpret_cast<unsigned const*>(bias_rows_[half] + key);
        }
        return bits_of(bias_of(block, i, half, 0)) | bits_of(bias_of(block, i, half, 1)) << 16;
    }
    template <class Element>
    static unsigned bits_of(Element element) {
        return element.bits;
    }

    AttentionArguments const& arguments_;
    BiasElement const* bias_rows_[2];
    unsigned words_[KEYS / 8][2];
    int batch_, head_, first_query_, queries_[2];
    DistanceNumbers<KEYS>* distances_;
    bool are_pairs_, is_modified_;
    float slope_;
};

// Which weights of the lane's two rows dropout keeps. Two neighboring lanes have a group's four keys: each draws those
// of one of their rows, so that a call of the generator decides on as many scores as it has words.
template <int KEYS>
class KeptWeights {
   public:
    KeptWeights(AttentionArguments const& arguments, Sequence const& sequence, int first_query)
        : generator_(arguments.dropout, arguments.sequences) {
        int const lane = lane_index(), row = first_query + lane / 4 + 8 * (lane % 2);
        group_ = generator_.first_group(sequence.batch, sequence.head, row) + lane % 4 / 2;
    }

    // Draws for a block of keys.
    void draw(int block) {
        unsigned of_even = 0, of_odd = 0;  // two bits for each eight keys, for the pair's lanes
#pragma unroll 1
        for (int first = 0; first < KEYS / 8; first += kDraws) {
            PhiloxBlock drawn[kDraws];
            generator_.draw(drawn, group_ + (block * (KEYS / 4) + 2 * first), 2);
#pragma unroll
            for (int i = 0; i < kDraws; ++i) {
                unsigned const(&words)[4] = drawn[i].words;
                of_even |= (generator_.keeps(words[0]) | generator_.keeps(words[1]) << 1) << 2 * (first + i);
                of_odd |= (generator_.keeps(words[2]) | generator_.keeps(words[3]) << 1) << 2 * (first + i);
            }
        }
        bool const is_odd = lane_index() % 2 != 0;
        unsigned const other = from_lane_across(is_odd ? of_even : of_odd, 1);
        kept_[0] = is_odd ? other : of_even;
        kept_[1] = is_odd ? of_odd : other;
    }

    // Sets those that are not kept to 0.
    void drop(float (&weights)[KEYS / 8][4]) const {
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                if ((kept_[j / 2] >> (2 * i + j % 2) & 1) == 0) weights[i][j] = 0;
            }
        }
    }

   private:
    static constexpr int kDraws = KEYS / 8 % kDrawsAtOnce == 0 ? kDrawsAtOnce : kDrawsAtOnce + 1;
    static_assert(KEYS / 8 % kDraws == 0);

    Generator generator_;
    unsigned long long group_;  // the lane's first one
    unsigned kept_[2];          // a bit for each weight of a row
};
