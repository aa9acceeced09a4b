#include "core/names.h"

#include <ostream>

namespace cudnn_frontend::core {
namespace {

constexpr char const* kErrorCodes[] = {
    "OK",
    "ATTRIBUTE_NOT_SET",
    "SHAPE_DEDUCTION_FAILED",
    "INVALID_TENSOR_NAME",
    "INVALID_VARIANT_PACK",
    "GRAPH_NOT_SUPPORTED",
    "GRAPH_EXECUTION_PLAN_CREATION_FAILED",
    "GRAPH_EXECUTION_FAILED",
    "HEURISTIC_QUERY_FAILED",
    "UNSUPPORTED_GRAPH_FORMAT",
    "CUDA_API_FAILED",
    "CUDNN_BACKEND_API_FAILED",
    "INVALID_CUDA_DEVICE",
    "HANDLE_ERROR",
    "INVALID_VALUE",
    "NVRTC_COMPILATION_FAILED",
};
constexpr char const* kDataTypes[] = {
    "NOT_SET",  "FLOAT",    "DOUBLE",   "HALF",         "INT8",         "INT32",    "INT8x4",   "UINT8",
    "UINT8x4",  "INT8x32",  "BFLOAT16", "INT64",        "BOOLEAN",      "FP8_E4M3", "FP8_E5M2", "FAST_FLOAT_FOR_FP8",
    "FP8_E8M0", "FP4_E2M1", "INT4",     "COMPLEX_FP32", "COMPLEX_FP64",
};
constexpr char const* kHeuristicModes[] = {"A", "B", "FALLBACK", "OPENSOURCE"};
constexpr char const* kBuildPolicies[] = {"HEURISTICS_CHOICE", "ALL"};
constexpr char const* kAlignments[] = {"TOP_LEFT", "BOTTOM_RIGHT"};
constexpr char const* kImplementations[] = {"AUTO", "COMPOSITE", "UNIFIED"};
constexpr char const* kRewrites[] = {"SLICES", "FEW_QUERIES", "BANDS", "NEIGHBORHOOD_BAND"};
constexpr char const* kRewritePolicies[] = {"AUTO", "OFF"};
constexpr char const* kShapePolicies[] = {"EXACT", "CLASSES", "AUTO", "ALL_SHAPES"};
constexpr char const* kReorderings[] = {"NONE", "INT8x32", "F16x16", "F8_128x4"};
constexpr char const* kBehaviorNotes[] = {
    "NOT_SET",
    "RUNTIME_COMPILATION",
    "REQUIRES_FILTER_INT8x32_REORDER",
    "REQUIRES_BIAS_INT8x32_REORDER",
    "SUPPORTS_CUDA_GRAPH_NATIVE_API",
    "CUBLASLT_DEPENDENCY",
};
constexpr char const* kNumericalNotes[] = {
    "NOT_SET",          "TENSOR_CORE", "DOWN_CONVERT_INPUTS", "REDUCED_PRECISION_REDUCTION", "FFT",
    "NONDETERMINISTIC", "WINOGRAD",    "WINOGRAD_TILE_4x4",   "WINOGRAD_TILE_6x6",           "WINOGRAD_TILE_13x13",
    "STRICT_NAN_PROP",
};
constexpr char const* kReductionModes[] = {
    "NOT_SET", "ADD", "MUL", "MIN", "MAX", "AMAX", "AVG", "NORM1", "NORM2", "MUL_NO_ZEROS",
};
constexpr char const* kDistributions[] = {"NOT_SET", "BERNOULLI", "UNIFORM", "NORMAL"};
constexpr char const* kReshapeModes[] = {"NOT_SET", "VIEW_ONLY", "LOGICAL"};
constexpr char const* kPointwiseModes[] = {
    "NOT_SET",
    "ADD",
    "MUL",
    "SQRT",
    "MAX",
    "MIN",
    "RELU_FWD",
    "TANH_FWD",
    "SIGMOID_FWD",
    "ELU_FWD",
    "GELU_FWD",
    "SOFTPLUS_FWD",
    "SWISH_FWD",
    "RELU_BWD",
    "TANH_BWD",
    "SIGMOID_BWD",
    "ELU_BWD",
    "GELU_BWD",
    "SOFTPLUS_BWD",
    "SWISH_BWD",
    "ERF",
    "IDENTITY",
    "GELU_APPROX_TANH_BWD",
    "GELU_APPROX_TANH_FWD",
    "GEN_INDEX",
    "BINARY_SELECT",
    "EXP",
    "LOG",
    "NEG",
    "MOD",
    "POW",
    "ABS",
    "CEIL",
    "COS",
    "FLOOR",
    "RSQRT",
    "SIN",
    "LOGICAL_NOT",
    "TAN",
    "SUB",
    "ADD_SQUARE",
    "DIV",
    "CMP_EQ",
    "CMP_NEQ",
    "CMP_GT",
    "CMP_GE",
    "CMP_LT",
    "CMP_LE",
    "LOGICAL_AND",
    "LOGICAL_OR",
    "RECIPROCAL",
};
constexpr char const* kKnobs[] = {
    "NOT_SET",
    "SWIZZLE",
    "TILE_SIZE",
    "EDGE",
    "MULTIPLY",
    "SPLIT_K_BUF",
    "TILEK",
    "STAGES",
    "REDUCTION_MODE",
    "SPLIT_K_SLC",
    "IDX_MODE",
    "SPECFILT",
    "KERNEL_CFG",
    "WORKSPACE",
    "TILE_CGA_M",
    "TILE_CGA_N",
    "BLOCK_SIZE",
    "OCCUPANCY",
    "ARRAY_SIZE_PER_THREAD",
    "SPLIT_COLS",
    "TILE_ROWS",
    "TILE_COLS",
    "LOAD_SIZE",
    "CTA_COUNT",
    "STREAM_K",
    "SPLIT_P_SLC",
    "TILE_M",
    "TILE_N",
    "WARP_SPEC_CFG",
    "SWAP_AB",
    "INPUT_TMA_ENABLE",
    "OUTPUT_TMA_ENABLE",
};

}  // namespace

template <>
std::span<char const* const> names_of<error_code_t>() {
    return kErrorCodes;
}
template <>
std::span<char const* const> names_of<DataType_t>() {
    return kDataTypes;
}
template <>
std::span<char const* const> names_of<HeurMode_t>() {
    return kHeuristicModes;
}
template <>
std::span<char const* const> names_of<BuildPlanPolicy_t>() {
    return kBuildPolicies;
}
template <>
std::span<char const* const> names_of<DiagonalAlignment_t>() {
    return kAlignments;
}
template <>
std::span<char const* const> names_of<AttentionImplementation_t>() {
    return kImplementations;
}
template <>
std::span<char const* const> names_of<Rewrite_t>() {
    return kRewrites;
}
template <>
std::span<char const* const> names_of<RewritePolicy_t>() {
    return kRewritePolicies;
}
template <>
std::span<char const* const> names_of<ShapePolicy_t>() {
    return kShapePolicies;
}
template <>
std::span<char const* const> names_of<TensorReordering_t>() {
    return kReorderings;
}
template <>
std::span<char const* const> names_of<BehaviorNote_t>() {
    return kBehaviorNotes;
}
template <>
std::span<char const* const> names_of<NumericalNote_t>() {
    return kNumericalNotes;
}
template <>
std::span<char const* const> names_of<ReductionMode_t>() {
    return kReductionModes;
}
template <>
std::span<char const* const> names_of<RngDistribution_t>() {
    return kDistributions;
}
template <>
std::span<char const* const> names_of<ReshapeMode_t>() {
    return kReshapeModes;
}
template <>
std::span<char const* const> names_of<PointwiseMode_t>() {
    return kPointwiseModes;
}
template <>
std::span<char const* const> names_of<KnobType_t>() {
    return kKnobs;
}

}  // namespace cudnn_frontend::core

namespace cudnn_frontend::detail {

char const* enum_text(error_code_t value) { return core::name_of(value); }
char const* enum_text(DataType_t value) { return core::name_of(value); }
char const* enum_text(HeurMode_t value) { return core::name_of(value); }
char const* enum_text(BuildPlanPolicy_t value) { return core::name_of(value); }
char const* enum_text(DiagonalAlignment_t value) { return core::name_of(value); }
char const* enum_text(AttentionImplementation_t value) { return core::name_of(value); }
char const* enum_text(TensorReordering_t value) { return core::name_of(value); }
char const* enum_text(BehaviorNote_t value) { return core::name_of(value); }
char const* enum_text(NumericalNote_t value) { return core::name_of(value); }
char const* enum_text(ReductionMode_t value) { return core::name_of(value); }
char const* enum_text(RngDistribution_t value) { return core::name_of(value); }
char const* enum_text(ReshapeMode_t value) { return core::name_of(value); }
char const* enum_text(PointwiseMode_t value) { return core::name_of(value); }
char const* enum_text(KnobType_t value) { return core::name_of(value); }
std::ostream& print(std::ostream& stream, char const* text) { return stream << text; }

}  // namespace cudnn_frontend::detail
