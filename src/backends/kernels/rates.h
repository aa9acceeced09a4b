// What the kernels take on a GPU: their figures in devices/rates.
#pragma once

#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// Of neighborhood attention in blocks for tiles of tokens. A stage is of 64 rows that the tokens may see, and takes
// stage + width * columns microseconds of a multiprocessor.
struct PassRates {
    double stage = 0.0, width = 0.0;
    double extra = 0.0;  // stages that would take as long as what a block does before and after its own
};
struct NeighborhoodRates {
    PassRates forward, backward;
};

struct Rates {
    double start = 0.0;                                  // of a kernel, in microseconds
    double bandwidth = 0.0;                              // bytes a microsecond
    std::optional<NeighborhoodRates> tiles, warpgroups;  // by form; not every GPU has both
};

// From the text of a file; nothing where it lacks a figure that all kernels need.
std::optional<Rates> read_rates(std::string_view text);

}  // namespace cudnn_frontend::kernels
