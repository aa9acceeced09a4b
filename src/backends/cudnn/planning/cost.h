// How long cuDNN's engines are expected to take, from a GPU's rates.
#pragma once

#include "cudnn/planning/rates.h"
#include "rewrite/costs.h"

namespace cudnn_frontend::cudnn {

class Costs final : public rewrite::Costs {
   public:
    Costs(Rates const& rates, int multiprocessors) : rates_(rates), multiprocessors_(multiprocessors) {}

    // The cost of one attention of 16 bits, without options that add to the work of a tile.
    std::optional<double> of(nodes::ValidatedGraph const& graph) const override;
    std::optional<double> of(rewrite::Joint const&) const override { return {}; }

   private:
    Rates rates_;
    int multiprocessors_;
};

}  // namespace cudnn_frontend::cudnn
