// How long the kernels are expected to take, from their times on a GPU: the figures in devices/rates.
#pragma once

#include "kernels/attention/attention_costs.h"
#include "kernels/launch/kernel.h"
#include "kernels/neighborhood/neighborhood_graph.h"
#include "rewrite/costs.h"

#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// Neighborhood attention in blocks for tiles of tokens. A stage has 64 rows that may be visible to the tokens, and
// takes stage + width * columns microseconds of a multiprocessor.
struct PassRates {
    double stage = 0.0, width = 0.0;
    double extra = 0.0;  // the time of a block before and after its stages, as a number of stages
};
struct NeighborhoodRates {
    PassRates forward, backward;
};

struct KernelRates {
    double start = 0.0;                                  // of a kernel, in microseconds
    double bandwidth = 0.0;                              // bytes a microsecond
    std::optional<NeighborhoodRates> tiles, warpgroups;  // by form; not every GPU has both
    AttentionRates attention;
};

// Reads the text of a file; nothing where it lacks a figure that all kernels need.
std::optional<KernelRates> read_rates(std::string_view text);

class KernelCosts final : public rewrite::Costs {
   public:
    KernelCosts(KernelRates const& rates, DeviceFacts const& device, int multiprocessors)
        : rates_(rates), device_(device), multiprocessors_(multiprocessors) {}

    // The cost of one fused neighborhood attention of 16 bits, by the kernels that are best for it; or that of one
    // attention which is_fast_and_plain().
    std::optional<double> of(nodes::ValidatedGraph const& graph) const override;
    std::optional<double> of(rewrite::Joint const& joint) const override;

   private:
    std::optional<double> of_attention(nodes::ValidatedGraph const& graph) const;
    std::optional<double> of_neighborhood(nodes::ValidatedGraph const& graph) const;

    KernelRates rates_;
    DeviceFacts device_;
    int multiprocessors_;  // plans are made for this many
};

// The time of neighborhood attention, with which programs of other engines compete: in microseconds, for fused
// attention in 16 bits where the form was measured.
std::optional<double> neighborhood_cost(NeighborhoodSteps const& steps, KernelRates const& rates, int multiprocessors);

}  // namespace cudnn_frontend::kernels
