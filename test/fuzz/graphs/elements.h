// Elements of tensors as double, whatever their type.
#pragma once

#include <cudnn_frontend/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fuzz {

using cudnn_frontend::DataType_t;

// The type by its name in JSON; NOT_SET for unknown names.
DataType_t type_named(std::string const& name);
// 0 for types without storable elements.
std::size_t bytes_of(DataType_t type);
bool is_floating(DataType_t type);
double largest_of(DataType_t type);  // finite number of a floating point type
double load(DataType_t type, std::byte const* from);
void store(DataType_t type, std::byte* to, double value);
// The value after storing it as the type.
double rounded(DataType_t type, double value);

}  // namespace fuzz
