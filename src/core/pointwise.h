// The operands of the pointwise modes, and the modes that give or read true and false.
#pragma once

#include <cudnn_frontend/types.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace cudnn_frontend::core {

// 1 for unknown modes.
constexpr std::size_t operand_count(PointwiseMode_t mode) {
    using enum PointwiseMode_t;
    constexpr PointwiseMode_t kBinary[] = {ADD,         SUB,        MUL,          DIV,        MOD,
                                           POW,         MAX,        MIN,          ADD_SQUARE, CMP_EQ,
                                           CMP_NEQ,     CMP_GT,     CMP_GE,       CMP_LT,     CMP_LE,
                                           LOGICAL_AND, LOGICAL_OR, RELU_BWD,     TANH_BWD,   SIGMOID_BWD,
                                           ELU_BWD,     GELU_BWD,   SOFTPLUS_BWD, SWISH_BWD,  GELU_APPROX_TANH_BWD};
    if (mode == BINARY_SELECT) return 3;
    return std::find(std::begin(kBinary), std::end(kBinary), mode) != std::end(kBinary) ? 2 : 1;
}

constexpr bool is_comparison(PointwiseMode_t mode) {
    using enum PointwiseMode_t;
    return mode == CMP_EQ || mode == CMP_NEQ || mode == CMP_GT || mode == CMP_GE || mode == CMP_LT || mode == CMP_LE;
}

// Whether all operands are read as true or false.
constexpr bool is_logical(PointwiseMode_t mode) {
    using enum PointwiseMode_t;
    return mode == LOGICAL_AND || mode == LOGICAL_OR || mode == LOGICAL_NOT;
}

}  // namespace cudnn_frontend::core
