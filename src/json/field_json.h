// Numbers, typed scalars and fields <-> JSON, bit for bit.
#pragma once

#include "json/document.h"
#include "json/problems.h"

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

// A scalar with "value" if a number represents it exactly, else with its "bits".
Json scalar_to_json(detail::Scalar const& scalar);

// The nearest scalar of the type; empty if the type cannot represent the value.
std::optional<detail::Scalar> scalar_of_value(DataType_t type, Json const& value);

// One field's value <-> JSON, by the field's type.
Json to_json(nodes::Field const& field, nodes::FieldValue const& value);

// Empty if the JSON does not fit the field, which is added to the problems.
std::optional<nodes::FieldValue> from_json(nodes::Field const& field, Json const& value, Place const& place,
                                           Problems& problems);

// Compares bits: 0.0 and -0.0 differ, and a NaN equals itself.
bool same(nodes::FieldValue const& a, nodes::FieldValue const& b);

}  // namespace cudnn_frontend::json
