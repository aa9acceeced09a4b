// How long a graph is expected to take on the GPUs that the library describes.
#pragma once

#include "input.h"

#include <cudnn_frontend/explanation.h>

#include <string>
#include <vector>

namespace sdpa {

struct Expected_time {
    std::string device, plan;
    std::string refusal;       // empty if there is a plan
    double expected_us = 0.0;  // of the plan; 0 where the rates of the device are not known
    // The least time by the device's rates of products and memory; 0 where they are not known, or where the lengths of
    // sequences depend on data.
    double least_us = 0.0;
};

// The expected time of the plan that runs; 0 where no figures are known.
double expected_us_of(fe::Explanation const& explanation);
// "-" where it is not known.
std::string us_text(double us);

// Plans the graph for each of the GPUs, with cuDNN.
std::vector<Expected_time> expected_times(Graph_file const& file);

std::string to_text(std::vector<Expected_time> const& times);
Json to_json(std::vector<Expected_time> const& times);

}  // namespace sdpa
