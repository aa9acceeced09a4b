// A backend with nothing but the three interfaces of plan/seam/backend.h, of every target: forward attention without
// options, row by row. docs/walks/add-a-backend.patch adds one like it to the library.
#pragma once

#include "plan/seam/backend.h"

namespace sdpa_test {

class ToyBackend final : public cudnn_frontend::plan::Backend {
   public:
    char const* name() const override { return "toy"; }
    bool serves(cudnn_frontend::Target const&) const override { return true; }
    cudnn_frontend::Result<std::shared_ptr<cudnn_frontend::plan::Proposal const>> propose(
        cudnn_frontend::plan::PlanningInput const& input) const override;
};

}  // namespace sdpa_test
