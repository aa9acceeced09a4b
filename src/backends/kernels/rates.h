// The times of the kernels on a GPU: their figures in devices/rates.
#pragma once

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

struct Rates {
    double start = 0.0;                                  // of a kernel, in microseconds
    double bandwidth = 0.0;                              // bytes a microsecond
    std::optional<NeighborhoodRates> tiles, warpgroups;  // by form; not every GPU has both
};

// Reads the text of a file; nothing where it lacks a figure that all kernels need.
std::optional<Rates> read_rates(std::string_view text);

}  // namespace cudnn_frontend::kernels
