// Numbers and typed scalars <-> JSON, bit for bit.
#pragma once

#include "json/document.h"

#include <cudnn_frontend/scalar.h>

#include <optional>

namespace cudnn_frontend::json {

// What JSON has no number for becomes "nan", "inf" or "-inf". A single-precision value takes the fewest digits that
// read back as it.
Json number_to_json(double value, bool is_single);

// Nothing where the value is no number, or is finite and too large for the precision.
std::optional<double> number_from_json(Json const& value, bool is_single);

// Nothing where the value is no integer or passes int64.
std::optional<std::int64_t> integer_from_json(Json const& value);

// With "value" where a number names the scalar exactly, else with its "bits".
Json scalar_to_json(detail::Scalar const& scalar);

// The scalar of the type that is nearest to the value; nothing where the type has no such value.
std::optional<detail::Scalar> scalar_of_value(DataType_t type, Json const& value);

}  // namespace cudnn_frontend::json
