// The arithmetic of fused attention on one tile, compiled for several instruction sets.
//
// A tile holds the scores of up to kTileKeys keys (its rows) and of `lanes` queries (its columns). Queries are in
// the lanes of vector registers, so that softmax over the keys never reduces across lanes.
#pragma once

#include <cstdint>

namespace cudnn_frontend::cpu {

inline constexpr std::int64_t kTileKeys = 64;
inline constexpr std::int64_t kMostTileKeys = 128;  // of products of pairs
inline constexpr std::int64_t kMaxLanes = 32;

// c (rows x columns) from b (depth x columns) and a. Rows are a multiple of Kernels::row_step, columns of
// Kernels::lanes.
struct Product {
    float const* a;
    std::int64_t a_stride;
    float const* b;
    std::int64_t b_stride;
    float* c;
    std::int64_t c_stride;
    std::int64_t rows, columns, depth;
    // A 0 in the tile, or among the factors, skips the product, also with infinity and NaN. Other sums are the same
    // bits either way. multiply() ignores it.
    bool leaves_out_zeros = false;
};

// The product of tiles of BFLOAT16 numbers with sums in float. Each element of a and b is a pair of neighbors along the
// sum, the first one in the low half. Products with 0 are not left out, but sums whose factor is 0 are. Rows are a
// multiple of PairKernels::row_step, and depth of PairKernels::depth_step.
struct PairProduct {
    std::uint32_t const* a;
    std::int64_t a_stride;
    std::uint32_t const* b;
    std::int64_t b_stride;
    float* c;
    std::int64_t c_stride;
    std::int64_t rows, columns, depth;  // depth in pairs
    std::int64_t b_block = kMaxLanes;   // from so many columns of b to the next ones
};

// The order of the elements of the operand `a` of a product of pairs.
enum class PairLayout {
    DepthMajor,  // a[pair * a_stride + row]
    Blocks       // a[PairBlocks::at(row, pair, a_stride)]
};

// The layout of rows in blocks, which products read from the first number to the last: caches fetch ahead of that,
// where rows far from each other would come from the same few places of the first cache. Each block has the same pairs
// of 32 rows. Blocks of the next pairs follow each other, and those of the next rows are a stride apart.
struct PairBlocks {
    static constexpr std::int64_t kRows = 32, kPairs = 16, kSize = kRows * kPairs;

    static constexpr std::int64_t row(std::int64_t row, std::int64_t stride) {
        return row / kRows * stride + row % kRows * kPairs;
    }
    static constexpr std::int64_t at(std::int64_t row_, std::int64_t pair, std::int64_t stride) {
        return row(row_, stride) + pair / kPairs * kSize + pair % kPairs;
    }
    // The stride of so many pairs, a multiple of those of a block; and the size of all blocks of so many rows.
    static constexpr std::int64_t stride(std::int64_t pairs) { return pairs * kRows; }
    static constexpr std::int64_t size(std::int64_t rows, std::int64_t pairs) {
        return (rows + kRows - 1) / kRows * stride(pairs);
    }
};

// Products that the matrix unit computes during another function: c = a^T b, where c may be a tile that this function
// reads, and c += a^T b. A product without rows is left out, as all are with DepthMajor.
struct ProductsMeanwhile {
    PairProduct assigned[2];
    PairProduct added;
};

// A step of softmax whose weights become pairs.
struct SoftmaxPairs {
    float const* tile;  // scores, before `scale`, which is positive
    std::int64_t keys;
    float scale;
    float *running_max, *running_sum, *rescale;
    std::uint32_t* pairs;  // of rows, up to a multiple of the products' depth
    ProductsMeanwhile meanwhile;
    // How far the running maximum may stay below the scores, so that sums are rescaled less often: weights are at most
    // e^lag. The maximum plus the logarithm of the sum is the same.
    float lag = 0.0f;
};

constexpr float kMostLag = 5.5f;  // weights up to 245

// P and dS of a tile, rounded to pairs.
struct GradientPairs {
    float const *scores, *gradients;  // scores before `scale`, and dO V^T
    std::int64_t keys, rows;          // rows after the keys become pairs of 0
    float scale;
    bool is_careful;                // as of Kernels::probabilities()
    float const *stats, *row_dots;  // for each lane
    // P and dS in pairs of lanes, and dS in pairs of rows up to a multiple of the products' depth; null if not needed.
    std::uint32_t *weights_by_lanes, *gradients_by_lanes, *gradients_by_rows;
    std::int64_t stride;  // of pairs of lanes, which are in blocks
    ProductsMeanwhile meanwhile;
};

struct PairKernels {
    PairLayout layout;  // of multiply() and rescale_and_multiply()
    std::int64_t row_step, depth_step;
    std::int64_t tile_keys;  // the keys of a tile
    // Products run between these two, which each thread calls.
    void (*begin)();
    void (*end)();

    // c = (a^T b) scale.
    void (*multiply)(PairProduct const&, float scale);
    // c = c * factors + a^T b, with a factor for each lane.
    void (*rescale_and_multiply)(PairProduct const&, float const* factors);
    // c = c * factors.
    void (*rescale)(float* c, std::int64_t rows, float const* factors);
    // c += a b, where a has pairs of lanes: rows x depth in blocks, whatever the layout. Where that is DepthMajor the
    // depth is that of one block.
    void (*multiply_tile)(PairProduct const&);
    // Rounds a tile to pairs of the lanes of each row, in blocks with this stride.
    void (*pair_lanes)(float const* tile, std::int64_t rows, std::uint32_t* pairs, std::int64_t stride);
    // Rounds a tile to pairs of rows, the first of them even; missing rows up to a multiple of the depth count as 0.
    void (*pair_rows)(float const* tile, std::int64_t rows, std::uint32_t* pairs);
    // Kernels::softmax_step() and pair_rows() at once, with another rounding of exponentials.
    void (*softmax_step)(SoftmaxPairs const&);
    // Kernels::probabilities(), score_gradients(), pair_lanes() and pair_rows() at once, without dropout.
    void (*score_gradients)(GradientPairs const&);
};

// Whether there are kernels of pairs whose operands lie in blocks.
inline bool have_blocks(PairKernels const* pairs) { return pairs != nullptr && pairs->layout == PairLayout::Blocks; }

// A thread may multiply pairs as long as this object lives. `kernels` may be null.
class PairScope {
   public:
    explicit PairScope(PairKernels const* kernels) : kernels_(kernels) {
        if (kernels_ != nullptr) kernels_->begin();
    }
    ~PairScope() {
        if (kernels_ != nullptr) kernels_->end();
    }
    PairScope(PairScope const&) = delete;
    PairScope& operator=(PairScope const&) = delete;

   private:
    PairKernels const* kernels_;
};

// to = from^T, of numbers or pairs. Rows and columns are multiples of the step.
struct Transpose {
    static constexpr std::int64_t kStep = 16;
    std::uint32_t const* from;
    std::int64_t from_stride, rows, columns;
    std::uint32_t* to;
    std::int64_t to_stride;
    bool to_blocks = false;  // PairBlocks, with the stride of these
};

// Products of a few vectors with rows of keys or values: floats, or BFLOAT16 numbers. Each vector has a weight for each
// row.
constexpr std::int64_t kRowStep = 16;  // widths are a multiple of this
struct RowProducts {
    void const* rows;
    bool are_bfloat16;
    std::int64_t stride, count, width;
    float* vectors;
    std::int64_t vector_stride, vector_count;
    float* weights;
    std::int64_t weight_stride;
    // A weight of 0 skips the product, also with infinity and NaN. Other sums are the same bits either way.
    bool leaves_out_zeros = false;
};

// The maximum of a row's scores, and the sum of exp(score - maximum).
struct RowSoftmax {
    float max, sum;
};

// The inputs of score_gradients() besides the tiles.
struct GradientTerms {
    float const* dropout_mask;  // a tile, or null
    float dropout_scale;
    float const* row_dots;  // of dO and O, for each lane
};

// A part of the dropout generator's mask (attention/philox.h): rows of keys in groups of four, queries in the lanes.
struct MaskDraw {
    std::uint64_t seed, offset;
    std::uint64_t first, lane_step;  // the counter of the first lane's first group, and how far the next lane's is
    std::uint32_t last_kept;         // the greatest word that keeps a score
    std::int64_t groups;
    float* mask;
};

// The function that a step of a score modifier computes of each number. Comparisons give 1 or 0, and Select chooses
// between the first two operands.
enum class TileFunction {
    Identity,
    Add,
    Subtract,
    Multiply,
    Divide,
    Maximum,
    Minimum,
    Negate,
    Absolute,
    Floor,
    Exponential,
    Tanh,
    TanhGradient,  // of a gradient and of what tanh was computed of
    Sigmoid,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    And,
    Or,
    Not,
    Select
};

// Rows of lanes, one after the other at this step; 0 repeats a row.
struct TileRows {
    float const* data;
    std::int64_t step;
};

// `out` may be an operand.
struct TileStep {
    TileFunction function;
    TileRows in[3];
    float* out;
    std::int64_t rows;
};

struct Kernels {
    char const* name;  // as the environment variable SDPA_GRAPH_CPU_KERNELS has it
    std::int64_t lanes;
    std::int64_t row_step;

    // c = a^T b, where a is depth x rows.
    void (*multiply)(Product const&);
    // c = c * factors + a^T b, with a factor for each lane. b is a tile.
    void (*rescale_and_multiply)(Product const&, float const* factors);
    // c += a b, where a is a tile: rows x depth, a_stride is ignored.
    void (*multiply_tile)(Product const&);

    // One step of online softmax over keys: scores become exp(score - running maximum), all NaN from the first NaN on.
    // `rescale` receives the factors that convert earlier sums from the old maximum to the new one.
    void (*softmax_step)(float* tile, std::int64_t keys, float* running_max, float* running_sum, float* rescale);
    // Scores become exp(score - stats), and 0 where either is -inf; if is_careful even where the other is NaN.
    void (*probabilities)(float* tile, std::int64_t keys, float const* stats, bool is_careful);
    // `gradients` is dO V^T and becomes dS; `probabilities` gets dropout applied. Where a probability is 0 both become
    // 0, and dropped elements count as 0 in dO V^T, even infinity and NaN.
    void (*score_gradients)(float* probabilities, float* gradients, std::int64_t keys, GradientTerms const&);
    // Multiplies each column by its factor. A factor of 0 clears the column, even of infinity and NaN.
    void (*scale_lanes)(float* rows, std::int64_t count, float const* factors);
    // Whether any of `count` numbers, a multiple of the lanes, is NaN.
    bool (*holds_nan)(float const* numbers, std::int64_t count);
    void (*apply)(TileStep const&);
    // 1 where the generator keeps a probability, and 0 where it does not.
    void (*draw)(MaskDraw const&);
    void (*transpose)(Transpose const&);
    // The floats of numbers of HALF, a multiple of kRowStep; null where the machine has no instruction for it.
    void (*half_to_floats)(std::uint16_t const* from, std::int64_t count, float* to);
    // weights = vectors x rows^T.
    void (*dot_rows)(RowProducts const&);
    // vectors += weights x rows.
    void (*add_rows)(RowProducts const&);
    // Scores become exp(score - maximum); one that is NaN makes the maximum NaN. The count is a multiple of kRowStep.
    RowSoftmax (*softmax_row)(float* scores, std::int64_t count);
    PairKernels const* pairs;  // null where the machine has no instruction for such products
};

// All kernels that this machine supports, fastest first, terminated by null.
Kernels const* const* available_kernels();

// The kernels that programs run: the fastest ones, unless SDPA_GRAPH_CPU_KERNELS names others that this machine
// supports.
Kernels const& kernels();

// Makes kernels() return these, for tests; null returns to the usual ones. Plans that were built before are invalid.
void force_kernels(Kernels const* chosen);

}  // namespace cudnn_frontend::cpu
