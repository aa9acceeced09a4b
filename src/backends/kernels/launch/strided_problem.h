// The operands of a problem, with the facts about each that kernels and errors need.
#pragma once

#include "kernels/launch/kernel.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::kernels {

// The content of an operand: elements of 16 or 32 bits, FLOAT for each row, or INT32 for each row or, where a problem
// has nothing else, for each element.
enum class Holds { Elements, Statistics, Lengths };

struct NamedOperand {
    char const* name;
    int slot;  // where the kernel has it
    Operand const* operand;
    bool has_parts = false;  // its first dim counts parts
    bool is_output = false;
    Holds holds = Holds::Elements;

    std::int64_t parts() const { return has_parts ? operand->dims[0] : 1; }
    std::int64_t part_stride() const { return has_parts ? operand->strides[0] : 0; }
    // The stride of a dim after the parts.
    std::int64_t stride(std::size_t dim) const { return operand->strides[dim + has_parts]; }
    std::int64_t element_bytes() const;
};

struct Problem {
    char const* kernel;  // as its source file is called
    std::vector<NamedOperand> operands;
    std::size_t result;                     // the output whose dims the others follow, by its place in the list
    bool has_columns;                       // rows distinguish the last dim from the others
    bool has_vectors = true;                // the kernel has forms for vectors
    std::array<std::int64_t, 5> numbers{};  // of the kernel's own

    core::Dims const& dims() const { return operands[result].operand->dims; }
    // Whether the operand has one column where the result has all.
    bool has_rows(NamedOperand const& named) const {
        return named.holds != Holds::Elements && named.holds != operands[result].holds;
    }
};

// For a problem that passes, strides reach no element index above 2^63, and outputs have each element once.
error_t check(Problem const& problem);

}  // namespace cudnn_frontend::kernels
