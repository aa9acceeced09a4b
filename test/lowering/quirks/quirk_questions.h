// Graphs that run into one quirk and no other limit: a cuDNN library is asked about them to find out whether the quirk
// still holds.
#pragma once

#include "cudnn/offline/devices.h"
#include "lowering/offline_answer.h"
#include "lowering/option_rows.h"

#include <memory>

namespace sdpa_test {

struct QuirkQuestion {
    cudnn_frontend::quirks::Quirk const* quirk;
    std::string name;  // "causal, backward, for h200"
    std::shared_ptr<cudnn_frontend::nodes::ValidatedGraph const> graph;
    cudnn_frontend::quirks::QuirkSettings settings;
    cudnn_frontend::offline::DeviceDescription const* device;

    // The graph past the quirk: past a limit as it is, without the pass that answers the quirk otherwise.
    OfflineQuestion past_quirk() const;
};

// Some graphs for each quirk, on each device that comes with the library.
std::vector<QuirkQuestion> quirk_questions(std::size_t cudnn_version);

}  // namespace sdpa_test
