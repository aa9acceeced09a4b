#include "core/pointwise.h"

#include <algorithm>
#include <iterator>

namespace cudnn_frontend::core {

using enum PointwiseMode_t;

constexpr PointwiseMode_t kBinaryModes[] = {ADD,         SUB,        MUL,          DIV,        MOD,
                                            POW,         MAX,        MIN,          ADD_SQUARE, CMP_EQ,
                                            CMP_NEQ,     CMP_GT,     CMP_GE,       CMP_LT,     CMP_LE,
                                            LOGICAL_AND, LOGICAL_OR, RELU_BWD,     TANH_BWD,   SIGMOID_BWD,
                                            ELU_BWD,     GELU_BWD,   SOFTPLUS_BWD, SWISH_BWD,  GELU_APPROX_TANH_BWD};

std::size_t operand_count(PointwiseMode_t mode) {
    if (mode == BINARY_SELECT) return 3;
    return std::find(std::begin(kBinaryModes), std::end(kBinaryModes), mode) != std::end(kBinaryModes) ? 2 : 1;
}

bool is_comparison(PointwiseMode_t mode) {
    return mode == CMP_EQ || mode == CMP_NEQ || mode == CMP_GT || mode == CMP_GE || mode == CMP_LT || mode == CMP_LE;
}

bool is_logical(PointwiseMode_t mode) { return mode == LOGICAL_AND || mode == LOGICAL_OR || mode == LOGICAL_NOT; }

}  // namespace cudnn_frontend::core
