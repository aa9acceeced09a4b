// How long cuDNN's engines are expected to take, from their times on a GPU: the figures in devices/rates.
#pragma once

#include "rewrite/costs.h"

#include <optional>
#include <string_view>

namespace cudnn_frontend::cudnn {

// Times in microseconds. A tile has 128 queries and 128 keys, and takes tile + width * the mean of Q's and V's head
// dims.
struct CudnnRates {
    double start = 0.0;      // for a kernel
    double bandwidth = 0.0;  // bytes a microsecond
    double forward_tile = 0.0, forward_width = 0.0;
    double backward_tile = 0.0, backward_width = 0.0;
    double decode_heads = 0.0;  // query heads of one head of keys that decode serves by reading the keys once
    // Backward with head dims of 192 and 128 has engines of its own: the default one, and the deterministic algorithm.
    // Empty if that was not measured.
    std::optional<double> backward_192_128_tile = {}, backward_192_128_deterministic_tile = {};
};

// Reads the text of a file; empty if it lacks a figure that every GPU has.
std::optional<CudnnRates> read_rates(std::string_view text);

class CudnnCosts final : public rewrite::Costs {
   public:
    CudnnCosts(CudnnRates const& rates, int multiprocessors) : rates_(rates), multiprocessors_(multiprocessors) {}

    // The cost of one attention of 16 bits, without options that add to the work of a tile.
    std::optional<double> of(nodes::ValidatedGraph const& validated) const override;
    std::optional<double> of(rewrite::Joint const&) const override { return {}; }

   private:
    CudnnRates rates_;
    int multiprocessors_;
};

}  // namespace cudnn_frontend::cudnn
