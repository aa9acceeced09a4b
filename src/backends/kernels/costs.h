// How long the kernels are expected to take, from a GPU's rates.
#pragma once

#include "kernels/kernel.h"
#include "kernels/rates.h"
#include "rewrite/costs.h"

namespace cudnn_frontend::kernels {

class Costs final : public rewrite::Costs {
   public:
    Costs(Rates const& rates, DeviceFacts const& device, int multiprocessors)
        : rates_(rates), device_(device), multiprocessors_(multiprocessors) {}

    // The cost of one fused neighborhood attention of 16 bits, by the kernels that are best for it.
    std::optional<double> of(nodes::ValidatedGraph const& graph) const override;
    std::optional<double> of(rewrite::Joint const& joint) const override;

   private:
    Rates rates_;
    DeviceFacts device_;
    int multiprocessors_;  // plans are made for this many
};

}  // namespace cudnn_frontend::kernels
