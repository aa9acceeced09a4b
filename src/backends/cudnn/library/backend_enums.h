// Conversion of this library's enumerations to those of cuDNN's backend API, and back; and the few enumerators that are
// newer than the oldest headers this library builds with.
#pragma once

#include <cudnn_frontend/types.h>

#include <cudnn.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cudnn_frontend::cudnn {

// Empty if the backend API has no such value.
std::optional<cudnnDataType_t> to_backend(DataType_t type);
std::optional<cudnnPointwiseMode_t> to_backend(PointwiseMode_t mode);
std::optional<cudnnReduceTensorOp_t> to_backend(ReductionMode_t mode);
std::optional<cudnnBackendHeurMode_t> to_backend(HeurMode_t mode);
std::optional<cudnnBackendKnobType_t> to_backend(KnobType_t knob);
std::optional<cudnnBackendBehaviorNote_t> to_backend(BehaviorNote_t note);
std::optional<cudnnBackendNumericalNote_t> to_backend(NumericalNote_t note);

// NOT_SET for values without a name in this library.
KnobType_t from_backend(cudnnBackendKnobType_t knob);
BehaviorNote_t from_backend(cudnnBackendBehaviorNote_t note);
NumericalNote_t from_backend(cudnnBackendNumericalNote_t note);

inline constexpr auto kReductionIsDeterministic = static_cast<cudnnBackendAttributeName_t>(1602);     // 9.11
inline constexpr auto kTensorRaggedOffsetMultiplier = static_cast<cudnnBackendAttributeName_t>(914);  // 9.24
inline constexpr auto kSdpaForwardOperation = static_cast<cudnnBackendDescriptorType_t>(41);          // 9.13
// CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC; the other operands follow it.
enum class SdpaForwardAttribute : int {
    Q = 2800,
    K,
    V,
    O,
    Stats,
    Scale,
    BlockMask,
    PageTableK,
    PageTableV,
    SeqLenQ,
    SeqLenKv,
    UnfuseFma = 2819,  // 9.22
    CuSeqLenQ,         // 9.24
    CuSeqLenKv
};

// Operations that move elements, from 9.22 on.
enum class ReshapeMode : int { ViewOnly, Logical };
inline constexpr auto kReshapeModeType = static_cast<cudnnBackendAttributeType_t>(31);
inline constexpr auto kReshapeMode = static_cast<cudnnBackendAttributeName_t>(2202);
inline constexpr auto kTransposeOperation = static_cast<cudnnBackendDescriptorType_t>(46);
inline constexpr auto kTransposeX = static_cast<cudnnBackendAttributeName_t>(3200);
inline constexpr auto kTransposeY = static_cast<cudnnBackendAttributeName_t>(3201);
inline constexpr auto kTransposePermutation = static_cast<cudnnBackendAttributeName_t>(3202);
inline constexpr auto kSliceOperation = static_cast<cudnnBackendDescriptorType_t>(47);
inline constexpr auto kSliceX = static_cast<cudnnBackendAttributeName_t>(3300);
inline constexpr auto kSliceY = static_cast<cudnnBackendAttributeName_t>(3301);
inline constexpr auto kSliceStart = static_cast<cudnnBackendAttributeName_t>(3302);
inline constexpr auto kSliceLimit = static_cast<cudnnBackendAttributeName_t>(3303);
inline constexpr auto kSliceSteps = static_cast<cudnnBackendAttributeName_t>(3304);

// Names for messages; a number if there is none.
std::string attribute_name(cudnnBackendAttributeName_t attribute);

}  // namespace cudnn_frontend::cudnn
