// Whole graphs planned for an H200 by a backend that records, in place of cuDNN.
#pragma once

#include "support/small_graph.h"
#include "unit/cudnn/fakes/fake_cudnn.h"

namespace sdpa_test {

class RecordedPlanning {
   public:
    // Ends the program where the loaded library is not the one that replaces cuDNN.
    RecordedPlanning();
    ~RecordedPlanning();
    RecordedPlanning(RecordedPlanning const&) = delete;
    RecordedPlanning& operator=(RecordedPlanning const&) = delete;

    FakeCudnn fake;
};

// The target that graphs are built for, and loaded for, which needs the device stated.
inline cudnn_frontend::Target h200() { return cudnn_frontend::Target::offline("h200"); }
cudnn_frontend::error_object load_for_h200(test::Graph& graph, std::vector<std::uint8_t> const& bytes);

}  // namespace sdpa_test
