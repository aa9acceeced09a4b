// The settings of an object that a schema's table describes, as text for people.
#pragma once

#include "nodes/schema/field.h"

#include <span>
#include <string>

namespace cudnn_frontend::nodes {

// " name=value" for each field that differs from a default object's.
std::string settings_text(std::span<Field const> fields, void const* object, void const* defaults);

}  // namespace cudnn_frontend::nodes
