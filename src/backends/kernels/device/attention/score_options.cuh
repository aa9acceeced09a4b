// The options of scores, by which code differs. Macros say them, so this file may be read several times.

#ifdef BIAS
constexpr bool kHasBias = true;
using BiasElement = BIAS;
#else
constexpr bool kHasBias = false;
using BiasElement = float;
#endif

#ifdef BIAS_GRADIENT
constexpr bool kHasBiasGradient = true;
using BiasGradientElement = BIAS_GRADIENT;
#else
constexpr bool kHasBiasGradient = false;
using BiasGradientElement = float;
#endif

#ifdef SUMS_BIAS_GRADIENT
constexpr bool kSumsBiasGradient = true;
#else
constexpr bool kSumsBiasGradient = false;
#endif

#ifdef HAS_ALIBI
constexpr bool kHasAlibi = true;
#else
constexpr bool kHasAlibi = false;
#endif

#ifdef HAS_REGION
#include <score_code.cuh>
constexpr bool kHasRegion = true;
#else
constexpr bool kHasRegion = false, kChangesGradients = false;
constexpr int kDistanceTerms = 0;
inline DistanceTerms distance_terms(ScorePlace const&, ScoreInputs const&) { return {}; }
inline Linear modified_score(Linear score, ScorePlace const&, ScoreInputs const&) { return score; }
inline float modified_gradient(Linear, float gradient, ScorePlace const&, ScoreInputs const&) { return gradient; }
#endif

#ifdef HAS_SHORT_SCORE
constexpr bool kHasShortScore = true;
#else
constexpr bool kHasShortScore = false;
inline bool has_short_score(Scaled, ScoreInputs const&) { return false; }
inline float short_score(Scaled score, ScorePlace const&, ScoreInputs const&) { return score; }
#endif

#ifdef HIDES_BLOCKS
constexpr bool kHidesBlocks = true;
#else
constexpr bool kHidesBlocks = false;
#endif

#ifdef HAS_BLOCK_MASK
constexpr bool kHasBlockMask = true;
#else
constexpr bool kHasBlockMask = false;
#endif

#ifdef LEAVES_BLOCKS
constexpr bool kLeavesBlocks = true;
#else
constexpr bool kLeavesBlocks = false;
#endif

#ifdef HAS_PAGES
constexpr bool kHasPages = true;
#else
constexpr bool kHasPages = false;
#endif

#ifdef HAS_DROPOUT
constexpr bool kHasDropout = true;
#else
constexpr bool kHasDropout = false;
#endif

// Whether gradients have the same bits in each run.
#ifdef IS_DETERMINISTIC
constexpr bool kIsDeterministic = true;
#else
constexpr bool kIsDeterministic = false;
#endif

#ifdef STORES_MAXIMA
constexpr bool kStoresMaxima = true;
#else
constexpr bool kStoresMaxima = false;
#endif

constexpr bool kHasTerms = kHasBias || kHasAlibi || kHasRegion;
// Whether warpgroups need more registers than for scores alone.
constexpr bool kNeedsRegisters = kHasTerms || kHasDropout;
