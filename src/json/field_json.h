// One field's value <-> JSON, by the field's type.
#pragma once

#include "json/document.h"
#include "json/problems.h"

#include <optional>

namespace cudnn_frontend::json {

Json to_json(nodes::Field const& field, nodes::FieldValue const& value);

// Empty if the JSON does not fit the field, which is added to the problems.
std::optional<nodes::FieldValue> from_json(nodes::Field const& field, Json const& value, Place const& place,
                                           Problems& problems);

// Compares bits: 0.0 and -0.0 differ, and a NaN equals itself.
bool same(nodes::FieldValue const& a, nodes::FieldValue const& b);

}  // namespace cudnn_frontend::json
