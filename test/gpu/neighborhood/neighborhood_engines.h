// The library's own engines of neighborhood attention, by name, as programs choose them.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace sdpa_test {

// The first one that computes a graph is used; the last one computes all.
inline constexpr std::array kNeighborhoodEngines = {"neighborhood_warpgroups", "neighborhood_tiles",
                                                    "neighborhood_tokens"};

inline constexpr char const* kOfHopper = kNeighborhoodEngines.front();  // for compute capability 9.0 alone

inline bool is_neighborhood_engine(std::string const& name) {
    return std::ranges::find(kNeighborhoodEngines, name) != kNeighborhoodEngines.end();
}

// The engines that a graph deselects so that this one runs.
inline std::vector<std::string> neighborhood_engines_but(std::string const& name) {
    std::vector<std::string> others;
    for (std::string const engine : kNeighborhoodEngines) {
        if (engine != name) others.push_back(engine);
    }
    return others;
}

}  // namespace sdpa_test
