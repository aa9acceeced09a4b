// The value of a field, as text for people.
#pragma once

#include "nodes/schema/field.h"

#include <string>

namespace cudnn_frontend::nodes {

std::string value_text(Field const& field, FieldValue const& value);

}  // namespace cudnn_frontend::nodes
