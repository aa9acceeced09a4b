// The enumerations of the graph API. Ordinals are part of the interface: append, never reorder.
#pragma once

#include "export.h"

#include <cstdint>

namespace cudnn_frontend {

enum class [[nodiscard]] error_code_t{
    OK,
    ATTRIBUTE_NOT_SET,
    SHAPE_DEDUCTION_FAILED,
    INVALID_TENSOR_NAME,
    INVALID_VARIANT_PACK,
    GRAPH_NOT_SUPPORTED,
    GRAPH_EXECUTION_PLAN_CREATION_FAILED,
    GRAPH_EXECUTION_FAILED,
    HEURISTIC_QUERY_FAILED,
    UNSUPPORTED_GRAPH_FORMAT,
    CUDA_API_FAILED,
    CUDNN_BACKEND_API_FAILED,
    INVALID_CUDA_DEVICE,
    HANDLE_ERROR,
    INVALID_VALUE,
    NVRTC_COMPILATION_FAILED,
};

enum class DataType_t {
    NOT_SET,
    FLOAT,
    DOUBLE,
    HALF,
    INT8,
    INT32,
    INT8x4,
    UINT8,
    UINT8x4,
    INT8x32,
    BFLOAT16,
    INT64,
    BOOLEAN,
    FP8_E4M3,
    FP8_E5M2,
    FAST_FLOAT_FOR_FP8,
    FP8_E8M0,
    FP4_E2M1,
    INT4,
    COMPLEX_FP32,
    COMPLEX_FP64,
};

enum class HeurMode_t { A, B, FALLBACK, OPENSOURCE };

enum class BuildPlanPolicy_t { HEURISTICS_CHOICE, ALL };

// Where the diagonal of a band mask starts: at the first row and column, or at the last ones.
enum class DiagonalAlignment_t { TOP_LEFT, BOTTOM_RIGHT };

// COMPOSITE: primitive operations. UNIFIED: one operation. AUTO: the target's preference.
enum class AttentionImplementation_t { AUTO, COMPOSITE, UNIFIED };

// How a graph may be computed in parts with the same result (docs/guide.md). SLICES: backward, by heads or batch
// entries, for less workspace. FEW_QUERIES: forward over many keys, in splits of them. BANDS: backward of a window, as
// a causal one. NEIGHBORHOOD_BAND: neighborhood attention along one axis, as attention in a window and its two borders.
enum class Rewrite_t { SLICES, FEW_QUERIES, BANDS, NEIGHBORHOOD_BAND };

// AUTO: where it is known to be faster, or keeps to a limit of workspace. OFF: never.
enum class RewritePolicy_t { AUTO, OFF };

// The shapes that a plan is made for. EXACT: those of one graph. CLASSES: all shapes whose sizes round up to the same
// numbers, so that a few plans serve graphs and calls of all sizes, at some cost for each (docs/classes.md). AUTO:
// classes on a GPU, where a plan takes long to make, and exact shapes on a CPU. ALL_SHAPES: an engine whose code serves
// all shapes, or an error where there is none.
enum class ShapePolicy_t { EXACT, CLASSES, AUTO, ALL_SHAPES };

enum class TensorReordering_t { NONE, INT8x32, F16x16, F8_128x4 };

enum class BehaviorNote_t {
    NOT_SET,
    RUNTIME_COMPILATION,
    REQUIRES_FILTER_INT8x32_REORDER,
    REQUIRES_BIAS_INT8x32_REORDER,
    SUPPORTS_CUDA_GRAPH_NATIVE_API,
    CUBLASLT_DEPENDENCY,
};

enum class NumericalNote_t {
    NOT_SET,
    TENSOR_CORE,
    DOWN_CONVERT_INPUTS,
    REDUCED_PRECISION_REDUCTION,
    FFT,
    NONDETERMINISTIC,
    WINOGRAD,
    WINOGRAD_TILE_4x4,
    WINOGRAD_TILE_6x6,
    WINOGRAD_TILE_13x13,
    STRICT_NAN_PROP,
};

enum class ReductionMode_t { NOT_SET, ADD, MUL, MIN, MAX, AMAX, AVG, NORM1, NORM2, MUL_NO_ZEROS };

enum class RngDistribution_t { NOT_SET, BERNOULLI, UNIFORM, NORMAL };

enum class ReshapeMode_t { NOT_SET, VIEW_ONLY, LOGICAL };

enum class PointwiseMode_t {
    NOT_SET,
    ADD,
    MUL,
    SQRT,
    MAX,
    MIN,
    RELU_FWD,
    TANH_FWD,
    SIGMOID_FWD,
    ELU_FWD,
    GELU_FWD,
    SOFTPLUS_FWD,
    SWISH_FWD,
    RELU_BWD,
    TANH_BWD,
    SIGMOID_BWD,
    ELU_BWD,
    GELU_BWD,
    SOFTPLUS_BWD,
    SWISH_BWD,
    ERF,
    IDENTITY,
    GELU_APPROX_TANH_BWD,
    GELU_APPROX_TANH_FWD,
    GEN_INDEX,
    BINARY_SELECT,
    EXP,
    LOG,
    NEG,
    MOD,
    POW,
    ABS,
    CEIL,
    COS,
    FLOOR,
    RSQRT,
    SIN,
    LOGICAL_NOT,
    TAN,
    SUB,
    ADD_SQUARE,
    DIV,
    CMP_EQ,
    CMP_NEQ,
    CMP_GT,
    CMP_GE,
    CMP_LT,
    CMP_LE,
    LOGICAL_AND,
    LOGICAL_OR,
    RECIPROCAL,
};

enum class KnobType_t {
    NOT_SET,
    SWIZZLE,
    TILE_SIZE,
    EDGE,
    MULTIPLY,
    SPLIT_K_BUF,
    TILEK,
    STAGES,
    REDUCTION_MODE,
    SPLIT_K_SLC,
    IDX_MODE,
    SPECFILT,
    KERNEL_CFG,
    WORKSPACE,
    TILE_CGA_M,
    TILE_CGA_N,
    BLOCK_SIZE,
    OCCUPANCY,
    ARRAY_SIZE_PER_THREAD,
    SPLIT_COLS,
    TILE_ROWS,
    TILE_COLS,
    LOAD_SIZE,
    CTA_COUNT,
    STREAM_K,
    SPLIT_P_SLC,
    TILE_M,
    TILE_N,
    WARP_SPEC_CFG,
    SWAP_AB,
    INPUT_TMA_ENABLE,
    OUTPUT_TMA_ENABLE,
};

}  // namespace cudnn_frontend
