// What attention costs on a GPU: a few measured figures for each model, devices/rates.
#pragma once

#include <optional>
#include <string_view>

namespace cudnn_frontend::cudnn {

// Times in microseconds. A tile has 128 queries and 128 keys, and takes tile + width * the mean of Q's and V's head
// dims.
struct Rates {
    double start = 0.0;      // of a kernel
    double bandwidth = 0.0;  // bytes a microsecond
    double forward_tile = 0.0, forward_width = 0.0;
    double backward_tile = 0.0, backward_width = 0.0;
    double decode_heads = 0.0;  // query heads of one head of keys that decode serves by reading the keys once
    // Of the library's own kernels, whose tiles have 64 tokens on either side.
    double neighborhood_forward_tile = 0.0, neighborhood_forward_width = 0.0;
    double neighborhood_backward_tile = 0.0, neighborhood_backward_width = 0.0;
};

// Of the GPU that cuDNN calls so; nothing where it was not measured.
std::optional<Rates> rates_of(std::string_view device_name);

// The text of a file; nothing if a figure is missing or is no number above 0.
std::optional<Rates> parse_rates(std::string_view text);

}  // namespace cudnn_frontend::cudnn
