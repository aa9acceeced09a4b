// The graphs of the models' attention, as JSON.
#pragma once

#include "model.h"

#include <string>

namespace corpus {

std::string json_of(Model const& model);
std::string json_of(Window_model const& model);

}  // namespace corpus
