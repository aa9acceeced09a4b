// The operands of a problem, with what kernels and errors need to know of each.
#pragma once

#include "kernels/kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::kernels {

struct NamedOperand {
    char const* name;
    Operand const* operand;
    bool has_parts = false;  // its first dim counts parts
    bool is_output = false;
    bool is_statistic = false;  // FLOAT, with one column where the others have all

    std::int64_t parts() const { return has_parts ? operand->dims[0] : 1; }
    std::int64_t part_stride() const { return has_parts ? operand->strides[0] : 0; }
    // Of a dim after the parts.
    std::int64_t stride(std::size_t dim) const { return operand->strides[dim + has_parts]; }
    std::int64_t element_bytes() const;
};

struct Problem {
    char const* kernel;  // as its source file is called
    std::vector<NamedOperand> operands;
    std::size_t result;          // the output whose dims the others follow, by its place in the list
    bool has_columns;            // statistics tell the last dim from the others
    bool allows_counts = false;  // INT32 too, up to 2^24

    core::Dims const& dims() const { return operands[result].operand->dims; }
};

// Of a problem that passes, strides reach no element index above 2^63, and outputs have each element once.
error_t check(Problem const& problem);

}  // namespace cudnn_frontend::kernels
