// The costs of attention by cuDNN's engines on a GPU: its figures in devices/rates.
#pragma once

#include <optional>
#include <string_view>

namespace cudnn_frontend::cudnn {

// Times in microseconds. A tile has 128 queries and 128 keys, and takes tile + width * the mean of Q's and V's head
// dims.
struct Rates {
    double start = 0.0;      // for a kernel
    double bandwidth = 0.0;  // bytes a microsecond
    double forward_tile = 0.0, forward_width = 0.0;
    double backward_tile = 0.0, backward_width = 0.0;
    double decode_heads = 0.0;  // query heads of one head of keys that decode serves by reading the keys once
    // For backward with head dims of 192 and 128, which has engines of its own: the default one, and the deterministic
    // algorithm; empty if that was not measured.
    std::optional<double> backward_192_128_tile = {}, backward_192_128_deterministic_tile = {};
};

// Reads the text of a file; empty if it lacks a figure that every GPU has.
std::optional<Rates> read_rates(std::string_view text);

}  // namespace cudnn_frontend::cudnn
