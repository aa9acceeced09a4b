// The real cuDNN's answer to a graph for a device that is not there, without the table of quirks.
#pragma once

#include "cudnn/library/device.h"
#include "cudnn/quirks/support.h"

#include <string>
#include <string_view>

namespace sdpa_test {

struct OfflineQuestion {
    cudnn_frontend::nodes::ValidatedGraph const& graph;
    cudnn_frontend::quirks::QuirkSettings settings;
    bool builds_plan;                       // the question is more than which engines are named
    std::string_view omitted_rewrite = {};  // cudnn.w01: its pass is left out
};

// The reason why there is no engine for it or, where plans are to be built, none that compiles, is measured and stored;
// empty where there is one.
std::string refusal_of(cudnn_frontend::cudnn::Api const& api, OfflineQuestion const& question,
                       cudnn_frontend::cudnn::Device const& device);

}  // namespace sdpa_test
