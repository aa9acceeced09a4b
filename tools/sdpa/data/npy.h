// Arrays of NumPy as files, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
#pragma once

#include "data/memory.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpa {

struct Array {
    std::string name;  // of the file, for messages
    std::string type;  // such as <f4
    Sizes shape;
    std::string bytes;  // in C order
};

// Throws Failure, as all functions here do, which says what is wrong with the file. Far larger files than the tensor's
// are not read.
Array read_npy(std::string const& path, Memory const& memory);

// The array's numbers, in the order of the tensor's indices: the shape is that of the tensor, of which dims of size 1
// may be missing. Types that NumPy lacks are read from their bits (V2 for BFLOAT16, u1 for 8-bit numbers) or from
// floating-point numbers, which are rounded.
std::vector<double> numbers_of(Array const& array, Memory const& memory);

// Writes the tensor; types that NumPy lacks as float32, rows that do not exist as zeros.
void write_npy(std::string const& path, Memory const& memory);

}  // namespace sdpa
