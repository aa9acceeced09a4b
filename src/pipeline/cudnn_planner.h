// Plans of cuDNN, for a device that is there or for the description of one. Where the library was built without cuDNN's
// headers, all of it is an error that says so.
#pragma once

#include "pipeline/planner.h"

namespace cudnn_frontend::pipeline {

Result<std::shared_ptr<Planner>> make_cudnn_planner(PlanningInput const& input);

// From Plan::serialize(), for the graph that it was made for: a planner with one candidate, built. A handle is needed
// to run it; without one it is for the device of the settings.
Result<std::shared_ptr<Planner>> load_cudnn_plan(PlanningInput const& input, std::string const& plan);

// The JSON of a device as cuDNN words it: the handle's or the one of the ordinal; of a name; of a text that holds it.
Result<std::string> record_device(cudnnHandle_t handle, std::int32_t ordinal);
Result<std::string> find_device(std::string const& name);
Result<std::string> parse_device(std::string const& json);
std::vector<std::string> device_names();

}  // namespace cudnn_frontend::pipeline
