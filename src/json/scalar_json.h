// Numbers and typed scalars <-> JSON, bit for bit.
#pragma once

#include "json/document.h"

#include <cudnn_frontend/scalar.h>

#include <optional>

namespace cudnn_frontend::json {

// Numbers that JSON lacks become "nan", "inf" or "-inf". A single-precision value gets the fewest digits that read back
// as the same value.
Json number_to_json(double value, bool is_single);

// Empty if the value is not a number, or is finite and too large for the precision.
std::optional<double> number_from_json(Json const& value, bool is_single);

// Empty if the value is not an integer or exceeds int64.
std::optional<std::int64_t> integer_from_json(Json const& value);

// With "value" if a number represents the scalar exactly, else with its "bits".
Json scalar_to_json(detail::Scalar const& scalar);

// The nearest scalar of the type; empty if the type cannot represent the value.
std::optional<detail::Scalar> scalar_of_value(DataType_t type, Json const& value);

}  // namespace cudnn_frontend::json
